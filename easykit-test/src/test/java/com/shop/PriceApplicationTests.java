package com.shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.cache.test.autoconfigure.AutoConfigureTestEasyCache;
import java.math.BigDecimal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(properties = "delay-queue.enabled=false")
@AutoConfigureTestEasyCache
class PriceApplicationTests {

    @Autowired
    EasyCacheTester cache;

    @Autowired
    Prices prices;

    @Test
    void followsAnotherNode() {
        CacheSpec<BigDecimal> entries = CacheSpec.of("price", BigDecimal.class);
        prices.change("lamp", new BigDecimal("19.90"));
        prices.of("lamp");

        cache.otherNode().invalidate(entries.key("lamp"));
        assertThat(cache).hasEntry("price", "lamp").isStale();

        cache.advance(Duration.ofMillis(1500));
        assertThat(cache).hasNoEntry("price", "lamp");
    }

    @Test
    void goesOnWithoutRedis() {
        prices.change("lamp", new BigDecimal("19.90"));
        cache.faults().storeAway();

        assertThat(prices.of("lamp")).isEqualTo("19.90");
    }

    @Test
    void queriesThePriceOnce() {
        BigDecimal price = new BigDecimal("19.90");
        prices.change("lamp", price);

        prices.of("lamp");
        prices.of("lamp");
        assertThat(cache).hasLoads("price", 1).hasHits("price", 1);
        assertThat(cache).hasEntry("price", "lamp").withValue(price).expiresIn(Duration.ofMinutes(10));
    }
}
