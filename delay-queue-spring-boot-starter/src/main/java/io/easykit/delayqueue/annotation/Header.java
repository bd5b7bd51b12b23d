package io.easykit.delayqueue.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Injects a header of the message into a parameter of a {@link DelayListener}, or all headers into a {@code Map<String,
 * String>} without a header name.
 *
 * <p>The value is converted to other types than {@code String}, such as {@code int}, {@code UUID} or an enum. If a
 * required header is missing, or a value cannot be converted, the run fails.
 */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface Header {

    /** Name of the header. Defaults to the name of the parameter. */
    String value() default "";

    /**
     * Whether a missing header fails the run. If false, a missing header is injected as null, or as an empty
     * {@code Optional}.
     */
    boolean required() default true;
}
