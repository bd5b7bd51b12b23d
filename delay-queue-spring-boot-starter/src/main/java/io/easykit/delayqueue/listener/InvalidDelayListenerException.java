package io.easykit.delayqueue.listener;

import io.easykit.boot.Explained;
import io.easykit.boot.Problem;
import io.easykit.delayqueue.DelayQueueException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A listener that is declared wrongly. The message names the bean and the method, the mistake, and the remedy. */
public final class InvalidDelayListenerException extends DelayQueueException implements Explained {

    private static final long serialVersionUID = 1L;

    private final String beanName;
    private final transient Method method;
    private final transient Problem problem;

    InvalidDelayListenerException(ListenerMethod where, String problem, String remedy, @Nullable Throwable cause) {
        super(where.describe() + ": " + problem + ". " + remedy, cause);
        this.beanName = where.beanName();
        this.method = where.method();
        this.problem = new Problem(where.describe() + ": " + problem + ".", remedy);
    }

    public String beanName() {
        return beanName;
    }

    public Method method() {
        return method;
    }

    @Override
    public List<Problem> problems() {
        return List.of(problem);
    }
}
