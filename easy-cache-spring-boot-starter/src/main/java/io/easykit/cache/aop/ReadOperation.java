package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.style.ReturnedValue;
import org.jspecify.annotations.Nullable;

/**
 * The operation of a {@code @Cacheable} method.
 *
 * @param returned how the method returns its value
 * @param condition null if there is none
 * @param unless null if there is none
 * @param reloads whether its calls can be repeated on another thread
 * @param settings those of the annotation
 */
record ReadOperation(
        CacheSpec<Object> spec,
        KeyExpression key,
        ReturnedValue returned,
        @Nullable CallExpression condition,
        @Nullable Veto unless,
        BackgroundReloads reloads,
        CacheSettings settings) {

    boolean applies(Call call) {
        return condition == null || condition.holds(call);
    }

    CacheKey<Object> key(Call call) {
        return key.of(spec, call);
    }

    /** Whether every loaded value is stored. */
    boolean storesAll() {
        return unless == null;
    }

    boolean mayStore(Call call, @Nullable Object value) {
        return unless == null || !unless.holds(call.withResult(value));
    }
}
