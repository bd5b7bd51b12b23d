package io.easykit.boot;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Evaluates {@link ConditionalOnSwitch}. */
final class OnSwitchCondition extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        MergedAnnotation<ConditionalOnSwitch> annotation =
                metadata.getAnnotations().get(ConditionalOnSwitch.class);
        String name = annotation.getString("value");
        boolean on = isOn(context.getEnvironment(), name);
        return new ConditionOutcome(
                on == annotation.getBoolean("on"),
                ConditionMessage.forCondition(ConditionalOnSwitch.class, name).because(on ? "on" : "off"));
    }

    private static boolean isOn(Environment environment, String name) {
        try {
            return Binder.get(environment).bind(name, Boolean.class).orElse(false);
        } catch (BindException unreadable) {
            // The start check reports it.
            return false;
        }
    }
}
