package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;

/** The example of the documentation, on two nodes with one Redis. */
class ClearingIntegrationTests {

    private static final AtomicInteger FACTOR = new AtomicInteger();

    static class Prices {

        @Cacheable(prefix = "price", keys = "#product")
        public int find(int product) {
            return product * FACTOR.get();
        }

        @Cacheable(prefix = "total", keys = "#order")
        public int total(int order) {
            return order * 100 * FACTOR.get();
        }

        @UpdateCache(prefix = "price", all = true)
        @Transactional
        public void importPrices(int factor) {
            FACTOR.set(factor);
        }

        @UpdateCache(prefix = "price", all = true)
        @Transactional
        public void failToImport() {
            throw new IllegalStateException("no such file");
        }

        @Cacheable(prefix = "rate", keys = "#product")
        public int rate(int product) {
            return product * FACTOR.get();
        }

        @UpdateCache(prefix = "rate", all = true)
        @UpdateCache(prefix = "total", keys = "#order")
        @Transactional
        public void importRatesFor(int factor, int order) {
            FACTOR.set(factor);
        }

        @Cacheable(prefix = "strong", keys = "#product", consistency = Consistency.CP)
        public int findStrong(int product) {
            return product * FACTOR.get();
        }

        @UpdateCache(prefix = "strong", all = true, condition = "#factor > 0")
        @Transactional
        public void importStrong(int factor) {
            FACTOR.set(factor);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    static class Shop {

        @Bean
        Prices prices() {
            return new Prices();
        }
    }

    private static final AtomicInteger BASES = new AtomicInteger();
    private static ConfigurableApplicationContext first;
    private static ConfigurableApplicationContext second;

    /** Redis keeps its data between the tests: lost epochs would be raised again. */
    private final int base = BASES.addAndGet(1000);

    private final Prices here = first.getBean(Prices.class);
    private final Prices there = second.getBean(Prices.class);

    @BeforeAll
    static void start() {
        RedisServer.shared().flush();
        first = context("a");
        second = context("b");
    }

    private static ConfigurableApplicationContext context(String name) {
        RedisServer redis = RedisServer.shared();
        return new SpringApplicationBuilder(Shop.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "spring.datasource.url=jdbc:h2:mem:clearing-" + name,
                        "easy-cache.command-timeout=10s",
                        "spring.main.web-application-type=none")
                .run();
    }

    @AfterAll
    static void stop() {
        first.close();
        second.close();
    }

    @BeforeEach
    void fill() {
        FACTOR.set(1);
        for (int product = base; product < base + 100; product++) {
            assertThat(here.find(product)).isEqualTo(product);
            assertThat(here.findStrong(product)).isEqualTo(product);
            assertThat(there.find(product)).isEqualTo(product);
            assertThat(there.findStrong(product)).isEqualTo(product);
        }
    }

    @Test
    void clearsOnThisNodeAtOnceAndOnOthersWithinAProbeInterval() {
        here.importPrices(2);

        for (int product = base; product < base + 50; product++) {
            assertThat(here.find(product)).isEqualTo(2 * product);
        }
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> there.find(base + 99) == 2 * (base + 99));
        for (int product = base; product < base + 100; product++) {
            assertThat(there.find(product)).isEqualTo(2 * product);
        }
    }

    @Test
    void clearsNothingWhenTheTransactionIsRolledBack() {
        assertThatThrownBy(here::failToImport).hasMessage("no such file");

        FACTOR.set(3);
        assertThat(here.find(base)).isEqualTo(base);
    }

    @Test
    void returnsWhenNoNodeReturnsAnOlderValueOfAStrongCache() {
        here.importStrong(2);

        for (int product = base; product < base + 100; product++) {
            assertThat(there.findStrong(product)).isEqualTo(2 * product);
            assertThat(here.findStrong(product)).isEqualTo(2 * product);
        }
    }

    @Test
    void clearsNothingIfItsConditionIsFalse() {
        here.importStrong(-1);

        assertThat(here.findStrong(base)).isEqualTo(base);
    }

    @Test
    void invalidatesEntriesOfOtherCachesBeside() {
        assertThat(there.total(base)).isEqualTo(100 * base);
        assertThat(here.rate(base)).isEqualTo(base);

        here.importRatesFor(2, base);

        assertThat(here.total(base)).isEqualTo(200 * base);
        assertThat(here.total(base)).isEqualTo(200 * base);
        assertThat(here.rate(base)).isEqualTo(2 * base);
    }
}
