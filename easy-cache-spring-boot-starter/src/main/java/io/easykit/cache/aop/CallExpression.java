package io.easykit.cache.aop;

import org.jspecify.annotations.Nullable;

/** An expression over a call: a key part or a condition. */
@FunctionalInterface
interface CallExpression {

    @Nullable Object evaluate(Call call);

    /** Whether a condition holds. */
    default boolean holds(Call call) {
        return Boolean.TRUE.equals(evaluate(call));
    }
}
