package io.easykit.cache.annotation;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.Reload;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Caches the return value of a method. On a hit the cached value is returned; on a miss the method runs and its value
 * is stored.
 *
 * <pre>{@code
 * @Cacheable(prefix = "user", keys = "#userId")
 * public User getUserById(Long userId) { … }
 * }</pre>
 *
 * <p>The method may run on another thread when a value is refreshed before it expires. An invalid declaration (an
 * unknown {@code #name}, a stream as value, a final method) fails the start of the application.
 *
 * <p>Durations are strings such as {@code "10m"} or {@code "1500ms"}. For an empty one the setting
 * {@code easy-cache.defaults.*} applies. A setting {@code easy-cache.caches.<prefix>.*} overrides the attribute.
 * Strings may contain placeholders ({@code "${user.ttl}"}), also those of expressions ({@code "'${app.region}'"}).
 *
 * @see UpdateCache
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Cacheable {

    /**
     * First part of every key. Methods with the same prefix share their entries. In a class or interface with several
     * subclasses, {@code {class}} is replaced with the simple name of the concrete class, whose first letter becomes lower
     * case: {@code "{class}.byId"} is {@code cityService.byId} for a {@code CityService}. Settings and updates name that
     * prefix.
     */
    String prefix();

    /**
     * The parts of the key, each a SpEL expression over the parameters: {@code "#id"}, {@code {"#tenant", "#user.id"}}.
     * Different parts never result in the same key. A null part is an error.
     *
     * <p>Available besides {@code #name}: {@code #p0}, {@code #a0}, {@code #root.args}, {@code #root.method},
     * {@code #root.target}, {@code #root.targetClass}, {@code @bean}. A parameter {@code p1} that is not the second one cannot be
     * used by that name.
     */
    String[] keys();

    /**
     * Whether each element of the key is an entry of its own. Then {@link #keys()} names one parameter, which is a
     * {@code Collection}, {@code List}, {@code Set} or array, and the method returns a {@code Map} from element to value,
     * or a {@code List} of values in the order of the elements with null for none. It is called with the elements that
     * are not cached. An element that it leaves out of the map is cached as absent.
     *
     * <pre>{@code
     * @Cacheable(prefix = "user", keys = "#ids", batch = true)
     * public Map<Long, User> findAll(Collection<Long> ids) { … }
     * }</pre>
     */
    boolean batch() default false;

    /** Id of the configured Redis that holds the entries; see {@code easy-cache.clusters}. It may be a single server. */
    String clusterId() default CacheSpec.DEFAULT_CLUSTER;

    /**
     * Consistency of reads during and after an update. {@link Consistency#AP} counts as not set, so
     * {@code easy-cache.defaults.consistency} can make all caches strongly consistent.
     */
    Consistency consistency() default Consistency.AP;

    /**
     * TTL of a value: a duration, or a SpEL expression over {@code #result} (the content of an {@code Optional}, one element of
     * a batch) by which each value decides its own: {@code "#result.validFor"}. The expression returns a
     * {@code Duration}, a number of milliseconds, a text such as {@code "10m"}, or null for the TTL of the cache. That one
     * comes from the settings, and a longer TTL is cut to it. A value with a TTL of zero or less is not stored.
     */
    String ttl() default "";

    /** TTL of an absent value: null, or an empty {@code Optional}. */
    String nullTtl() default "";

    /** Share of the TTL, 0 to 0.5, by which it is shortened at random. For a negative value the settings apply. */
    double ttlJitter() default -1;

    /**
     * Maximum time after an update during which readers may get the stale value, under {@link Consistency#AP}.
     * {@code "0s"} never returns a stale value.
     */
    String staleWindow() default "";

    /** Time before the expiry during which one reader refreshes the value in the background. */
    String refreshAhead() default "";

    /**
     * Maximum time for which a value is kept in this JVM and returned without a read of Redis, under {@link Consistency#AP}.
     * Updates of other nodes are missed for at most this time. {@code "0s"} keeps nothing.
     */
    String nearTtl() default "";

    /**
     * Time after the end of its TTL for which a value may still be returned if the method throws an exception, under
     * {@link Consistency#AP}. A value that was invalidated is never returned. {@code "0s"} throws the exception.
     */
    String staleOnError() default "";

    /**
     * Exceptions of the method that always reach the caller, with their subclasses: answers such as "not found". Without
     * {@link #staleOnError()} all do.
     */
    Class<? extends Throwable>[] staleOnErrorExcept() default {};

    /**
     * Maximum time to wait for the method before an expired value is returned, while the method goes on in the background. Needs
     * {@link #staleOnError()}. Does not apply to calls that cannot run in the background. {@code "0s"} waits for the method.
     */
    String loadSoftTimeout() default "";

    /**
     * Thread on which a value is reloaded while the older one may still be returned. {@link Reload#BACKGROUND} counts
     * as not set. It falls back to {@link Reload#CALLER} for calls whose arguments are neither immutable nor can be
     * copied. Choose {@link Reload#CALLER} for a method that depends on state of the calling thread, unless a
     * {@code TaskDecorator} or Micrometer's context propagation propagates that state.
     */
    Reload reload() default Reload.BACKGROUND;

    /** SpEL expression over the parameters. If false, the call bypasses the cache. Empty means always true. */
    String condition() default "";

    /**
     * SpEL expression over the parameters and {@code #result}, which is the content of an {@code Optional}. If true, a
     * loaded value is not stored. Empty means always false.
     */
    String unless() default "";
}
