package io.easykit.delayqueue.autoconfigure;

import java.util.Locale;
import java.util.Set;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Whether the delay queue is on: unless {@code delay-queue.enabled} is false. A value that is no boolean, such as {@code
 * maybe}, must not switch it off in silence: it counts as on here, and fails when the settings are bound.
 */
class EnabledCondition implements Condition {

    /** The words that bind to false. */
    private static final Set<String> NO = Set.of("false", "off", "no", "0");

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return !isOff(context);
    }

    private static boolean isOff(ConditionContext context) {
        try {
            return Binder.get(context.getEnvironment())
                    .bind("delay-queue.enabled", String.class)
                    .map(text -> NO.contains(text.strip().toLowerCase(Locale.ROOT)))
                    .orElse(false);
        } catch (BindException unreadable) {
            return false;
        }
    }

    /** The opposite. */
    static final class Not extends EnabledCondition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return isOff(context);
        }
    }
}
