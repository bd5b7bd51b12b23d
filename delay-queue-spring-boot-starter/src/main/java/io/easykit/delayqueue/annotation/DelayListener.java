package io.easykit.delayqueue.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Delivers the messages of a topic to a method, when they are due, at least once.
 *
 * <pre>{@code
 * @DelayListener(topic = "order-close", concurrency = "8", maxAttempts = "5")
 * void close(CloseOrder command) { … }
 * }</pre>
 *
 * <p>A method that returns has handled the message; what it returns is ignored. One that throws is tried again after a
 * wait, and after {@link #maxAttempts} the message is dead.
 *
 * <p>The method takes the payload as one parameter, of any type that JSON can be read as, generics included; or a
 * {@code DelayMessage<T>}, which has the payload and all that is known of the message; or both. Besides these, in any order:
 * {@link Header} parameters, and an {@code Acknowledgment}. With the latter only the method settles its messages, at any
 * time and on any thread; returning does not.
 *
 * <p>The attributes are texts that may hold placeholders ({@code "${close.threads}"}). Durations are texts such as
 * {@code "30s"} or {@code "1500ms"}. An empty one leaves it to the settings {@code delay-queue.defaults.*}. A setting
 * {@code delay-queue.topics.<topic>.*} wins over the attribute here. What cannot work (a private method, two parameters for
 * the payload, a concurrency of 0 …) fails the start of the application.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface DelayListener {

    /** Where from: letters, digits and {@code . _ : / -}. */
    String topic();

    /**
     * Name of the listener, for its threads, meters and logs; the topic unless given. Each is unique in the application. A
     * second listener of a topic, which needs an id of its own, takes its share of the messages, not a copy of them.
     */
    String id() default "";

    /** Messages handled at a time by this node. */
    String concurrency() default "";

    /**
     * The most messages of one call, 1 to 100. Where it is given, the method's only parameter is a {@code List} of payloads
     * or of {@code DelayMessage}s; returning acknowledges, and throwing fails, all those that the method has not settled
     * itself.
     */
    String batchSize() default "";

    /**
     * For how long a message is this node's. It is renewed while the method runs, so it bounds how long the messages of a
     * dead node wait, not how long the method may take.
     */
    String lease() default "";

    /** Runs that may fail before the message is dead. */
    String maxAttempts() default "";

    /** Leases that a message may lose, as when its node dies, before it is dead; the same for all listeners of a topic. */
    String maxLost() default "";

    /** Wait after the first failure. */
    String backOff() default "";

    /** Factor from one wait to the next; 1 for a fixed wait. */
    String backOffMultiplier() default "";

    /** The longest wait. */
    String backOffMax() default "";

    /** Share of the wait that is random, from 0 to 1. */
    String backOffJitter() default "";

    /** Exceptions, subclasses included, after which a message is dead at once. */
    Class<? extends Throwable>[] noRetryFor() default {};
}
