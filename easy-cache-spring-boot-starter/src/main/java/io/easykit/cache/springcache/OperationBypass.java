package io.easykit.cache.springcache;

import java.lang.reflect.Method;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CacheOperationSource;
import org.springframework.core.MethodClassKey;

/**
 * Lets a call pass Spring's {@link CacheInterceptor}: the interceptor reads the operations of the method, and finds none. That
 * holds until the call ends, since an aspect in between may repeat it. Calls of other methods are not affected. Calls of the same
 * method inside it pass {@link SpringCacheInterceptor} first, which sets its own.
 */
final class OperationBypass {

    @SuppressWarnings("ThreadLocalUsage") // each application context has its own
    private final ThreadLocal<MethodClassKey> passing = new ThreadLocal<>();

    /** Has to be called before the first call of a cached method. */
    void install(CacheInterceptor interceptor) {
        CacheOperationSource source = interceptor.getCacheOperationSource();
        if (source != null && !(source instanceof Bypassed)) {
            interceptor.setCacheOperationSource(new Bypassed(source));
        }
    }

    /** Lets calls of a method on this thread pass. Returns the previous state, for {@link #restore}. */
    @Nullable MethodClassKey enter(Method method, Class<?> targetClass) {
        MethodClassKey before = passing.get();
        passing.set(new MethodClassKey(method, targetClass));
        return before;
    }

    /** Lets no call pass. Returns the previous state, for {@link #restore}. */
    @Nullable MethodClassKey suspend() {
        MethodClassKey before = passing.get();
        passing.remove();
        return before;
    }

    void restore(@Nullable MethodClassKey before) {
        if (before == null) {
            passing.remove();
        } else {
            passing.set(before);
        }
    }

    private boolean passes(Method method, @Nullable Class<?> targetClass) {
        MethodClassKey expected = passing.get();
        return expected != null && expected.equals(new MethodClassKey(method, targetClass));
    }

    private final class Bypassed implements CacheOperationSource {

        private final CacheOperationSource source;

        Bypassed(CacheOperationSource source) {
            this.source = source;
        }

        @Override
        public boolean isCandidateClass(Class<?> targetClass) {
            return source.isCandidateClass(targetClass);
        }

        @Override
        public boolean hasCacheOperations(Method method, @Nullable Class<?> targetClass) {
            return source.hasCacheOperations(method, targetClass);
        }

        @Override
        public @Nullable Collection<CacheOperation> getCacheOperations(Method method, @Nullable Class<?> targetClass) {
            return passes(method, targetClass) ? null : source.getCacheOperations(method, targetClass);
        }
    }
}
