package io.easykit.cache.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.ParameterizedTypeReference;

class EasyCacheAssertTests {

    private static final Duration TTL = Duration.ofMinutes(10);

    private final EasyCacheTester cache = EasyCacheTester.create();
    private final CacheSpec<User> users = CacheSpec.of("user", User.class);

    record User(String name, int age) {}

    @AfterEach
    void close() {
        cache.close();
    }

    private static void fails(ThrowingCallable assertion, String... parts) {
        assertThatThrownBy(assertion).isInstanceOf(AssertionError.class).hasMessageContainingAll(parts);
    }

    private void store(Object id) {
        cache.cache().fetch(users.key(id), () -> new User("Ann", 42));
    }

    @Test
    void showsTheEntry() {
        store(1);
        cache.advance(Duration.ofMinutes(1));

        fails(
                () -> assertThat(cache).hasEntry("user", 1).withValue(new User("Bob", 1)),
                "Expected an entry user::1 with value User[name=Bob, age=1]",
                "there is:",
                "fresh for 9m, value {",
                "\"Ann\"",
                "0 hits",
                "1 misses and 1 loads");
        fails(() -> assertThat(cache).hasEntry("user", 1).expiresIn(TTL), "expires in 10m", "fresh for 9m");
        fails(() -> assertThat(cache).hasEntry("user", 1).isStale(), "an entry user::1, stale");
        fails(() -> assertThat(cache).hasEntry("user", 1).isExpired(), ", expired");
        fails(() -> assertThat(cache).hasNoEntry("user", 1), "Expected no entry user::1");
        fails(() -> assertThat(cache).as("the last one").hasNoEntry("user", 1), "[the last one]");
        fails(() -> assertThat(cache).isBeingUpdated("user", 1), "Expected a prepared update of user::1");
    }

    @Test
    void showsThatThereIsNone() {
        fails(() -> assertThat(cache).hasEntry("user", 1), "Expected an entry user::1", "but there is none");
    }

    @Test
    void showsPreparedUpdates() {
        store(1);
        cache.faults().crashAfterNextCommit();
        cache.cache().update(List.of(users.key(1)), () -> null);

        assertThat(cache).isBeingUpdated("user", 1);
        fails(
                () -> assertThat(cache).hasEntry("user", 1).isFresh(),
                "a prepared update, whose lease ends in 30s",
                "also clears a cache, which is not confirmed yet");
        cache.advance(Duration.ofSeconds(30));
        fails(() -> assertThat(cache).isBeingUpdated("user", 1), "but there is none");
    }

    @Test
    void showsAReturnedUpdateWhoseClearingIsNotConfirmed() {
        CacheSpec<String> names = CacheSpec.of("name", String.class);
        store(1);
        cache.cache().update(List.of(users.key(1), names.all()), () -> null);

        fails(() -> assertThat(cache).hasEntry("user", 1).isFresh(), "it has returned and also clears a cache");
        cache.advance(Duration.ofSeconds(10));
        fails(() -> assertThat(cache).hasEntry("user", 1).isFresh(), "but there is none");
    }

    @Test
    void showsTheCounts() {
        store(1);
        store(1);

        assertThat(cache).hasHits("user", 1).hasMisses("user", 1).hasLoads("user", 1);
        fails(() -> assertThat(cache).hasLoads("user", 2), "Expected 2 loads of 'user'", "1 loads", "STORED=1");
        fails(() -> assertThat(cache).hasHits("user", 0), "Expected 0 hits");
        fails(() -> assertThat(cache).hasMisses("user", 0), "Expected 0 misses");
        assertThat(cache).hasLoads("other", 0);
    }

    @Test
    void comparesValues() {
        CacheSpec<List<User>> lists = CacheSpec.of("list", new ParameterizedTypeReference<List<User>>() {}.getType());
        CacheSpec<Optional<User>> optionals =
                CacheSpec.of("optional", new ParameterizedTypeReference<Optional<User>>() {}.getType());
        User ann = new User("Ann", 42);
        store(1);
        cache.cache().fetch(users.key("none"), () -> null);
        cache.cache().fetch(lists.key(1), () -> List.of(ann));
        cache.cache().fetch(optionals.key(1), () -> Optional.of(ann));
        cache.cache().fetch(optionals.key(2), Optional::empty);

        assertThat(cache).hasEntry("user", 1).withValue(ann).withValue(Map.of("age", 42, "name", "Ann"));
        assertThat(cache).hasEntry("user", "none").withValue(null).expiresIn(Duration.ofMinutes(1));
        assertThat(cache).hasEntry("list", 1).withValue(List.of(ann));
        assertThat(cache).hasEntry("optional", 1).withValue(Optional.of(ann));
        assertThat(cache).hasEntry("optional", 2).withValue(Optional.empty());
        fails(() -> assertThat(cache).hasEntry("user", "none").withValue(ann), "value null");
        fails(() -> assertThat(cache).hasEntry("user", 1).withValue(null), "with value null");
        fails(() -> assertThat(cache).hasEntry("user", 1).withValue("text"), "with value text");
        fails(() -> assertThat(cache).hasEntry("list", 1).withValue(List.of()), "with value []");
        fails(() -> assertThat(cache).hasEntry("optional", 1).withValue(Optional.empty()), "Optional.empty");
        fails(() -> assertThat(cache).hasEntry("optional", 2).withValue(Optional.of(ann)), "value empty optional");
    }

    @Test
    void findsEntriesByKey() {
        store(1);

        assertThat(cache).hasEntry(users.key(1)).isFresh().and().hasNoEntry(users.key(2));
        assertThatThrownBy(() -> assertThat(cache)
                        .hasNoEntry(users.withClusterId("other").key(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("easy-cache.clusters");
    }
}
