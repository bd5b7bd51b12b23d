package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DelayQueueException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** A listener that cannot work as it stands. Says which bean and method, what is wrong, and what to do about it. */
public final class InvalidDelayListenerException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String beanName;
    private final transient Method method;
    private final String problem;
    private final String remedy;

    InvalidDelayListenerException(ListenerMethod where, String problem, String remedy, @Nullable Throwable cause) {
        super(where.describe() + ": " + problem + ". " + remedy, cause);
        this.beanName = where.beanName();
        this.method = where.method();
        this.problem = where.describe() + ": " + problem + ".";
        this.remedy = remedy;
    }

    public String beanName() {
        return beanName;
    }

    public Method method() {
        return method;
    }

    /** The bean, the method, and what is wrong. */
    public String problem() {
        return problem;
    }

    public String remedy() {
        return remedy;
    }
}
