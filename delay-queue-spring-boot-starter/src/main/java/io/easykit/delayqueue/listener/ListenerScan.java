package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.annotation.DelayListener;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Finds listeners by the types of bean definitions. The start does not create lazy beans, nor beans of other scopes
 * than singleton.
 */
final class ListenerScan {

    private ListenerScan() {}

    /** Returns the listeners of beans that the start does not create. */
    static Set<ListenerMethod> onDemand(ConfigurableListableBeanFactory beans) {
        return find(beans, false).keySet();
    }

    /** Returns the listeners of beans that the start creates, as far as their types are known. */
    static Map<ListenerMethod, DelayListener> atStart(ConfigurableListableBeanFactory beans) {
        return find(beans, true);
    }

    private static Map<ListenerMethod, DelayListener> find(ConfigurableListableBeanFactory beans, boolean atStart) {
        Map<ListenerMethod, DelayListener> found = new LinkedHashMap<>();
        for (String name : beans.getBeanDefinitionNames()) {
            BeanDefinition definition = beans.getMergedBeanDefinition(name);
            if (definition.isAbstract()
                    || ScopedProxyUtils.isScopedTarget(name)
                    || isCreatedAtStart(beans, name, definition) != atStart) {
                continue;
            }
            Class<?> type = typeOf(beans, name);
            if (type != null && DelayListenerBeanPostProcessor.hasListeners(type)) {
                ListenerMethod.find(type)
                        .forEach((method, annotation) ->
                                found.put(ListenerMethod.ofType(name, type, method), annotation));
            }
        }
        return found;
    }

    /** Also true for a lazy bean that another bean has already requested. */
    private static boolean isCreatedAtStart(
            ConfigurableListableBeanFactory beans, String name, BeanDefinition definition) {
        return definition.isSingleton() && (!definition.isLazyInit() || beans.containsSingleton(name));
    }

    private static @Nullable Class<?> typeOf(ConfigurableListableBeanFactory beans, String name) {
        try {
            Class<?> type = beans.containsSingleton(name)
                    ? AutoProxyUtils.determineTargetClass(beans, name)
                    : beans.getType(name, false);
            return type == null ? null : ClassUtils.getUserClass(type);
        } catch (RuntimeException | LinkageError unknown) {
            return null;
        }
    }
}
