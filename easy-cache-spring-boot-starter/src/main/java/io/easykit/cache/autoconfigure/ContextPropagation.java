package io.easykit.cache.autoconfigure;

import io.easykit.cache.async.AwaitedTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.CompositeTaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.util.ClassUtils;

/** Combines the decorators that propagate the caller's context to a background load. */
final class ContextPropagation {

    private static final boolean MICROMETER =
            ClassUtils.isPresent("io.micrometer.context.ContextSnapshot", ContextPropagation.class.getClassLoader());

    private ContextPropagation() {}

    /** Returns all decorators of the application in their order, and Micrometer's context propagation if present. */
    static TaskDecorator with(Stream<TaskDecorator> decorators) {
        List<TaskDecorator> all = new ArrayList<>(decorators.toList());
        if (MICROMETER && all.stream().noneMatch(ContextPropagatingTaskDecorator.class::isInstance)) {
            all.add(0, new ContextPropagatingTaskDecorator());
        }
        TaskDecorator decorator = new CompositeTaskDecorator(all);
        return task -> task instanceof AwaitedTask awaited ? inContext(awaited, decorator) : decorator.decorate(task);
    }

    /** The task may run several times, also at the same time. */
    private static Runnable inContext(AwaitedTask task, TaskDecorator decorator) {
        Set<Thread> begun = ConcurrentHashMap.newKeySet();
        Runnable decorated = decorator.decorate(() -> {
            begun.add(Thread.currentThread());
            task.run();
        });
        return () -> {
            try {
                decorated.run();
            } catch (RuntimeException | Error failure) {
                if (begun.contains(Thread.currentThread())) {
                    throw failure;
                }
                task.cannotRun(AwaitedTask.withoutContext(failure));
            } finally {
                begun.remove(Thread.currentThread());
            }
        };
    }
}
