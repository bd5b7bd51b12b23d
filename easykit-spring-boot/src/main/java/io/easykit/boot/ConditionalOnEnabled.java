package io.easykit.boot;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/**
 * Matches unless the setting {@code enabled} of a product is false. A value that is not a boolean, such as
 * {@code maybe}, must not disable the product silently: it counts as true here, and fails when the settings are bound.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnEnabledCondition.class)
public @interface ConditionalOnEnabled {

    /** Prefix of the product's settings, for example {@code easy-cache}. */
    String value();

    /** False to match only if the product is disabled. */
    boolean enabled() default true;
}
