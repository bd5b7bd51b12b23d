package io.easykit.boot;

import java.util.Locale;
import java.util.Set;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Evaluates {@link ConditionalOnEnabled}. */
final class OnEnabledCondition extends SpringBootCondition {

    /** The values that bind to false. */
    private static final Set<String> NO = Set.of("false", "off", "no", "0");

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        MergedAnnotation<ConditionalOnEnabled> annotation =
                metadata.getAnnotations().get(ConditionalOnEnabled.class);
        String name = annotation.getString("value") + ".enabled";
        boolean enabled = !isFalse(context.getEnvironment(), name);
        return new ConditionOutcome(
                enabled == annotation.getBoolean("enabled"),
                ConditionMessage.forCondition(ConditionalOnEnabled.class, name)
                        .because(enabled ? "not false" : "false"));
    }

    private static boolean isFalse(Environment environment, String name) {
        try {
            return Binder.get(environment)
                    .bind(name, String.class)
                    .map(text -> NO.contains(text.strip().toLowerCase(Locale.ROOT)))
                    .orElse(false);
        } catch (BindException unreadable) {
            return false;
        }
    }
}
