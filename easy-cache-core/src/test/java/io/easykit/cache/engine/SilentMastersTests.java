package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Masters of a cluster do not answer, so that each call of them costs a timeout. */
class SilentMastersTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);
    private static final int MASTERS = 3;
    private static final int HASHES = 30;
    private static final CacheSpec<String> CLEARED = Workbench.ap();
    private static final CacheSpec<String> NAMED = CacheSpec.of("view", String.class);

    /** One on each master. */
    private static final List<CacheKey<?>> KEYS =
            IntStream.range(0, MASTERS).<CacheKey<?>>mapToObj(NAMED::key).toList();

    private final Workbench bench = new Workbench();
    private final AtomicInteger timeouts = new AtomicInteger();

    @BeforeEach
    void cluster() {
        bench.store.inParts(HASHES).repartition(MASTERS);
        bench.store.onLost(() -> {
            timeouts.incrementAndGet();
            bench.clock.advance(TIMEOUT);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void theStopWaitsOnceForEach(int silent) {
        EasyCacheEngine node = started();
        availability(node).force(State.UNAVAILABLE);
        node.invalidateAll(CLEARED);
        node.invalidate(KEYS);
        silence(silent);

        assertTheStopWaitsOnceForEach(node, silent, silent == 0 ? 0 : silent + 1);
        assertTheOthersAreInvalidated(silent);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void theStopWaitsOnceForEachIfSingleEntriesArePending(int silent) {
        EasyCacheEngine node = started();
        availability(node).force(State.UNAVAILABLE);
        node.invalidate(KEYS);
        silence(silent);

        assertTheStopWaitsOnceForEach(node, silent, silent);
        assertTheOthersAreInvalidated(silent);
    }

    /** A node that stops before its first round has not looked for the masters. */
    @Test
    void theStopBeforeTheFirstRoundWaitsOnceForEach() {
        EasyCacheEngine node = node();
        availability(node).force(State.UNAVAILABLE);
        node.invalidateAll(CLEARED);
        node.invalidate(KEYS);
        silence(2);

        assertTheStopWaitsOnceForEach(node, 2, 3);
        assertTheOthersAreInvalidated(2);
    }

    private void assertTheStopWaitsOnceForEach(EasyCacheEngine node, int silent, int lost) {
        long startedAt = bench.clock.nanoTime();
        List<String> warnings;
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            node.stop();
            warnings = log.warnings();
        }
        assertThat(timeouts).as("calls of silent masters").hasValue(silent);
        assertThat(Duration.ofNanos(bench.clock.nanoTime() - startedAt)).isEqualTo(TIMEOUT.multipliedBy(silent));
        assertThat(node.undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(lost);
        if (lost == 0) {
            assertThat(warnings).isEmpty();
        } else {
            assertThat(warnings)
                    .singleElement()
                    .asString()
                    .startsWith(lost + " invalidations")
                    .contains("within " + silent * TIMEOUT.toMillis() + " ms");
        }
    }

    private void assertTheOthersAreInvalidated(int silent) {
        for (int master = 0; master < MASTERS; master++) {
            assertThat(bench.store.parts(KEYS.get(master)).isEmpty())
                    .as("entry of master %s is dropped", master)
                    .isEqualTo(master >= silent);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aClearingAfterTheStopWaitsOnceForEachInEachTry(int silent) {
        EasyCacheEngine node = started();
        node.stop();
        silence(silent);
        long startedAt = bench.clock.nanoTime();

        node.invalidateAll(CLEARED);

        // Before the stop is noticed: the mark and the end. After it: the mark, and tries for two seconds.
        assertThat(Duration.ofNanos(bench.clock.nanoTime() - startedAt))
                .isLessThan(TIMEOUT.multipliedBy(silent * 4L).plusSeconds(2));
        assertThat(raised()).isGreaterThanOrEqualTo((MASTERS - silent) * HASHES / MASTERS);
        assertThat(node.undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);
    }

    @Test
    void aClearingOfARunningNodeWaitsOnceForItsMarkAndOnceForItsEnd() {
        EasyCacheEngine node = started();
        silence(1);

        node.invalidateAll(CLEARED);

        assertThat(timeouts).hasValue(2);
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(1 + (MASTERS - 1) * HASHES / MASTERS);
        bench.store.back(0);
        tick(node);
        assertThat(raised()).isEqualTo(HASHES);
        assertThat(node.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
    }

    /** It refuses to raise epochs, and takes invalidations. */
    @Test
    void aFullMasterIsNotSilent() {
        EasyCacheEngine node = started();
        availability(node).force(State.UNAVAILABLE);
        node.invalidateAll(CLEARED);
        node.invalidate(KEYS);
        bench.store.fail(Operation.RAISE_EPOCH, Fault.FULL);
        bench.store.fail(Operation.PREPARE, Fault.FULL);

        node.stop();

        assertThat(node.undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);
        assertTheOthersAreInvalidated(0);
    }

    /** The first masters do not answer from now on. Each has an entry. */
    private void silence(int masters) {
        EasyCacheEngine other = bench.node();
        KEYS.forEach(key -> other.fetch(key, () -> null));
        IntStream.range(0, masters).forEach(bench.store::away);
    }

    private int raised() {
        return bench.store.raisedHashes();
    }

    private static ClusterAvailability availability(EasyCacheEngine node) {
        return node.cluster(CacheSpec.DEFAULT_CLUSTER).availability();
    }

    /** It has looked for the masters. */
    private EasyCacheEngine started() {
        EasyCacheEngine node = node();
        tick(node);
        assertThat(availability(node).partitions().count()).isEqualTo(MASTERS);
        return node;
    }

    private EasyCacheEngine node() {
        return bench.builder(new JacksonValueCodec())
                .ticker(new RoundsByHand(bench.clock))
                .build();
    }

    private static void tick(EasyCacheEngine node) {
        node.cluster(CacheSpec.DEFAULT_CLUSTER).workers().forEach(RecoveryWorker::tick);
    }
}
