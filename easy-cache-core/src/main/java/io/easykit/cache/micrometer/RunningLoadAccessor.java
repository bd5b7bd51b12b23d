package io.easykit.cache.micrometer;

import io.easykit.cache.RunningLoad;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/** Lets Micrometer's context propagation carry the scope of a load to other threads. Found by the service loader. */
public final class RunningLoadAccessor implements ThreadLocalAccessor<RunningLoad> {

    /** Name of the scope among the contexts. */
    public static final String KEY = "easycache.running-load";

    @Override
    public Object key() {
        return KEY;
    }

    @Override
    public @Nullable RunningLoad getValue() {
        return RunningLoad.current();
    }

    @Override
    public void setValue(RunningLoad scope) {
        RunningLoad.restore(scope);
    }

    @Override
    public void setValue() {
        RunningLoad.restore(null);
    }
}
