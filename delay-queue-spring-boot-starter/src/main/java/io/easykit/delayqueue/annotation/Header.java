package io.easykit.delayqueue.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A parameter of a {@link DelayListener} that is given a header of the message; or all headers, where it is a
 * {@code Map<String, String>} and no name is given.
 *
 * <p>Other types than {@code String} are converted to, such as {@code int}, {@code UUID} or an enum. A message without a
 * header that is required, or with one that cannot be converted, is dead at once.
 */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface Header {

    /** Name of the header; that of the parameter unless given. */
    String value() default "";

    /** Whether the header must be there. If not, a missing one is null, or empty where the type is {@code Optional}. */
    boolean required() default true;
}
