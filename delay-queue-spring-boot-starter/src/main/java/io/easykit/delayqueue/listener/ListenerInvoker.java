package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.MessageHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Calls the method of a listener. */
final class ListenerInvoker implements MessageHandler<Object>, MessageHandler.Batch<Object> {

    private final Object bean;
    private final Method method;
    private final ListenerSignature signature;

    ListenerInvoker(Object bean, Method method, ListenerSignature signature) {
        this.bean = bean;
        this.method = method;
        this.signature = signature;
    }

    @Override
    public void handle(DelayMessage<Object> message) throws Exception {
        Object[] arguments;
        try {
            arguments = signature.arguments().stream()
                    .map(argument -> argument.of(message))
                    .toArray();
        } catch (InvalidHeaderException e) {
            message.acknowledgment().fail(e);
            return;
        }
        invoke(arguments);
    }

    @Override
    public void handle(List<DelayMessage<Object>> messages) throws Exception {
        ListenerSignature.Argument element = signature.arguments().get(0);
        invoke(messages.stream().map(element::of).toList());
    }

    private void invoke(@Nullable Object... arguments) throws Exception {
        try {
            method.invoke(bean, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}
