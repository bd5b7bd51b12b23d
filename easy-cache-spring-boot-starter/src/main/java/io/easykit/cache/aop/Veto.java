package io.easykit.cache.aop;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.expression.spel.SpelEvaluationException;

/**
 * The {@code unless} of a method. The method has already run when it is evaluated, so a value for which it fails is returned and not
 * stored, as one whose TTL cannot be computed.
 */
final class Veto {

    private static final Logger log = LoggerFactory.getLogger(CachedMethods.class);

    private final CachedMethod where;
    private final String text;
    private final CallExpression expression;
    private final AtomicBoolean failed = new AtomicBoolean();

    Veto(CachedMethod where, String text, CallExpression expression) {
        this.where = where;
        this.text = text;
        this.expression = expression;
    }

    /** @param call with the result of the method */
    boolean holds(Call call) {
        try {
            return expression.holds(call);
        } catch (Exception | LinkageError | StackOverflowError failure) {
            warn(failure);
            return true;
        }
    }

    private void warn(Throwable failure) {
        if (failed.compareAndSet(false, true)) {
            log.warn(
                    "easy-cache: unless = '{}' of {} cannot be evaluated, so the value is returned and not cached: {}."
                            + " Correct the expression. If #result may be null, write #result?.name. Logged once for each"
                            + " method.",
                    text,
                    where.describe(),
                    reason(failure));
        }
        log.debug("The unless of {} cannot be evaluated", where.describe(), failure);
    }

    /** SpEL names properties and types. The text of another exception may quote a value. */
    private static String reason(Throwable failure) {
        return failure instanceof SpelEvaluationException spel
                ? String.valueOf(spel.getMessage())
                : failure.getClass().getName();
    }
}
