package io.easykit.boot;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/**
 * Matches if a setting, which is off by default, binds to true: {@code true}, {@code on}, {@code yes} or {@code 1}. The condition and
 * the bound settings never differ, unlike with Spring Boot's condition, which compares the text with {@code true}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnSwitchCondition.class)
public @interface ConditionalOnSwitch {

    /** Name of the setting, for example {@code easy-cache.spring-cache.enabled}. */
    String value();

    /** False to match only if the setting is off. */
    boolean on() default true;
}
