package io.easykit.cache.aop;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * A compiled expression.
 *
 * @param type type of its value; null if only the call determines it
 * @param genericType generic type of its value, as far as known
 */
record Compiled(CallExpression expression, boolean usesResult, @Nullable Class<?> type, @Nullable Type genericType) {}
