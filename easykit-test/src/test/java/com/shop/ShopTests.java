package com.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.math.BigDecimal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(
        properties = {
            "easy-cache.key-prefix=test:ec:",
            "easy-cache.require-redis-at-start=true",
            "delay-queue.key-prefix=test:dq:"
        })
class ShopTests {

    @Autowired
    Prices prices;

    @Autowired
    Reminders reminders;

    @Test
    void queriesThePriceOnce() {
        prices.change("lamp", new BigDecimal("19.90"));
        int before = prices.queries();

        assertThat(prices.of("lamp")).isEqualTo("19.90");
        assertThat(prices.of("lamp")).isEqualTo("19.90");

        assertThat(prices.queries()).isEqualTo(before + 1);
    }

    @Test
    void remindsInTime() {
        reminders.remind("Ann", "Your lamp has arrived", Duration.ofMillis(500));

        Reminder expected = new Reminder("Ann", "Your lamp has arrived");
        await().untilAsserted(() -> assertThat(reminders.sent()).contains(expected));
    }
}
