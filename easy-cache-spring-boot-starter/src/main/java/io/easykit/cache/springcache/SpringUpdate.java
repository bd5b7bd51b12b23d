package io.easykit.cache.springcache;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.aop.ArgumentCopies;
import io.easykit.cache.springcache.OperationEvaluator.Evaluation;
import io.easykit.cache.style.CallStyle.Awaiter;
import io.easykit.cache.style.CallersKeys;
import io.easykit.cache.style.LateKeys;
import io.easykit.cache.style.RefusedUpdates;
import java.util.Collection;
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
 * invalidated after it, also after an exception. Inside a transaction it belongs to that one too.
 *
 * <p>{@code @CachePut} stores nothing. Its value was read before the commit, and another update may have overtaken it.
 *
 * <p>Keys are computed before the method and once more after it. Those that differ, or that only the result names, are invalidated
 * after it. A condition over the result counts as true before the method.
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
        Keys first = keysBefore(evaluations);
        if (first.anyCache == null && call.method().returned().isLater()) {
            return call.proceed();
        }
        CallersKeys callers = new CallersKeys(
                first.before,
                call.call().method(),
                ArgumentCopies.mayChange(call.arguments().original().getArguments()));
        return call.method().style().run(place -> {
            Keys keys = new Keys();
            keys.addAll(first);
            if (place.isElsewhere()) {
                callers.pass(() -> {
                    Keys now = keysBefore(evaluator.evaluate(call.method().operations(), call.call()));
                    keys.addAll(now);
                    return now.before;
                });
            }
            if (place.isInTransaction() && keys.anyCache != null) {
                throw inTransaction(keys.anyCache);
            }
            return update(List.copyOf(keys.before), List.copyOf(keys.eager), place.update());
        });
    }

    /** Keys that are known before the method. */
    private static final class Keys {

        private final Set<CacheKey<?>> before = new LinkedHashSet<>();

        /** Keys that are also invalidated before the method. */
        private final Set<CacheKey<?>> eager = new LinkedHashSet<>();

        /** Name of a cache that is or may be updated; null if there is none. */
        private @Nullable String anyCache;

        void addAll(Keys others) {
            before.addAll(others.before);
            eager.addAll(others.eager);
            anyCache = others.anyCache == null ? anyCache : others.anyCache;
        }
    }

    private Keys keysBefore(List<Evaluation> evaluations) {
        Keys keys = new Keys();
        for (Evaluation evaluation : evaluations) {
            if (addBefore(evaluation, keys)) {
                keys.anyCache = evaluation.caches().iterator().next().getName();
            }
        }
        keys.before.addAll(keys.eager);
        return keys;
    }

    private InvalidCacheCallException inTransaction(String cacheName) {
        return RefusedUpdates.inReactiveTransaction(
                cacheName, "the cache '" + cacheName + "'", call.call().method());
    }

    /** A serial cache begins no transaction for a result that comes later: the method may work on other threads. */
    private @Nullable Object update(List<CacheKey<?>> before, List<CacheKey<?>> eager, Awaiter awaiter)
            throws Throwable {
        EasyCache cache = parts.cache();
        Action<Object, Throwable> action = () -> {
            if (!eager.isEmpty()) {
                cache.invalidate(eager);
            }
            Object content = content(before, awaiter);
            invalidateOthers(before, content, true);
            return call.method().resultOf(content);
        };
        if (before.isEmpty()) {
            return action.run();
        }
        return joins || call.method().returned().isLater()
                ? cache.updateInTransaction(before, action)
                : cache.update(before, action);
    }

    /** The data may have changed although the method fails, as with an exception after the commit. */
    private @Nullable Object content(List<CacheKey<?>> before, Awaiter awaiter) throws Throwable {
        try {
            return call.content(awaiter);
        } catch (Throwable failure) {
            try {
                invalidateOthers(before, null, false);
            } catch (Throwable also) {
                log.debug(
                        "The keys of {} were not all invalidated in time after its failure",
                        call.call().method(),
                        also);
                if (also != failure) {
                    failure.addSuppressed(also);
                }
            }
            throw failure;
        }
    }

    /**
     * Adds the key of an operation. One that cannot be computed yet is left to the time after the method, which a CP cache or a
     * serial one must not wait for.
     *
     * @return false if the operation does not apply
     */
    private boolean addBefore(Evaluation evaluation, Keys keys) {
        CacheOperation operation = evaluation.getOperation();
        boolean early = isBeforeInvocation(operation);
        RuntimeException problem = null;
        try {
            if (!call.method().hasLateCondition(operation) && !evaluation.applies(null)) {
                return false;
            }
            boolean known = early || !call.method().hasLateKey(operation);
            if (known && add(evaluation, null, early ? keys.eager : keys.before)) {
                return true;
            }
        } catch (InvalidCacheKeyException unfit) {
            throw unfit;
        } catch (RuntimeException unknown) {
            if (early) {
                throw unknown;
            }
            log.debug("A key of {} is not known before the method", operation, unknown);
            problem = unknown;
        }
        if (early) {
            throw new InvalidCacheKeyException("The key of " + operation + " is null in a call of "
                    + call.call().method()
                    + ", so nothing can be invalidated before it. The method has not run. Set a condition, or correct"
                    + " the key.");
        }
        for (Cache cache : evaluation.caches()) {
            requireNoPreparation((SpringCache) cache, problem);
        }
        return true;
    }

    private void requireNoPreparation(SpringCache cache, @Nullable RuntimeException problem) {
        CacheOptions options = cache.spec().options();
        boolean strong = options.consistency() == Consistency.CP;
        if (strong || options.serial() != null) {
            throw new InvalidCacheCallException(
                    cache.getName(),
                    "The update of the " + (strong ? "CP" : "serial") + " cache '" + cache.getName() + "' is refused: "
                            + call.call().method() + " has no key before it runs, so "
                            + (strong ? "no entry can be prepared before the commit" : "it cannot wait for its turn")
                            + ". The method has not run. Compute key and condition from parameters that are set then, or"
                            + " use EasyCache.update.",
                    problem);
        }
    }

    /** Returns false if there is no key. */
    private static boolean add(Evaluation evaluation, @Nullable Object content, Collection<CacheKey<?>> keys) {
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

    /** @param returned whether there is a result */
    private void invalidateOthers(List<CacheKey<?>> before, @Nullable Object content, boolean returned)
            throws Throwable {
        LateKeys late = new LateKeys();
        for (Evaluation evaluation : evaluator.evaluate(call.method().operations(), call.call())) {
            late.add(keys -> addAfter(evaluation, content, returned, keys));
        }
        late.remove(before);
        late.invalidate(parts.updates()::invalidate);
    }

    private void addAfter(Evaluation evaluation, @Nullable Object content, boolean returned, List<CacheKey<?>> keys) {
        CacheOperation operation = evaluation.getOperation();
        boolean applies =
                mayAddAfter(operation, returned) && (mustAddAfter(operation, returned) || evaluation.applies(content));
        if (applies && !add(evaluation, content, keys)) {
            throw new InvalidCacheKeyException("The key of " + operation
                    + " is null after the method, so nothing is invalidated."
                    + " Set a condition, or correct the key.");
        }
    }

    private boolean mayAddAfter(CacheOperation operation, boolean returned) {
        return !isBeforeInvocation(operation) && (returned || !call.method().hasLateKey(operation));
    }

    /** Whether the condition needs a result that does not exist. */
    private boolean mustAddAfter(CacheOperation operation, boolean returned) {
        return !returned && call.method().hasLateCondition(operation);
    }
}
