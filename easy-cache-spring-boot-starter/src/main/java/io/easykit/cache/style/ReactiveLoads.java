package io.easykit.cache.style;

import io.easykit.cache.RunningLoad;
import io.easykit.cache.micrometer.RunningLoadAccessor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Loads that Reactor's context carries, since operators change the thread. Micrometer's context propagation restores them by the same
 * key. Loaded only if Reactor is present.
 */
final class ReactiveLoads {

    private ReactiveLoads() {}

    /** The context of the subscriber, with the load that the calling thread works for. */
    static ContextView put(ContextView context) {
        RunningLoad scope = RunningLoad.current();
        return scope == null ? context : Context.of(context).put(RunningLoadAccessor.KEY, scope);
    }

    /** Runs a call in the load of the context while that runs, else in that of the thread. */
    static <T> T call(ContextView context, Supplier<T> call) {
        @Nullable RunningLoad scope = context.getOrDefault(RunningLoadAccessor.KEY, null);
        RunningLoad before = RunningLoad.current();
        RunningLoad.restore(scope);
        if (RunningLoad.current() == null) {
            RunningLoad.restore(before);
        }
        try {
            return call.get();
        } finally {
            RunningLoad.restore(before);
        }
    }
}
