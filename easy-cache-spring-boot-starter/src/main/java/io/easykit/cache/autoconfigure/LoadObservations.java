package io.easykit.cache.autoconfigure;

import io.easykit.cache.CacheKey;
import io.easykit.cache.LoadObserver;
import io.micrometer.observation.NullObservation;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Locale;

/**
 * Observes each load as {@code easycache.load}. A load that a caller waits for is a child of the caller's observation, a reload
 * in the background is a root. A registry without handlers costs one call a load.
 */
final class LoadObservations implements LoadObserver {

    private final ObservationRegistry registry;

    LoadObservations(ObservationRegistry registry) {
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
        Observation.Scope scope = observation.start().openScope();
        return (outcome, failure) -> {
            scope.close();
            if (failure != null) {
                observation.error(failure);
            }
            observation
                    .lowCardinalityKeyValue("outcome", outcome.name().toLowerCase(Locale.ROOT))
                    .stop();
        };
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
