package io.easykit.delayqueue.listener;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Finds listeners of beans that the start does not create: lazy ones, and those of other scopes than singleton. */
final class ListenersOnDemand {

    private ListenersOnDemand() {}

    static List<ListenerMethod> find(ConfigurableListableBeanFactory beans) {
        List<ListenerMethod> found = new ArrayList<>();
        for (String name : beans.getBeanDefinitionNames()) {
            BeanDefinition definition = beans.getMergedBeanDefinition(name);
            if (definition.isAbstract()
                    || ScopedProxyUtils.isScopedTarget(name)
                    || isCreatedAtStart(beans, name, definition)) {
                continue;
            }
            Class<?> type = typeOf(beans, name);
            if (type != null && DelayListenerBeanPostProcessor.hasListeners(type)) {
                ListenerMethod.find(type)
                        .keySet()
                        .forEach(method -> found.add(new ListenerMethod(name, type, type, method)));
            }
        }
        return found;
    }

    /** Also true of a lazy bean that another bean has needed. */
    private static boolean isCreatedAtStart(
            ConfigurableListableBeanFactory beans, String name, BeanDefinition definition) {
        return definition.isSingleton() && (!definition.isLazyInit() || beans.containsSingleton(name));
    }

    private static @Nullable Class<?> typeOf(ConfigurableListableBeanFactory beans, String name) {
        try {
            Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
            return type == null ? null : ClassUtils.getUserClass(type);
        } catch (RuntimeException | LinkageError unknown) {
            return null;
        }
    }
}
