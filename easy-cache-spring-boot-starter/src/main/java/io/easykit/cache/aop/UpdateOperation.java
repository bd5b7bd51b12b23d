package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.style.ReturnedValue;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The operation of an {@code @UpdateCache} method.
 *
 * @param before entries known before the method
 * @param after entries named by its result
 * @param returned how the method returns its result
 */
record UpdateOperation(List<Entry> before, List<Entry> after, ReturnedValue returned) {

    List<CacheKey<?>> keysBefore(Call call) {
        List<CacheKey<?>> keys = new ArrayList<>(before.size());
        before.forEach(entry -> entry.addKey(call, keys));
        return keys;
    }

    /** Whether one of the entries that are known before the method belongs to a serial cache. */
    boolean isSerial() {
        return before.stream().anyMatch(entry -> entry.serial.getAsBoolean());
    }

    /** The data have changed already, so an entry without a key must not prevent the invalidation of the others. */
    KeysAfter keysAfter(Call call) {
        List<CacheKey<?>> keys = new ArrayList<>(after.size());
        Throwable problem = null;
        for (Entry entry : after) {
            try {
                entry.addKey(call, keys);
            } catch (RuntimeException | Error failure) {
                problem = problem == null ? failure : problem;
            }
        }
        return new KeysAfter(keys, problem);
    }

    /**
     * Keys named by the result.
     *
     * @param problem the first failure; null if the keys are complete
     */
    record KeysAfter(List<CacheKey<?>> keys, @Nullable Throwable problem) {}

    /**
     * One entry, or several of a batch.
     *
     * @param serial whether its cache is serial; the cache may be declared later
     * @param condition null if there is none
     */
    record Entry(BooleanSupplier serial, Function<Call, List<CacheKey<?>>> keysOf, @Nullable CallExpression condition) {

        void addKey(Call call, List<CacheKey<?>> keys) {
            if (condition == null || condition.holds(call)) {
                keys.addAll(keysOf.apply(call));
            }
        }
    }
}
