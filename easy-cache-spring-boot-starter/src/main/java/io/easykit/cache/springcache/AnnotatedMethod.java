package io.easykit.cache.springcache;

import io.easykit.cache.aop.SpringDeclarations;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CacheableOperation;

/**
 * A method with Spring's cache annotations: it reads, or it updates.
 *
 * @param style how it returns its result
 */
record AnnotatedMethod(Method method, Class<?> targetClass, List<CacheOperation> operations, CallStyle style) {

    private static final Pattern RESULT = Pattern.compile("#result\\b");

    boolean isRead() {
        return operations.get(0) instanceof CacheableOperation;
    }

    static boolean isMixed(Collection<CacheOperation> operations) {
        boolean reads = operations.stream().anyMatch(CacheableOperation.class::isInstance);
        return reads && !operations.stream().allMatch(CacheableOperation.class::isInstance);
    }

    /** Whether a key is known only after the method has returned. */
    static boolean hasLateKey(CacheOperation operation) {
        return RESULT.matcher(operation.getKey()).find();
    }

    /** Whether a condition is known only after the method has returned. Until then it counts as true. */
    static boolean hasLateCondition(CacheOperation operation) {
        return RESULT.matcher(operation.getCondition()).find();
    }

    /** What Spring caches of a result: the content of an {@code Optional}. */
    @Nullable Object contentOf(@Nullable Object result) {
        return returnsOptional() && result instanceof Optional<?> optional ? optional.orElse(null) : result;
    }

    @Nullable Object resultOf(@Nullable Object content) {
        return returnsOptional() ? Optional.ofNullable(content) : content;
    }

    private boolean returnsOptional() {
        return SpringDeclarations.returnType(method, targetClass).resolve() == Optional.class;
    }
}
