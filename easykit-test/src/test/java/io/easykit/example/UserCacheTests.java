package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.test.EasyCacheTester;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UserCacheTests {

    record User(String name) {}

    private final EasyCacheTester cache = EasyCacheTester.create();
    private final CacheSpec<User> users = CacheSpec.of("user", User.class);
    private User stored = new User("Ann");

    @AfterEach
    void close() {
        cache.close();
    }

    @Test
    void keepsAUserForTenMinutes() {
        cache.cache().fetch(users.key(42), () -> stored);
        assertThat(cache).hasEntry("user", 42).withValue(new User("Ann")).expiresIn(Duration.ofMinutes(10));

        cache.advance(Duration.ofMinutes(10));
        assertThat(cache).hasNoEntry("user", 42).hasLoads("user", 1);
    }

    @Test
    void returnsTheOldUserInsideTheStaleWindow() {
        EasyCache other = cache.otherNode();
        other.fetch(users.key(42), () -> stored);

        cache.cache().update(List.of(users.key(42)), () -> stored = new User("Bob"));
        assertThat(cache).hasEntry("user", 42).isStale().expiresIn(Duration.ofMillis(1500));
        assertThat(other.fetch(users.key(42), () -> stored)).isEqualTo(new User("Ann"));

        cache.runDue();
        assertThat(other.fetch(users.key(42), () -> stored)).isEqualTo(new User("Bob"));
    }

    @Test
    void storesNothingForTheLeaseOfACrashedUpdate() {
        CacheSpec<User> strict = users.withOptions(
                CacheOptions.builder().consistency(Consistency.CP).build());
        cache.faults().crashAfterNextCommit();
        cache.otherNode().update(List.of(strict.key(42)), () -> stored = new User("Bob"));

        assertThat(cache.cache().fetch(strict.key(42), () -> stored)).isEqualTo(new User("Bob"));
        assertThat(cache).isBeingUpdated("user", 42).hasNoEntry("user", 42);

        cache.advance(Duration.ofSeconds(30));
        cache.cache().fetch(strict.key(42), () -> stored);
        assertThat(cache).hasEntry("user", 42).withValue(new User("Bob"));
    }
}
