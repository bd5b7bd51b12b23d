package io.easykit.cache.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.autoconfigure.EasyCacheCustomizer;
import io.easykit.cache.autoconfigure.EntryStores;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.cache.test.TestCacheParts;
import io.easykit.cache.test.autoconfigure.UserApplication.Users;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.annotation.Transactional;

/** Redis is at a port where no server listens, and the application's own parts would all prevent virtual time. */
@SpringBootTest(
        classes = {UserApplication.class, AutoConfigureTestEasyCacheTests.Application.class},
        properties = {
            "spring.data.redis.port=1",
            "easy-cache.enabled=false",
            "easy-cache.require-redis-at-start=true",
            "easy-cache.clusters.second.port=1",
            "easy-cache.outbox=jdbc",
            "delay-queue.enabled=false"
        })
@AutoConfigureTestEasyCache
class AutoConfigureTestEasyCacheTests {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    @TestConfiguration
    static class Application {

        @Bean
        EntryStores ownStores() {
            return Map::of;
        }

        @Bean
        EasyCacheCustomizer ownThreads() {
            return builder -> builder.background(task -> {
                throw new RejectedExecutionException("full");
            });
        }
    }

    @Autowired
    private EasyCacheTester cache;

    @Autowired
    private Users users;

    @Test
    void cachesInVirtualTime() {
        users.name(1);
        users.name(1);
        assertThat(cache).hasLoads("user", 1).hasHits("user", 1);
        assertThat(cache).hasEntry("user", 1L).withValue(users.query(1)).expiresIn(MINUTE);

        cache.advance(MINUTE);
        assertThat(cache).hasNoEntry("user", 1L);
    }

    @Test
    void refreshesInVirtualTime() {
        users.name(1);
        cache.advance(MINUTE.minusSeconds(1));
        users.name(1);

        cache.runDue();

        assertThat(cache).hasLoads("user", 2).hasEntry("user", 1L).expiresIn(MINUTE);
    }

    @Test
    void invalidatesAtTheCommit() {
        users.name(1);
        users.strictName(1);

        users.rename(1, "Bob");
        assertThat(cache).hasEntry("user", 1L).isStale().and().hasNoEntry("strict", 1L);
        assertThat(users.strictName(1)).isEqualTo("Bob");

        assertThatThrownBy(() -> users.rename(1, "")).isInstanceOf(IllegalArgumentException.class);
        assertThat(cache).hasNoEntry("strict", 1L);
        assertThat(users.strictName(1)).isEqualTo("Bob");
    }

    @Test
    void keepsNearValuesInVirtualTime() {
        users.nearName(1);
        EasyCache other = cache.otherNode();
        other.invalidate(CacheSpec.of("near", String.class).key(1L));
        int loads = 1;

        cache.advance(Duration.ofSeconds(29));
        users.nearName(1);
        assertThat(cache).hasLoads("near", loads);

        cache.advance(Duration.ofSeconds(1));
        users.nearName(1);
        assertThat(cache).hasLoads("near", loads + 1);
    }

    @Test
    void deliversTheOutboxAfterAnOutage() {
        EasyCache other = cache.otherNode();
        CacheSpec<String> entries = CacheSpec.of("near", String.class);
        other.fetch(entries.key(1L), () -> "old");
        cache.faults().storeAway();
        users.renameNear(1, "Eve");
        assertThat(cache).hasEntry("near", 1L).withValue("old");

        cache.faults().heal();
        cache.advance(Duration.ofSeconds(10));

        assertThat(cache).hasNoEntry("near", 1L);
        assertThat(cache.cache().availability(CacheSpec.DEFAULT_CLUSTER).state())
                .isEqualTo(Availability.State.AVAILABLE);
    }

    @Test
    void hasAStoreForEachCluster() {
        users.nameInSecondCluster(1);

        assertThat(cache.cache().clusterIds()).containsExactlyInAnyOrder("default", "second");
        assertThat(cache).hasNoEntry("other", 1L);
        assertThat(cache)
                .hasEntry(CacheSpec.of("other", Object.class)
                        .withClusterId("second")
                        .key(1L));
    }

    @Test
    void opensNoConnectionToRedis(@Autowired ApplicationContext context) {
        assertThat(context.containsBean("easyCacheConnections")).isFalse();
        assertThat(context.containsBean("easyCacheClusters")).isFalse();
    }

    @Test
    @Transactional
    void refusesToAdvanceWithinATransaction() {
        assertThatThrownBy(() -> cache.advance(MINUTE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TestTransaction.end()");
        assertThatThrownBy(cache::runDue).isInstanceOf(IllegalStateException.class);

        TestTransaction.end();
        cache.advance(MINUTE);
    }

    @Test
    void goesOnAfterATestHasClosedIt() {
        EasyCache other = cache.otherNode();
        other.fetch(CacheSpec.of("user", String.class).key(9L), () -> "x");

        cache.close();

        assertThat(cache).hasEntry("user", 9L);
        users.name(1);
        assertThat(cache).hasEntry("user", 1L);
    }

    /** The clock of a context that other test classes have used before is old. */
    @Test
    void beginsAtThePresentTime(@Autowired TestCacheParts parts) {
        cache.time().setClock(Instant.EPOCH);

        new ResetEasyCacheTestExecutionListener()
                .beforeTestMethod(new TestContextManager(AutoConfigureTestEasyCacheTests.class).getTestContext());

        assertThat(cache.now()).isBetween(Instant.now().minusSeconds(30), Instant.now());
    }

    /** Each of them would fail if the one before left something behind. */
    @Nested
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    class Leaks {

        @Test
        @Order(1)
        void leavesEntriesFaultsAndCountsBehind() {
            users.nearName(1);
            users.name(1);
            cache.advance(Duration.ofHours(1));
            users.nearName(1);
            users.name(1);
            cache.faults().storeAway();
        }

        @Test
        @Order(2)
        void beginsWithAnEmptyCacheAtThePresentTime() {
            assertThat(cache).hasNoEntry("near", 1L).hasNoEntry("user", 1L).hasLoads("near", 0);
            assertThat(cache.now()).isBetween(Instant.now().minusSeconds(60), Instant.now());
            users.nearName(1);
            assertThat(cache).hasLoads("near", 1).hasEntry("near", 1L);
        }
    }
}
