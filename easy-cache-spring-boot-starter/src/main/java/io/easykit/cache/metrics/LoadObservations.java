package io.easykit.cache.metrics;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.LoadObserver;
import io.micrometer.observation.NullObservation;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Observes each load as {@code easycache.load}. A load that a caller waits for is a child of the caller's observation, a reload
 * in the background is a root. A registry without handlers costs one call a load.
 */
public final class LoadObservations implements LoadObserver {

    private final ObservationRegistry registry;

    public LoadObservations(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public Observed begin(CacheKey<?> key) {
        if (registry.isNoop()) {
            return Observed.NONE;
        }
        Observation observation = Observation.createNotStarted("easycache.load", registry)
                .contextualName("load " + key.spec().prefix())
                .lowCardinalityKeyValue("prefix", key.spec().prefix())
                .lowCardinalityKeyValue("cluster", key.spec().clusterId());
        if (registry.getCurrentObservation() instanceof NullObservation) {
            observation.parentObservation(null);
        }
        Observation.Scope before = registry.getCurrentObservationScope();
        Observation.Scope scope = open(observation.start(), before);
        return new ObservedLoad(observation, scope, before);
    }

    /** The scope belongs to the thread that begins, which closes it when it leaves. */
    private final class ObservedLoad implements Observed {

        private final Observation observation;
        private final Observation.Scope scope;
        private final Observation.@Nullable Scope before;
        private boolean left;

        ObservedLoad(Observation observation, Observation.Scope scope, Observation.@Nullable Scope before) {
            this.observation = observation;
            this.scope = scope;
            this.before = before;
        }

        @Override
        public void leave() {
            left = true;
            close(scope, before);
        }

        @Override
        public void end(Load outcome, @Nullable Throwable failure) {
            observation.lowCardinalityKeyValue("outcome", outcome.name().toLowerCase(Locale.ROOT));
            try {
                if (!left) {
                    close(scope, before);
                }
            } finally {
                stop(observation, failure);
            }
        }
    }

    /** If a handler throws, the scope stays open: Micrometer returns none. */
    private Observation.Scope open(Observation observation, Observation.@Nullable Scope before) {
        try {
            return observation.openScope();
        } catch (RuntimeException | Error thrown) {
            registry.setCurrentObservationScope(before);
            observation.stop();
            throw thrown;
        }
    }

    /** If a handler throws, the scope stays the thread's current one. */
    private void close(Observation.Scope scope, Observation.@Nullable Scope before) {
        try {
            scope.close();
        } finally {
            registry.setCurrentObservationScope(before);
        }
    }

    private static void stop(Observation observation, @Nullable Throwable failure) {
        try {
            if (failure != null) {
                observation.error(failure);
            }
        } finally {
            observation.stop();
        }
    }

    /** Context propagation may have brought the observation of a reader, which does not wait for the reload. */
    @Override
    @SuppressWarnings("try") // the scope is held, not used
    public void runInBackground(Runnable reload) {
        if (registry.isNoop()) {
            reload.run();
            return;
        }
        try (Observation.Scope none = new NullObservation(registry).openScope()) {
            reload.run();
        }
    }
}
