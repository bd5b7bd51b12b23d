package io.easykit.cache.autoconfigure;

import java.util.ArrayList;
import java.util.List;
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
        return new CompositeTaskDecorator(all);
    }
}
