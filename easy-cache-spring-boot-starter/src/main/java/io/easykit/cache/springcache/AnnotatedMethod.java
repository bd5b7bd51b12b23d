package io.easykit.cache.springcache;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CacheableOperation;

/**
 * A method with Spring's cache annotations: it reads, or it updates.
 *
 * @param style how it returns its result
 */
record AnnotatedMethod(Method method, Class<?> targetClass, List<CacheOperation> operations, CallStyle style) {

    boolean isRead() {
        return operations.get(0) instanceof CacheableOperation;
    }

    static boolean isMixed(Collection<CacheOperation> operations) {
        boolean reads = operations.stream().anyMatch(CacheableOperation.class::isInstance);
        return reads && !operations.stream().allMatch(CacheableOperation.class::isInstance);
    }

    /** Whether an operation is known only after the method has returned. */
    static boolean isKnownAfter(CacheOperation operation) {
        return (operation.getKey() + operation.getCondition()).contains("#result");
    }

    /** What Spring caches of a result: the content of an {@code Optional}. */
    @Nullable Object contentOf(@Nullable Object result) {
        return returnsOptional() && result instanceof Optional<?> optional ? optional.orElse(null) : result;
    }

    @Nullable Object resultOf(@Nullable Object content) {
        return returnsOptional() ? Optional.ofNullable(content) : content;
    }

    private boolean returnsOptional() {
        return method.getReturnType() == Optional.class;
    }
}
