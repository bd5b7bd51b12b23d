package io.easykit.cache.aop;

import io.easykit.boot.MethodScan;
import io.easykit.boot.ValueHints;
import io.easykit.cache.style.ReturnedValue;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.cache.annotation.AnnotationCacheOperationSource;
import org.springframework.cache.interceptor.CacheOperationSource;
import org.springframework.core.ResolvableType;

/**
 * Hints for native images about annotated methods: the types of their values, and those of their parameters, whose properties
 * are parts of keys. The type of a {@code CacheSpec} bean is unknown to it.
 */
final class CachedMethodHints implements BeanRegistrationAotProcessor {

    /** Methods with Spring's annotations, also with those of their class. */
    private static final CacheOperationSource SPRINGS_OWN = new AnnotationCacheOperationSource(false);

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ValueHints.typeOf(bean);
        Set<Method> methods = MethodScan.filter(
                type,
                method -> CacheAnnotations.isAnnotated(method, type) || SPRINGS_OWN.hasCacheOperations(method, type));
        return methods.isEmpty()
                ? null
                : (context, code) -> methods.forEach(method -> register(context.getRuntimeHints(), method, type));
    }

    private static void register(RuntimeHints hints, Method method, Class<?> type) {
        ValueHints values = new ValueHints(hints);
        values.add(ReturnedValue.of(method, type).arrived());
        IntStream.range(0, method.getParameterCount())
                .forEach(i -> values.add(ResolvableType.forMethodParameter(method, i, type)));
    }
}
