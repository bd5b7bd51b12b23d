package io.easykit.cache.aop;

import org.jspecify.annotations.Nullable;

/** An expression over a call: a part of a key, or a condition. */
@FunctionalInterface
interface CallExpression {

    @Nullable Object evaluate(Call call);

    /** Whether a condition holds. */
    default boolean holds(Call call) {
        return Boolean.TRUE.equals(evaluate(call));
    }
}
