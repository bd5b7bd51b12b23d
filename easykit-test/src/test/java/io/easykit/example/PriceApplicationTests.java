package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.cache.test.autoconfigure.AutoConfigureTestEasyCache;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

@TestPropertySource(properties = "delay-queue.enabled=false")
@SpringBootTest
@AutoConfigureTestEasyCache
class PriceApplicationTests {

    @Autowired
    EasyCacheTester cache;

    @Autowired
    Prices prices;

    @Test
    void queriesThePriceOnce() {
        prices.change("lamp", "19.90");

        prices.of("lamp");
        prices.of("lamp");
        assertThat(cache).hasLoads("price", 1).hasHits("price", 1);
        assertThat(cache).hasEntry("price", "lamp").withValue("19.90").expiresIn(Duration.ofMinutes(10));
    }

    @Test
    void followsAnotherNode() {
        CacheSpec<String> entries = CacheSpec.of("price", String.class);
        prices.change("lamp", "19.90");
        prices.of("lamp");

        cache.otherNode().invalidate(entries.key("lamp"));
        assertThat(cache).hasEntry("price", "lamp").isStale();

        cache.advance(Duration.ofMillis(1500));
        assertThat(cache).hasNoEntry("price", "lamp");
    }

    @Test
    void goesOnWithoutRedis() {
        prices.change("lamp", "19.90");
        cache.faults().storeAway();

        assertThat(prices.of("lamp")).isEqualTo("19.90");
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @Import(Prices.class)
    static class Application {}

    static class Prices {

        private final Map<String, String> table = new ConcurrentHashMap<>();

        @Cacheable(prefix = "price", keys = "#article")
        public String of(String article) {
            return table.get(article);
        }

        @UpdateCache(prefix = "price", keys = "#article")
        public void change(String article, String price) {
            table.put(article, price);
        }
    }
}
