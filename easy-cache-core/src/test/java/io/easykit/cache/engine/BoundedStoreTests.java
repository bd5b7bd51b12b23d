package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BoundedStoreTests {

    /** One on each of three masters. */
    private static final List<CacheKey<String>> KEYS =
            Stream.of(1, 2, 3).map(id -> Workbench.ap().key(id)).toList();

    private static final Map<CacheKey<?>, String> TOKENS = Map.of(KEYS.get(0), "", KEYS.get(1), "", KEYS.get(2), "");

    private final ManualClock clock = new ManualClock();
    private final FaultyCacheStore store = new FaultyCacheStore(clock::millis).inParts(3);
    private final AtomicInteger lost = new AtomicInteger();
    private Duration timeout = Duration.ofMillis(250);

    @BeforeEach
    void count() {
        store.onLost(() -> {
            lost.incrementAndGet();
            clock.advance(timeout);
        });
    }

    private interface Call {
        void on(EntryStore store);
    }

    static Stream<Call> calls() {
        return Stream.of(
                to -> to.prepare(KEYS, "token", Redelivery.LEASE),
                to -> to.invalidate(KEYS, ""),
                to -> to.invalidateNow(KEYS, ""),
                to -> to.invalidateNow(TOKENS),
                to -> to.raiseEpochs(1, Map.of("name", 0L), ""),
                to -> to.prepareClear(1, List.of("name"), "token", Redelivery.LEASE));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void aSilentMasterGetsOneCall(Call call) {
        store.away(1);
        EntryStore bounded = new BoundedStore(store, clock);

        calls().forEach(any -> assertFails(any, bounded));
        assertFails(call, bounded);

        assertThat(lost).hasValue(1);
    }

    @Test
    void theOthersGetAll() {
        store.away(1);
        EntryStore bounded = new BoundedStore(store, clock);
        assertFails(to -> to.raiseEpochs(1, Map.of("name", 0L), ""), bounded);

        assertFails(to -> to.prepare(KEYS, "token", Redelivery.LEASE), bounded);
        bounded.raiseEpochs(2, Map.of("name", 0L), "");

        assertThat(store.parts(KEYS.get(1))).contains("intents");
        assertThat(store.parts(KEYS.get(2))).contains("intents");
        assertThat(store.raisedHashes()).isEqualTo(1);
    }

    /** In a cluster it takes time to compute them. */
    @Test
    void asksForThePartitionsOnlyIfOneIsSilent() {
        AtomicInteger asked = new AtomicInteger();
        EntryStore bounded = new BoundedStore(
                new ForwardingStore(store) {
                    @Override
                    public Partitions partitions() {
                        asked.incrementAndGet();
                        return super.partitions();
                    }
                },
                clock);

        for (int hash = 0; hash < store.epochHashes(); hash++) {
            bounded.prepareClear(hash, List.of("name"), "token", Redelivery.LEASE);
            bounded.raiseEpochs(hash, Map.of("name", 0L), "token");
        }

        assertThat(asked).hasValueLessThanOrEqualTo(1);
    }

    /** Such as on a connection that was just lost. */
    @Test
    void aMasterWhoseCallFailsAtOnceGetsTheNextOne() {
        timeout = Duration.ofMillis(1);
        store.away(1);
        EntryStore bounded = new BoundedStore(store, clock);
        assertFails(to -> to.raiseEpochs(1, Map.of("name", 0L), ""), bounded);

        store.back(1);
        bounded.raiseEpochs(1, Map.of("name", 0L), "");

        assertThat(store.raisedHashes()).isEqualTo(1);
    }

    /** Until its first connection a store does not know the masters. */
    @Test
    void allGetCallsAgainWhenTheMastersAreKnown() {
        store.repartition(1);
        store.away(0);
        EntryStore bounded = new BoundedStore(store, clock);
        assertFails(to -> to.raiseEpochs(0, Map.of("name", 0L), ""), bounded);

        store.repartition(3);
        bounded.raiseEpochs(1, Map.of("name", 0L), "");

        assertThat(store.raisedHashes()).isEqualTo(1);
    }

    @Test
    void aCallThatWaitsBehindLargeValuesIsUnanswered() {
        EntryStore bounded = new BoundedStore(store, clock);
        store.onNext(Operation.RAISE_EPOCH, () -> {
            clock.advance(timeout);
            throw StoreUnavailableException.delayed("large values", null);
        });
        assertFails(to -> to.raiseEpochs(1, Map.of("name", 0L), ""), bounded);

        assertFails(to -> to.raiseEpochs(1, Map.of("name", 0L), ""), bounded);

        assertThat(store.count(Operation.RAISE_EPOCH)).isEqualTo(1);
    }

    /** One that has a default would go past the store behind. */
    @Test
    void aStoreThatForwardsForwardsAllCalls() {
        List<String> forwarded = names(ForwardingStore.class);
        List<String> shorthands = List.of("fetch[class io.easykit.cache.CacheKey, long]", "probe[]");

        assertThat(names(EntryStore.class)).allMatch(name -> forwarded.contains(name) || shorthands.contains(name));
    }

    private static List<String> names(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> !method.isSynthetic())
                .map(BoundedStoreTests::name)
                .toList();
    }

    private static String name(Method method) {
        return method.getName() + Arrays.toString(method.getParameterTypes());
    }

    private static void assertFails(Call call, EntryStore store) {
        assertThatThrownBy(() -> call.on(store)).isInstanceOf(StoreUnavailableException.class);
    }
}
