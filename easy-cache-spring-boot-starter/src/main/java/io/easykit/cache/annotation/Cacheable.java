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
 * Caches what a method returns: a call is answered from the cache, or by the method, whose value is then stored.
 *
 * <pre>{@code
 * @Cacheable(prefix = "user", keys = "#userId")
 * public User getUserById(Long userId) { … }
 * }</pre>
 *
 * <p>The method may run on another thread, where a value is renewed before it expires. What cannot work (an unknown
 * {@code #name}, a stream as value, a final method …) fails the start of the application.
 *
 * <p>Durations are texts such as {@code "10m"} or {@code "1500ms"}; empty leaves them to the settings
 * {@code easy-cache.defaults.*}. A setting {@code easy-cache.caches.<prefix>.*} wins over the attribute here. Texts may
 * hold placeholders ({@code "${user.ttl}"}).
 *
 * @see UpdateCache
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Cacheable {

    /**
     * First part of every key. Methods with the same prefix share their entries. In a class or interface that others
     * extend, {@code {class}} stands for the simple name of the concrete one: {@code "{class}.byId"}.
     */
    String prefix();

    /**
     * The parts of the key, each a SpEL expression over the parameters: {@code "#id"}, {@code {"#tenant", "#user.id"}}.
     * Different parts never give the same key; a part that is null is an error.
     *
     * <p>Besides {@code #name}: {@code #p0}, {@code #a0}, {@code #root.args}, {@code #root.method},
     * {@code #root.target}, {@code #root.targetClass}, {@code @bean}.
     */
    String[] keys();

    /** Which Redis. */
    String clusterId() default CacheSpec.DEFAULT_CLUSTER;

    /**
     * What a read may return around an update. {@link Consistency#AP} counts as not set: {@code
     * easy-cache.defaults.consistency} can make all caches strong.
     */
    Consistency consistency() default Consistency.AP;

    /** Life of a value. */
    String ttl() default "";

    /** Life of "there is nothing": null, or an empty {@code Optional}. */
    String nullTtl() default "";

    /** By which part of it (0 to 0.5) a life is shortened at random; negative leaves it to the settings. */
    double ttlJitter() default -1;

    /**
     * For how long after an update a reader may still be given the old value, under {@link Consistency#AP};
     * {@code "0s"} makes the entry strong at the moment of the update.
     */
    String staleWindow() default "";

    /** The last part of the life in which one reader reloads in the background. */
    String refreshAhead() default "";

    /**
     * Where a value is loaded again while an older one may still be returned. {@link Reload#BACKGROUND} counts as not set,
     * and is {@link Reload#CALLER} for calls whose arguments can neither be copied nor are immutable. Choose
     * {@link Reload#CALLER} for a method that depends on state of the calling thread, unless that state is propagated by a
     * {@code TaskDecorator} or by Micrometer's context propagation.
     */
    Reload reload() default Reload.BACKGROUND;

    /** SpEL over the parameters; where it is false the cache is left out of the call. Empty means always. */
    String condition() default "";

    /**
     * SpEL over the parameters and {@code #result}, which is the content where that is an {@code Optional}; where it is
     * true a loaded value is not stored. Empty means never.
     */
    String unless() default "";
}
