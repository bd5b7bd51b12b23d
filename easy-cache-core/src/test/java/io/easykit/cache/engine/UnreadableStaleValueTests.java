package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A value inside its stale window comes with a load lease, and cannot be read. */
class UnreadableStaleValueTests {

    private final Workbench bench = new Workbench();

    @AutoClose("shutdownNow")
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private final EasyCacheEngine cache =
            bench.builder(new JacksonValueCodec()).async(threads).buildStopped();
    private final EasyCacheEngine other = bench.node();
    private final CacheSpec<String> spec = Workbench.ap();
    private final AtomicInteger loads = new AtomicInteger();

    @BeforeEach
    void answerLater() {
        bench.store.answeringLater();
        bench.store.spoil(spec.key(1), new byte[] {99});
    }

    @ParameterizedTest
    @EnumSource(Reading.class)
    void costsOneLoadWhoseValueIsStored(Reading reading) throws Exception {
        other.invalidate(spec.key(1));

        assertThat(read(reading)).isEqualTo("value 1");
        assertThat(read(reading)).isEqualTo("value 1");
    }

    /** Its load lease stays with the value of the other version, and its holder must not wait for it. */
    @ParameterizedTest
    @EnumSource(Reading.class)
    void costsNoWaitBesideAValueOfAnotherVersion(Reading reading) throws Exception {
        CacheSpec<Integer> version = CacheSpec.of(spec.prefix(), Integer.class).withOptions(spec.options());
        other.fetch(version.key(1), () -> 1);
        other.invalidate(spec.key(1));
        long before = bench.clock.nanoTime();

        assertThat(read(reading)).isEqualTo("value 1");
        assertThat(Duration.ofNanos(bench.clock.nanoTime() - before)).isZero();
        assertThat(read(reading)).isEqualTo("value 1");
    }

    private String read(Reading reading) throws Exception {
        return reading.read(cache, spec, 1, () -> "value " + loads.incrementAndGet());
    }
}
