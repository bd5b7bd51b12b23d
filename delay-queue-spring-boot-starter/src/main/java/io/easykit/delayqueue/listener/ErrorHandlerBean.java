package io.easykit.delayqueue.listener;

import io.easykit.boot.BeanChoice;
import io.easykit.delayqueue.ErrorHandler;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/** Finds the bean that is the error handler of a listener. */
final class ErrorHandlerBean {

    private ErrorHandlerBean() {}

    /**
     * Returns the handler with a name, or the one of all listeners if the name is null. Its bean is requested at the first error,
     * because it may depend on the bean of the listener.
     *
     * @throws InvalidDelayListenerException if no error handler has the name
     */
    static ErrorHandler of(
            ListenerMethod where, @Nullable String name, @Nullable ConfigurableListableBeanFactory beans) {
        if (beans == null) {
            return ErrorHandler.NONE;
        }
        List<String> all = BeanChoice.nearest(beans, ErrorHandler.class).names();
        if (name == null) {
            return all.size() == 1 ? bean(all.get(0), beans) : ErrorHandler.NONE;
        }
        if (!beans.containsBean(name) || !beans.isTypeMatch(name, ErrorHandler.class)) {
            throw where.problem(
                    "its errorHandler is '" + name + "', and "
                            + (beans.containsBean(name)
                                    ? "the bean of that name is no ErrorHandler"
                                    : "there is no bean of that name"),
                    "Give the name of a bean of type " + ErrorHandler.class.getName()
                            + (all.isEmpty() ? "." : ", such as '" + all.get(0) + "'.")
                            + SliceRemedy.of(
                                    beans,
                                    "A slice leaves out classes with @Configuration: name its class in @Import of the"
                                            + " test."));
        }
        return bean(name, beans);
    }

    private static ErrorHandler bean(String name, ConfigurableListableBeanFactory beans) {
        Supplier<ErrorHandler> handler = SingletonSupplier.of(() -> beans.getBean(name, ErrorHandler.class));
        return (message, error) -> handler.get().onError(message, error);
    }
}
