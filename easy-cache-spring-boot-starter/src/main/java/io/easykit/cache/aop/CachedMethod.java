package io.easykit.cache.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * The place of an annotation.
 *
 * @param targetClass class of the bean
 * @param method the method that runs
 * @param declaring the method with the annotation: the same, or one that it overrides or implements
 */
record CachedMethod(Class<?> targetClass, Method method, Method declaring, Class<? extends Annotation> annotation) {

    InvalidCacheDeclarationException problem(String problem, String remedy) {
        return problem(problem, remedy, null);
    }

    InvalidCacheDeclarationException problem(String problem, String remedy, @Nullable Throwable cause) {
        return new InvalidCacheDeclarationException(this, problem, remedy, cause);
    }

    /** Returns for example {@code @Cacheable com.shop.Products.find(long)}. */
    String describe() {
        return "@" + annotation.getSimpleName() + " " + targetClass.getName() + "." + signature();
    }

    /** Returns for example {@code Products.find(long)}. */
    String shortName() {
        return ClassUtils.getShortName(targetClass) + "." + signature();
    }

    private String signature() {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
