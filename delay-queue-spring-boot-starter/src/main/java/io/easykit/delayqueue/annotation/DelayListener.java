package io.easykit.delayqueue.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Delivers the due messages of a topic to a method, at least once.
 *
 * <pre>{@code
 * @DelayListener(topic = "order-close", concurrency = "8", maxAttempts = "5")
 * void close(CloseOrder command) { … }
 * }</pre>
 *
 * <p>A message is acknowledged when the method returns. The return value is ignored. If the method throws, the message
 * is retried after a delay. After {@link #maxAttempts} failed runs it becomes a dead letter.
 *
 * <p>One parameter takes the payload: of any type that can be read from JSON, generics included, or a
 * {@code DelayMessage<T>} with the payload and the metadata of the message. A method may have both. Further parameters, in any
 * order: parameters with Spring's {@code @Header} or {@code @Headers}, and an {@code Acknowledgment}. With an
 * {@code Acknowledgment} only the method settles its messages, at any time and on any thread. Returning does not acknowledge.
 *
 * <p>Attributes that are strings may contain placeholders ({@code "${close.threads}"}). Durations have a unit, such as
 * {@code "30s"} or {@code "1500ms"}. For an empty attribute the {@code DelayTopic} of the topic applies if it sets it, else the
 * setting {@code delay-queue.defaults.*}. A setting {@code delay-queue.topics.<topic>.*} overrides the attribute. An invalid
 * declaration (a private method, two payload parameters, a concurrency of 0) fails the start of the application.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface DelayListener {

    /** Name of the topic: letters, digits and {@code . _ : / -}. */
    String topic();

    /**
     * Name of the listener in threads, meters and logs. Defaults to the topic. Must be unique in the application. Two
     * listeners of one topic need different ids. They share its messages; each message goes to one of them.
     */
    String id() default "";

    /** Maximum number of calls of the method at a time on this node. */
    String concurrency() default "";

    /**
     * Maximum number of messages of one call, 1 to 100. If set, the only parameter is a {@code List} of payloads or of
     * {@code DelayMessage}s. Messages that the method has not settled are acknowledged when it returns, and fail when
     * it throws.
     */
    String batchSize() default "";

    /**
     * Time for which a delivered message is reserved for this node. Renewed while the method runs: it limits how long
     * the messages of a crashed node wait, not how long the method may take.
     */
    String lease() default "";

    /** Number of failed runs after which a message becomes a dead letter. */
    String maxAttempts() default "";

    /**
     * Number of expired leases, for example of crashed nodes, after which a message becomes a dead letter. The same for
     * all listeners of a topic.
     */
    String maxLeaseExpirations() default "";

    /** Delay after the first failure. */
    String backOff() default "";

    /** Factor from one delay to the next; 1 for a fixed delay. */
    String backOffMultiplier() default "";

    /** Maximum delay. */
    String backOffMax() default "";

    /** Random share of the delay, from 0 to 1. */
    String backOffJitter() default "";

    /** Exceptions, including subclasses, after which a message becomes a dead letter at once. */
    Class<? extends Throwable>[] noRetryFor() default {};

    /**
     * Name of an {@code ErrorHandler} bean, which decides what follows a failed run. Defaults to the only or primary bean of this
     * type, if there is one.
     */
    String errorHandler() default "";

    /**
     * Whether the method runs once for each message, although a message may be delivered more than once. It runs in a database
     * transaction, in which the message is recorded, and is acknowledged after the commit. If an exception leaves the method,
     * both are rolled back. Needs an {@code IdempotencyStore} bean, which a {@code DataSource} brings. Not for batches, and not
     * with an {@code Acknowledgment} parameter.
     */
    boolean idempotent() default false;

    /** Whether the method gets the dead letters of the topic in place of its messages: see {@link DeadLetterListener}. */
    boolean deadLetters() default false;
}
