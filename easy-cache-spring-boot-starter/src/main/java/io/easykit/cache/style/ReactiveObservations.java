package io.easykit.cache.style;

import io.micrometer.observation.NullObservation;
import io.micrometer.observation.Observation;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The observation that Reactor's context carries, such as that of a request. A load becomes its child, and what the method subscribes
 * to becomes a child of the load. Loaded only if Reactor is present.
 */
final class ReactiveObservations {

    private static final Logger log = LoggerFactory.getLogger(ReactiveObservations.class);

    /** The key of Micrometer's {@code ObservationThreadLocalAccessor}, which needs a library that may be absent. */
    private static final String KEY = "micrometer.observation";

    private ReactiveObservations() {}

    /** Runs a call in the observation of the context. */
    static <T> T call(ContextView context, Supplier<T> call) {
        Observation.@Nullable Scope scope = open(context);
        try {
            return call.get();
        } finally {
            close(scope);
        }
    }

    /**
     * The context with the observation of the calling thread, if that has one. In a reload, without that of a subscriber that does
     * not wait.
     */
    static ContextView put(ContextView context) {
        Observation of = of(context);
        Observation current = of == null ? null : current(of);
        if (current == null || current == of) {
            return context;
        }
        return current instanceof NullObservation
                ? Context.of(context).delete(KEY)
                : Context.of(context).put(KEY, current);
    }

    private static @Nullable Observation of(ContextView context) {
        Object value = context.getOrDefault(KEY, null);
        return value instanceof Observation observation ? observation : null;
    }

    private static @Nullable Observation current(Observation any) {
        return any.getObservationRegistry().getCurrentObservation();
    }

    /** A handler of the application that throws does not end a read. */
    private static Observation.@Nullable Scope open(ContextView context) {
        Observation of = of(context);
        if (of == null || current(of) == of) {
            return null;
        }
        Observation.Scope before = of.getObservationRegistry().getCurrentObservationScope();
        try {
            return of.openScope();
        } catch (RuntimeException | Error thrown) {
            of.getObservationRegistry().setCurrentObservationScope(before);
            log.debug("A read goes on without the observation of its subscriber", thrown);
            return null;
        }
    }

    private static void close(Observation.@Nullable Scope scope) {
        if (scope == null) {
            return;
        }
        Observation.@Nullable Scope before = scope.getPreviousObservationScope();
        try {
            scope.close();
        } catch (RuntimeException | Error thrown) {
            scope.getCurrentObservation().getObservationRegistry().setCurrentObservationScope(before);
            log.debug("The observation of a subscriber was not closed on this thread", thrown);
        }
    }
}
