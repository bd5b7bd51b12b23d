package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DelayQueueException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A listener that cannot work as it stands. Says which bean and method, what is wrong, and what to do about it. */
public final class InvalidDelayListenerException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String beanName;
    private final transient Method method;
    private final String problem;
    private final String remedy;
    private final transient List<InvalidDelayListenerException> others;

    InvalidDelayListenerException(ListenerMethod where, String problem, String remedy, @Nullable Throwable cause) {
        super(where.describe() + ": " + problem + ". " + remedy, cause);
        this.others = List.of();
        this.beanName = where.beanName();
        this.method = where.method();
        this.problem = where.describe() + ": " + problem + ".";
        this.remedy = remedy;
    }

    private InvalidDelayListenerException(
            InvalidDelayListenerException first, List<InvalidDelayListenerException> others) {
        super(
                first.getMessage()
                        + others.stream().map(Throwable::getMessage).collect(Collectors.joining("; ", "; ", "")),
                first.getCause());
        this.beanName = first.beanName;
        this.method = first.method;
        this.problem = first.problem;
        this.remedy = first.remedy;
        this.others = List.copyOf(others);
    }

    /** One exception for all of them. */
    static InvalidDelayListenerException of(List<InvalidDelayListenerException> all) {
        InvalidDelayListenerException first = all.get(0);
        return all.size() == 1 ? first : new InvalidDelayListenerException(first, all.subList(1, all.size()));
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

    /** Other listeners of the same start that cannot work. */
    public List<InvalidDelayListenerException> others() {
        return others;
    }
}
