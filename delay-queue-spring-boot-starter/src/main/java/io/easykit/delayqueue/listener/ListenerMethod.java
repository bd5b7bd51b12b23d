package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.annotation.DelayListener;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * An annotated method of a bean.
 *
 * @param bean the bean as others see it, so a proxy where it has one; its type if there is no bean yet
 * @param targetClass the bean's own class
 * @param method of that class
 */
record ListenerMethod(String beanName, Object bean, Class<?> targetClass, Method method) {

    /** The annotated methods of a class, annotations of interfaces and composed annotations included. */
    static Map<Method, DelayListener> find(Class<?> type) {
        return MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<@Nullable DelayListener>)
                method -> AnnotatedElementUtils.findMergedAnnotation(method, DelayListener.class));
    }

    /** A method of which only the type of the bean is known. */
    static ListenerMethod ofType(String beanName, Class<?> type, Method method) {
        return new ListenerMethod(beanName, type, type, method);
    }

    /** The class on which the method is called: that of the proxy, where the bean has one. */
    Class<?> invokedClass() {
        return bean instanceof Class<?> type ? type : bean.getClass();
    }

    InvalidDelayListenerException problem(String problem, String remedy) {
        return problem(problem, remedy, null);
    }

    InvalidDelayListenerException problem(String problem, String remedy, @Nullable Throwable cause) {
        return new InvalidDelayListenerException(this, problem, remedy, cause);
    }

    /** For example {@code @DelayListener com.shop.Orders.close(CloseOrder) of bean 'orders'}. */
    String describe() {
        return "@DelayListener " + targetClass.getName() + "." + signature() + " of bean '" + beanName + "'";
    }

    private String signature() {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
