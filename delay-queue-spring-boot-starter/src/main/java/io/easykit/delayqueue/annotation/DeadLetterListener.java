package io.easykit.delayqueue.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Delivers each dead letter of a topic to a method, at least once.
 *
 * <pre>{@code
 * @DeadLetterListener(topic = "order-close")
 * void closingFailed(DeadLetter<CloseOrder> dead) { … }
 * }</pre>
 *
 * <p>The method takes a {@code DeadLetter<T>} in place of the payload, with {@code T} the payload type of the topic. Otherwise it
 * is a {@link DelayListener} of the topic {@code order-close.dead-letters}: with retries, a lease, and dead letters of its own,
 * and with settings under {@code delay-queue.topics[order-close.dead-letters]}. The dead letter itself stays where it is, until
 * it is redriven or purged.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@DelayListener(topic = "", deadLetters = true)
public @interface DeadLetterListener {

    /** Name of the topic whose dead letters are delivered. */
    @AliasFor(annotation = DelayListener.class)
    String topic();

    /** See {@link DelayListener#id}. Defaults to the topic with {@code .dead-letters} behind it. */
    @AliasFor(annotation = DelayListener.class)
    String id() default "";

    /** See {@link DelayListener#concurrency}. */
    @AliasFor(annotation = DelayListener.class)
    String concurrency() default "";

    /** See {@link DelayListener#batchSize}. */
    @AliasFor(annotation = DelayListener.class)
    String batchSize() default "";

    /** See {@link DelayListener#lease}. */
    @AliasFor(annotation = DelayListener.class)
    String lease() default "";

    /** See {@link DelayListener#maxAttempts}. */
    @AliasFor(annotation = DelayListener.class)
    String maxAttempts() default "";

    /** See {@link DelayListener#backOff}. */
    @AliasFor(annotation = DelayListener.class)
    String backOff() default "";

    /** See {@link DelayListener#errorHandler}. */
    @AliasFor(annotation = DelayListener.class)
    String errorHandler() default "";

    /** See {@link DelayListener#idempotent}. A dead letter that is announced twice is the same message. */
    @AliasFor(annotation = DelayListener.class)
    boolean idempotent() default false;
}
