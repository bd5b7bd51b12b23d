package io.easykit.cache.aop;

import io.easykit.boot.DurationTexts;
import java.time.Duration;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ClassUtils;

/**
 * The TTL that a loaded value decides, as an expression over {@code #result}: {@code ttl = "#result.validFor"}. It may not use
 * the call, because all entries of the cache are stored by it: elements of a batch, refreshed values, fills by code.
 */
final class ValueTtlExpression implements Function<Object, @Nullable Duration> {

    private static final Set<String> KNOWN = Set.of("#result", "#this");
    private static final String REMEDY =
            "Return a Duration, a number of milliseconds or a text such as 10m. For an end, write"
                    + " T(java.time.Duration).between(T(java.time.Instant).now(), #result.validUntil).";

    private final CachedMethod where;
    private final CallExpression expression;

    private ValueTtlExpression(CachedMethod where, CallExpression expression) {
        this.where = where;
        this.expression = expression;
    }

    /** Whether the text of a TTL is such an expression. No duration has a hash. */
    static boolean isOne(String ttl) {
        return ttl.indexOf('#') >= 0;
    }

    /** @throws InvalidCacheDeclarationException if it cannot be compiled, or cannot be a TTL */
    static ValueTtlExpression of(CachedMethod where, Expressions expressions, String text) {
        Compiled compiled = expressions.compile("ttl", text, true);
        requireValueOnly(where, text, new SpelExpressionParser().parseRaw(text).getAST());
        Class<?> type = compiled.type();
        if (type != null && !mayBeDuration(ClassUtils.resolvePrimitiveIfNecessary(type))) {
            throw where.problem("'" + text + "' in ttl is a " + type.getTypeName() + ", not a duration", REMEDY);
        }
        return new ValueTtlExpression(where, compiled.expression());
    }

    private static void requireValueOnly(CachedMethod where, String text, SpelNode node) {
        if (node instanceof VariableReference && !KNOWN.contains(node.toStringAST())) {
            throw where.problem(
                    "'" + text + "' in ttl uses " + node.toStringAST()
                            + ", but a TTL is computed from the value alone, also when the value is refreshed",
                    "Use #result only.");
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            requireValueOnly(where, text, node.getChild(i));
        }
    }

    private static boolean mayBeDuration(Class<?> type) {
        return Number.class.isAssignableFrom(type)
                || CharSequence.class.isAssignableFrom(type)
                || type.isAssignableFrom(Duration.class)
                || type.isAssignableFrom(Long.class)
                || type.isAssignableFrom(String.class);
    }

    @Override
    public @Nullable Duration apply(Object value) {
        return duration(expression.evaluate(Call.ofValue(where, value)));
    }

    private static @Nullable Duration duration(@Nullable Object ttl) {
        if (ttl == null || ttl instanceof Duration) {
            return (Duration) ttl;
        }
        if (ttl instanceof Number millis) {
            return Duration.ofMillis(whole(millis));
        }
        if (ttl instanceof CharSequence text) {
            return parsed(text.toString());
        }
        throw new IllegalArgumentException("it is a " + ttl.getClass().getTypeName() + ", not a duration");
    }

    /** A BigInteger or BigDecimal would drop its higher digits. */
    private static long whole(Number number) {
        double about = number.doubleValue();
        return Math.abs(about) < Long.MAX_VALUE ? number.longValue() : about > 0 ? Long.MAX_VALUE : Long.MIN_VALUE;
    }

    private static Duration parsed(String text) {
        try {
            return DurationTexts.parse(text);
        } catch (IllegalArgumentException unreadable) {
            // Its message repeats the text, which is a part of the value.
            throw new IllegalArgumentException("its text is not a duration with a unit, such as 10m");
        }
    }
}
