package io.easykit.cache.annotation;

import io.easykit.cache.CacheSpec;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that changes the data behind an entry: the change is announced before its commit, and the entry is
 * invalidated after its end, whatever that was.
 *
 * <pre>{@code
 * @UpdateCache(prefix = "user", keys = "#user.id")
 * @Transactional
 * public User update(User user) { … }
 * }</pre>
 *
 * <p>If the method itself is {@code @Transactional} and takes part in the present transaction, both belong to that
 * transaction. Otherwise they stand around the method and, inside a transaction, around the end of that transaction too: the
 * work may be committed before. Several annotations name several entries.
 * How long an old value may be returned is said by the {@link Cacheable} of the same prefix.
 */
@Documented
@Repeatable(UpdateCaches.class)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface UpdateCache {

    /**
     * First part of the key, as in {@link Cacheable#prefix()}. The start fails if no {@link Cacheable} and no
     * {@link CacheSpec} bean has this prefix, unless {@code easy-cache.external-prefixes} names it.
     */
    String prefix();

    /**
     * The parts of the key, as many as in {@link Cacheable#keys()}, and over {@code #result}, for an id that the database gives.
     *
     * <p>A key over {@code #result} is known only after the method. In a transaction that is still open it is announced
     * before the commit like any other; without one it is invalidated when the method returns, so a reader that loaded
     * before the change has until then to store what it found.
     */
    String[] keys();

    /** Which Redis. */
    String clusterId() default CacheSpec.DEFAULT_CLUSTER;

    /**
     * SpEL over the parameters, and over {@code #result} if the entry need not be announced before the method; where it
     * is false nothing is invalidated. Empty means always.
     */
    String condition() default "";
}
