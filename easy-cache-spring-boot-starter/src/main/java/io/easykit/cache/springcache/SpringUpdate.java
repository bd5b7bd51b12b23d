package io.easykit.cache.springcache;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.springcache.CallStyle.Awaiter;
import io.easykit.cache.springcache.OperationEvaluator.Evaluation;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cache.Cache;
import org.springframework.cache.interceptor.CacheEvictOperation;
import org.springframework.cache.interceptor.CacheOperation;

/**
 * A call of a method with {@code @CacheEvict} or {@code @CachePut}: an update of its entries, prepared before the method and
 * invalidated after it, whatever its end. Inside a transaction it belongs to that one too.
 *
 * <p>{@code @CachePut} stores nothing. Its value was read before the commit, and another update may have overtaken it.
 *
 * <p>Keys are computed before the method and once more after it. Those that differ, or that only the result names, are invalidated
 * after it.
 */
final class SpringUpdate {

    private static final Logger log = LoggerFactory.getLogger(SpringUpdate.class);

    private final AdapterParts parts;
    private final OperationEvaluator evaluator;
    private final PassedCall call;
    private final boolean joins;

    /** @param joins whether the method declares that it works in the present transaction */
    SpringUpdate(AdapterParts parts, OperationEvaluator evaluator, PassedCall call, boolean joins) {
        this.parts = parts;
        this.evaluator = evaluator;
        this.call = call;
        this.joins = joins;
    }

    @Nullable Object run(List<Evaluation> evaluations) throws Throwable {
        Set<CacheKey<?>> eager = new LinkedHashSet<>();
        Set<CacheKey<?>> before = new LinkedHashSet<>();
        for (Evaluation evaluation : evaluations) {
            addBefore(evaluation, isBeforeInvocation(evaluation.getOperation()) ? eager : before);
        }
        before.addAll(eager);
        return call.method().style().run(awaiter -> update(List.copyOf(before), List.copyOf(eager), awaiter));
    }

    private @Nullable Object update(List<CacheKey<?>> before, List<CacheKey<?>> eager, Awaiter awaiter)
            throws Throwable {
        EasyCache cache = parts.cache();
        Action<Object, Throwable> action = () -> {
            if (!eager.isEmpty()) {
                cache.invalidate(eager);
            }
            Object content = call.content(awaiter);
            invalidateOthers(before, content);
            return call.method().resultOf(content);
        };
        if (before.isEmpty()) {
            return action.run();
        }
        return joins ? cache.updateInTransaction(before, action) : cache.update(before, action);
    }

    /** A key that cannot be computed yet is left to the time after the method. A CP cache must not wait for it. */
    private void addBefore(Evaluation evaluation, Set<CacheKey<?>> keys) {
        if (AnnotatedMethod.isKnownAfter(evaluation.getOperation())) {
            return;
        }
        RuntimeException problem = null;
        try {
            if (!evaluation.applies(null) || add(evaluation, null, keys)) {
                return;
            }
        } catch (InvalidCacheKeyException unfit) {
            throw unfit;
        } catch (RuntimeException unknown) {
            log.debug("A key of {} is not known before the method", evaluation.getOperation(), unknown);
            problem = unknown;
        }
        for (Cache cache : evaluation.caches()) {
            requireWeak((SpringCache) cache, problem);
        }
    }

    private void requireWeak(SpringCache cache, @Nullable RuntimeException problem) {
        if (cache.spec().options().consistency() == Consistency.CP) {
            throw new InvalidCacheCallException(
                    cache.getName(),
                    "The update of the CP cache '" + cache.getName() + "' is refused: "
                            + call.call().method()
                            + " has no key before it runs, so no entry can be prepared before the commit. The method has not"
                            + " run. Compute key and condition from parameters that are set then, or use EasyCache.update.",
                    problem);
        }
    }

    /** Returns false if there is no key. */
    private static boolean add(Evaluation evaluation, @Nullable Object content, Set<CacheKey<?>> keys) {
        if (evaluation.getOperation() instanceof CacheEvictOperation evict && evict.isCacheWide()) {
            evaluation
                    .caches()
                    .forEach(cache -> keys.add(((SpringCache) cache).spec().all()));
            return true;
        }
        Object key = evaluation.key(content);
        if (key == null) {
            return false;
        }
        evaluation.caches().forEach(cache -> keys.add(((SpringCache) cache).key(key)));
        return true;
    }

    private static boolean isBeforeInvocation(CacheOperation operation) {
        return operation instanceof CacheEvictOperation evict && evict.isBeforeInvocation();
    }

    /** The data have changed already, so an entry without a key must not prevent the invalidation of the others. */
    private void invalidateOthers(List<CacheKey<?>> before, @Nullable Object content) {
        Set<CacheKey<?>> after = new LinkedHashSet<>();
        RuntimeException problem = null;
        for (Evaluation evaluation : evaluator.evaluate(call.method().operations(), call.call())) {
            try {
                if (!isBeforeInvocation(evaluation.getOperation())
                        && evaluation.applies(content)
                        && !add(evaluation, content, after)) {
                    problem = new InvalidCacheKeyException(
                            "The key of " + evaluation.getOperation()
                                    + " is null after the method, so nothing is invalidated. Set a condition, or correct the key.");
                }
            } catch (RuntimeException failure) {
                problem = failure;
            }
        }
        before.forEach(after::remove);
        parts.updates().invalidate(new ArrayList<>(after));
        if (problem != null) {
            throw problem;
        }
    }
}
