package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.engine.Workbench.Caller;
import java.time.Duration;
import java.util.Objects;

/** Node A is cut off and comes back; node B shows the effect on other nodes. */
abstract class TwoNodes {

    static final int PROBES = CircuitBreakerOptions.defaults().probesToRecover();
    static final Duration KEEP_RECENT = Duration.ofSeconds(30);
    static final Duration SEEN_EVERYWHERE = Duration.ofSeconds(2);

    final Workbench bench = new Workbench();

    final EasyCacheEngine a = bench.node(
            new DegradedOptions(Duration.ofMinutes(1), 32, CpReads.BYPASS, CpUpdates.PROCEED, ApUpdates.PROCEED, 2));
    final EasyCacheEngine b = bench.node();
    final CacheKey<String> key = Workbench.ap().key(1);

    void cutOff() {
        bench.store.away();
        for (int i = 0; i < 10; i++) {
            a.fetch(CacheSpec.of("any", String.class).key(i), () -> "any");
        }
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
    }

    /** Of prefix "name". */
    void overflow() {
        cutOff();
        for (int id = 1; id <= 3; id++) {
            a.invalidate(Workbench.ap().key(id));
        }
    }

    static void tick(EasyCacheEngine cache, int times) {
        for (int i = 0; i < times; i++) {
            cluster(cache).workers().get(0).tick();
        }
    }

    static Caller<Boolean> inBackground(Runnable work) {
        return Workbench.call(() -> {
            work.run();
            return true;
        });
    }

    static Availability availability(EasyCacheEngine cache) {
        return cluster(cache).availability();
    }

    static State stateOf(EasyCacheEngine cache) {
        return availability(cache).state();
    }

    static CacheCluster cluster(EasyCacheEngine cache) {
        return Objects.requireNonNull(cache.cluster("default"));
    }
}
