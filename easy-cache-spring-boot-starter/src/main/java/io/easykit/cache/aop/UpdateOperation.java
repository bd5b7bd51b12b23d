package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What an {@code @UpdateCache} method does.
 *
 * @param before entries that are known before the method
 * @param after entries that its result names
 */
record UpdateOperation(List<Entry> before, List<Entry> after) {

    List<CacheKey<?>> keysBefore(Call call) {
        return keys(before, call);
    }

    List<CacheKey<?>> keysAfter(Call call) {
        return keys(after, call);
    }

    private static List<CacheKey<?>> keys(List<Entry> entries, Call call) {
        List<CacheKey<?>> keys = new ArrayList<>(entries.size());
        for (Entry entry : entries) {
            if (entry.condition == null || entry.condition.holds(call)) {
                keys.add(entry.key.apply(call));
            }
        }
        return keys;
    }

    /**
     * One entry.
     *
     * @param condition null if there is none
     */
    record Entry(Function<Call, CacheKey<?>> key, @Nullable CallExpression condition) {}
}
