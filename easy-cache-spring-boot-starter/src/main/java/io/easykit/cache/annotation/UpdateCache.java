package io.easykit.cache.annotation;

import io.easykit.cache.CacheSpec;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Invalidates entries when a method changes their data. The keys are marked before the commit and invalidated
 * afterwards, even after a rollback.
 *
 * <pre>{@code
 * @UpdateCache(prefix = "user", keys = "#user.id")
 * @Transactional
 * public User update(User user) { … }
 * }</pre>
 *
 * <p>If the method itself is {@code @Transactional} and joins the present transaction, mark and invalidation belong to
 * that transaction. Otherwise they surround the method and, inside a transaction, also the end of that transaction,
 * because the method may commit its work earlier. Repeat the annotation for several entries. The {@link Cacheable} of
 * the same prefix sets the maximum staleness. Strings may contain placeholders, as in {@link Cacheable}.
 */
@Documented
@Repeatable(UpdateCaches.class)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface UpdateCache {

    /**
     * First part of the key, as in {@link Cacheable#prefix()}, also with {@code {class}}. The start fails if no {@link Cacheable} and no
     * {@link CacheSpec} bean has this prefix, unless it is listed in {@code easy-cache.external-prefixes}.
     */
    String prefix();

    /**
     * The parts of the key, as many as in {@link Cacheable#keys()}. They may use {@code #result}, for example for a
     * generated id.
     *
     * <p>A key over {@code #result} is known only after the method. In an open transaction it is marked before the
     * commit like any other. Without a transaction it is invalidated when the method returns, so until then a reader
     * that loaded earlier may still store the older value.
     */
    String[] keys() default {};

    /**
     * Invalidates all entries of the prefix, however many they are, instead of single ones. Other nodes follow within a probe
     * interval (one second); for a CP cache the call returns two seconds later, when no node returns an older value. A
     * rollback before the commit clears nothing.
     */
    boolean all() default false;

    /**
     * Whether each element of the key is an entry of its own. Then {@link #keys()} is one expression whose value is a
     * collection or an array, for example {@code "#users.![id]"}. All entries are marked before the commit and invalidated
     * after it.
     */
    boolean batch() default false;

    /** Id of the configured Redis that holds the entries; see {@code easy-cache.clusters}. It may be a single server. */
    String clusterId() default CacheSpec.DEFAULT_CLUSTER;

    /**
     * SpEL expression over the parameters, and over {@code #result} if the key need not be marked before the method. If
     * false, nothing is invalidated. Empty means always true.
     */
    String condition() default "";
}
