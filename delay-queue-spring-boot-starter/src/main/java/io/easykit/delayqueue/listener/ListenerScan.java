package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.annotation.DelayListener;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
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
        return find(beans, name -> !isCreatedAtStart(beans, name)).keySet();
    }

    /** Returns the listeners of beans that the start creates, as far as their types are known. */
    static Map<ListenerMethod, DelayListener> atStart(ConfigurableListableBeanFactory beans) {
        return find(beans, name -> isCreatedAtStart(beans, name));
    }

    /** Returns the names of existing factories of a singleton with listeners. Spring makes the singleton on demand only. */
    static Set<String> products(ConfigurableListableBeanFactory beans) {
        return find(
                        beans,
                        name -> beans.containsSingleton(name)
                                && beans.isFactoryBean(name)
                                && isCreatedAtStart(beans, name))
                .keySet()
                .stream()
                .map(ListenerMethod::beanName)
                .collect(Collectors.toSet());
    }

    /** Returns the classes of existing singletons with listeners that were not processed, by their names. */
    static Map<String, Class<?>> missed(ConfigurableListableBeanFactory beans, Set<String> processed) {
        Set<String> products = products(beans);
        Map<String, Class<?>> missed = new LinkedHashMap<>();
        for (String name : beans.getSingletonNames()) {
            Object bean = products.contains(name) ? beans.getBean(name) : beans.getSingleton(name);
            if (bean != null && !processed.contains(name)) {
                Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
                if (DelayListenerBeanPostProcessor.hasListeners(type)) {
                    missed.put(name, type);
                }
            }
        }
        return missed;
    }

    /** Whether a bean is behind a scoped proxy and has another scope than singleton. */
    static boolean isScopedTargetOnDemand(ConfigurableListableBeanFactory beans, String name) {
        return ScopedProxyUtils.isScopedTarget(name)
                && !(beans.containsBeanDefinition(name)
                        && beans.getMergedBeanDefinition(name).isSingleton());
    }

    private static Map<ListenerMethod, DelayListener> find(
            ConfigurableListableBeanFactory beans, Predicate<String> isChosen) {
        Map<ListenerMethod, DelayListener> found = new LinkedHashMap<>();
        for (String name : beans.getBeanDefinitionNames()) {
            if (beans.getMergedBeanDefinition(name).isAbstract()
                    || isScopedProxy(beans, name)
                    || !isChosen.test(name)) {
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

    /** The bean behind the proxy has the listeners. */
    private static boolean isScopedProxy(ConfigurableListableBeanFactory beans, String name) {
        return beans.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name));
    }

    /** Also true for a lazy bean that another bean has already requested. False for a factory of many beans. */
    private static boolean isCreatedAtStart(ConfigurableListableBeanFactory beans, String name) {
        BeanDefinition definition = beans.getMergedBeanDefinition(name);
        return definition.isSingleton()
                && (beans.containsSingleton(name) ? beans.isSingleton(name) : !definition.isLazyInit());
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
