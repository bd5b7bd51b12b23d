package io.easykit.delayqueue.listener;

import io.easykit.boot.AnnotatedTypes;
import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.MethodScan;
import io.easykit.boot.Problem;
import io.easykit.delayqueue.annotation.DelayListener;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * An annotated method of a bean.
 *
 * @param bean the bean or its proxy; its type if the bean does not exist yet
 * @param targetClass class of the bean without the proxy
 * @param method method of that class
 */
record ListenerMethod(String beanName, Object bean, Class<?> targetClass, Method method) {

    private static final AnnotatedTypes TYPES = new AnnotatedTypes(List.of(DelayListener.class));

    /**
     * Returns the annotated methods of a class, including annotations of interfaces and composed annotations. An inherited method
     * that does not see the annotation of an interface is refused later, by {@link MethodRules#requireAnnotated}.
     *
     * @throws InvalidConfigurationException if they cannot be read: without them a listener would silently receive nothing
     */
    static Map<Method, DelayListener> find(Class<?> type) {
        if (!TYPES.contains(type)) {
            return Map.of();
        }
        try {
            Map<Method, DelayListener> found = new LinkedHashMap<>(MethodIntrospector.selectMethods(
                    type, (MetadataLookup<@Nullable DelayListener>) ListenerMethod::annotation));
            hidden(type)
                    .forEach((declared, running) -> found.put(running, Objects.requireNonNull(annotation(declared))));
            return found;
        } catch (IllegalStateException | LinkageError failure) {
            throw new InvalidConfigurationException(new Problem(
                    "The methods of " + type.getName() + ", which has listeners, cannot be read: "
                            + NestedExceptionUtils.getMostSpecificCause(failure) + ".",
                    "Add the missing class to the class path, or remove the bean."));
        }
    }

    /** Returns annotated methods of interfaces, each with the method that runs, if that has no annotation. */
    static Map<Method, Method> hidden(Class<?> type) {
        Map<Method, Method> hidden = new LinkedHashMap<>(overridden(type));
        hidden.values().removeIf(running -> annotation(running) != null);
        return hidden;
    }

    /** Returns annotated methods of superclasses and interfaces, each with the method that runs instead. */
    static Map<Method, Method> overridden(Class<?> type) {
        return MethodScan.overridden(type, method -> AnnotatedElementUtils.isAnnotated(method, DelayListener.class));
    }

    static @Nullable DelayListener annotation(Method method) {
        return AnnotatedElementUtils.findMergedAnnotation(method, DelayListener.class);
    }

    /** Returns a method of a bean that does not exist yet. */
    static ListenerMethod ofType(String beanName, Class<?> type, Method method) {
        return new ListenerMethod(beanName, type, type, method);
    }

    boolean isOf(String otherName, Object other) {
        return bean == other && beanName.equals(otherName);
    }

    /** Whether the bean does not exist yet. */
    boolean isType() {
        return bean instanceof Class;
    }

    /** Returns the same method on the bean as other beans get it. */
    ListenerMethod on(Object exposed) {
        return targetClass.isAssignableFrom(AopProxyUtils.ultimateTargetClass(exposed))
                ? new ListenerMethod(beanName, exposed, targetClass, method)
                : this;
    }

    /** Returns the class on which the method is called: that of the proxy if the bean has one. */
    Class<?> invokedClass() {
        return bean instanceof Class<?> type ? type : bean.getClass();
    }

    InvalidDelayListenerException problem(String problem, String remedy) {
        return problem(problem, remedy, null);
    }

    InvalidDelayListenerException problem(String problem, String remedy, @Nullable Throwable cause) {
        return new InvalidDelayListenerException(this, problem, remedy, cause);
    }

    /** Returns a description, for example {@code @DelayListener com.shop.Orders.close(CloseOrder) of bean 'orders'}. */
    String describe() {
        String declared =
                ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName) : beanName;
        return "@DelayListener " + targetClass.getName() + "." + signature() + " of bean '" + declared + "'";
    }

    private String signature() {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
