package io.easykit.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.EntryStoreContract;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoredEntry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class InMemoryCacheStoreTests extends EntryStoreContract {

    private final AtomicLong millis = new AtomicLong();
    private final InMemoryCacheStore store = new InMemoryCacheStore(millis::get);

    @Override
    protected EntryStore store() {
        return store;
    }

    @Override
    protected void pass(Duration time) {
        millis.addAndGet(time.toMillis());
    }

    @Override
    protected boolean holds(CacheKey<?> key) {
        return store.inspect(key).exists();
    }

    @Test
    void clearsAllButTheEpochs() {
        CacheKey<String> key = CacheSpec.of("cleared", String.class).key(1);
        store(key, lease(key));
        store.takeWorkLease("work", "a", Duration.ofMinutes(1), false);
        Map<String, Long> raised = store.raiseEpochs(0, Map.of("other", 0L), "");
        store.prepareClear(0, List.of("cleared"), "t", Duration.ofMinutes(1));
        assertThat(store.values(key)).hasSize(1);

        store.clear();

        assertThat(store.values(key)).isEmpty();
        assertThat(holds(key)).isFalse();
        assertThat(store.takeWorkLease("work", "b", Duration.ofMinutes(1), false))
                .isZero();
        assertThat(store.epochs(0).raised()).isEqualTo(raised);
        assertThat(store.epochs(0).clearing()).isEmpty();
    }

    /** A value of before a clearing would be valid again without its epoch. */
    @Test
    void keepsEpochsLongerThanAnyValue() {
        Map<String, Long> raised = store.raiseEpochs(0, Map.of("cleared", 0L), "");

        pass(Duration.ofDays(3650));

        assertThat(store.epochs(0).raised()).isEqualTo(raised);
    }

    /** As the scripts do: the window began before the clock was set back. */
    @Test
    void dropsTheValuesOfAStaleWindowThatIsLongerThanAnyOne() {
        CacheKey<String> read = inAWindowThatIsTooLong("read");
        CacheKey<String> awaited = inAWindowThatIsTooLong("awaited");
        CacheKey<String> updated = inAWindowThatIsTooLong("updated");
        CacheKey<String> invalidated = inAWindowThatIsTooLong("invalidated");
        assertThat(store.fetch(awaited, 0, false)).isInstanceOf(Fetched.NeedQuery.class);
        assertThat(store.values(awaited))
                .as("to a reader that takes no stale value")
                .hasSize(1);

        assertThat(store.peek(read, 0, true)).isNull();
        assertThat(store.fetch(read, 0, true)).isInstanceOf(Fetched.NeedQuery.class);
        assertThat(store.fetch(awaited, 0, true)).isInstanceOf(Fetched.NeedWait.class);
        store.prepare(List.of(updated), "u", Duration.ofSeconds(10));
        store.invalidate(List.of(invalidated), "");

        assertThat(List.of(read, awaited, updated, invalidated))
                .allSatisfy(key -> assertThat(store.values(key)).as(key.name()).isEmpty());
    }

    /** The lease of an update is longer than any window. */
    @Test
    void keepsTheValueInTheWindowOfAnUpdate() {
        CacheKey<String> key = CacheSpec.of("updated", String.class).key(1);
        store(key, lease(key));
        store.prepare(List.of(key), "u", Duration.ofSeconds(10));

        assertThat(store.peek(key, 0, true)).isNotNull();
        assertThat(store.fetch(key, 0, true)).isInstanceOf(Fetched.Success.class);

        store.prepare(List.of(key), "v", Duration.ofSeconds(10));
        store.invalidate(List.of(key), "u");
        assertThat(store.values(key)).hasSize(1);
    }

    private CacheKey<String> inAWindowThatIsTooLong(String prefix) {
        CacheKey<String> key = CacheSpec.of(prefix, String.class).key(1);
        pass(Duration.ofHours(1));
        store(key, lease(key));
        store.invalidate(List.of(key), "");
        assertThat(store.peek(key, 0, true)).isNotNull();
        pass(Duration.ofHours(-1));
        return key;
    }

    @Test
    void putsAllPartsOfItsEntriesBack() {
        CacheKey<String> updated = CacheSpec.of("updated", String.class).key(1);
        store(updated, lease(updated));
        store.prepare(List.of(updated), "u", Duration.ofMinutes(1));
        CacheKey<String> kept = CacheSpec.of("kept", String.class)
                .withOptions(CacheOptions.builder()
                        .staleOnError(StaleOnErrorOptions.keptFor(Duration.ofHours(1)))
                        .build())
                .key(1);
        store(kept, lease(kept));
        pass(Duration.ofMinutes(1));
        LoadLease loading = lease(kept);
        List<StoredEntry> before = List.of(store.inspect(updated), store.inspect(kept));

        Runnable replica = store.replica();
        store.invalidateNow(List.of(updated, kept), "u");
        assertThat(holds(updated) || holds(kept)).isFalse();
        replica.run();

        assertThat(List.of(store.inspect(updated), store.inspect(kept))).isEqualTo(before);
        assertThat(store(kept, loading)).isTrue();
    }

    private LoadLease lease(CacheKey<?> key) {
        return ((Fetched.Leased) store.fetch(key, 0)).lease();
    }

    private boolean store(CacheKey<?> key, LoadLease lease) {
        return store.store(key, lease, Envelope.of(Envelope.Kind.NULL, new byte[0]), Duration.ofMinutes(1));
    }
}
