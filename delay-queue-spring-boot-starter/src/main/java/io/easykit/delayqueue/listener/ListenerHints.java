package io.easykit.delayqueue.listener;

import io.easykit.boot.ValueHints;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** Hints for native images about listeners: their methods, and the types of their payloads. */
final class ListenerHints implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ValueHints.typeOf(bean);
        if (!DelayListenerBeanPostProcessor.hasListeners(type)) {
            return null;
        }
        Set<Method> methods = ListenerMethod.find(type).keySet();
        return (context, code) -> methods.forEach(method -> register(context.getRuntimeHints(), method, type));
    }

    private static void register(RuntimeHints hints, Method method, Class<?> type) {
        // A proxy of the bean may implement its interfaces only.
        Stream.concat(Stream.of(type), Stream.of(ClassUtils.getAllInterfacesForClass(type)))
                .map(owner -> ClassUtils.getMethodIfAvailable(owner, method.getName(), method.getParameterTypes()))
                .filter(found -> found != null)
                .forEach(found -> hints.reflection().registerMethod(found, ExecutableMode.INVOKE));
        hints.reflection().registerMethod(method, ExecutableMode.INVOKE);
        ValueHints payloads = new ValueHints(hints);
        IntStream.range(0, method.getParameterCount())
                .forEach(i -> payloads.add(ResolvableType.forMethodParameter(method, i, type)));
    }
}
