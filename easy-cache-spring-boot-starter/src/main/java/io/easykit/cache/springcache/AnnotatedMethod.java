package io.easykit.cache.springcache;

import io.easykit.cache.style.CallStyle;
import io.easykit.cache.style.ReturnedValue;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CacheableOperation;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;

/**
 * A method with Spring's cache annotations: it reads, or it updates.
 *
 * @param style how it returns its result
 */
record AnnotatedMethod(
        Method method, Class<?> targetClass, List<CacheOperation> operations, ReturnedValue returned, CallStyle style) {

    private static final String RESULT = "result";
    private static final Pattern RESULT_VARIABLE = Pattern.compile("#" + RESULT + "\\b");
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    boolean isRead() {
        return operations.get(0) instanceof CacheableOperation;
    }

    static boolean isMixed(Collection<CacheOperation> operations) {
        boolean reads = operations.stream().anyMatch(CacheableOperation.class::isInstance);
        return reads && !operations.stream().allMatch(CacheableOperation.class::isInstance);
    }

    boolean hasLateKey(CacheOperation operation) {
        return hasLateKey(operation, method);
    }

    boolean hasLateCondition(CacheOperation operation) {
        return hasLateCondition(operation, method);
    }

    /** Whether a key is known only after the method has returned. */
    static boolean hasLateKey(CacheOperation operation, Method method) {
        return usesResult(operation.getKey(), method);
    }

    /** Whether a condition is known only after the method has returned. Until then it counts as true. */
    static boolean hasLateCondition(CacheOperation operation, Method method) {
        return usesResult(operation.getCondition(), method);
    }

    private static boolean usesResult(String expression, Method method) {
        return RESULT_VARIABLE.matcher(expression).find() && !isParameter(method);
    }

    /** In a method without a result the variable is the parameter of that name. */
    private static boolean isParameter(Method method) {
        String[] names = method.getReturnType() == void.class ? NAMES.getParameterNames(method) : null;
        return names != null && List.of(names).contains(RESULT);
    }

    /** Returns the cached part of a result: the content of an {@code Optional}, otherwise the result itself. */
    @Nullable Object contentOf(@Nullable Object result) {
        return returned.isOptional() && result instanceof Optional<?> optional ? optional.orElse(null) : result;
    }

    @Nullable Object resultOf(@Nullable Object content) {
        return returned.isOptional() ? Optional.ofNullable(content) : content;
    }
}
