package io.easykit.cache.aop;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;

/**
 * A compiled expression.
 *
 * @param type type of its value; null if only the call determines it
 * @param genericType generic type of its value, as far as known
 */
record Compiled(CallExpression expression, boolean usesResult, @Nullable Class<?> type, @Nullable Type genericType) {

    static Compiled of(CallExpression expression, boolean usesResult, ResolvableType type) {
        Class<?> raw = type.resolve();
        return new Compiled(expression, usesResult, raw, raw == null ? null : type.getType());
    }
}
