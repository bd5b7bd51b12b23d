package io.easykit.boot;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/**
 * Fails the start once, with the mistakes of all products. There are two moments:
 *
 * <ol>
 *   <li>Before any bean is created: settings, and which beans are defined. If anything is wrong, annotated methods are
 *       checked as well, by the types of the bean definitions, and the start ends. So no bean ever runs with wrong
 *       settings, and no bean that fails because of them hides the report.
 *   <li>After all singletons were created: annotated methods, also of classes that only their factory method knows.
 * </ol>
 *
 * <p>What needs a connection comes later still. Auto-configurations import this class; it is registered once.
 */
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class StartReport implements BeanFactoryPostProcessor, PriorityOrdered, SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(StartReport.class);

    private List<StartCheck> checks = List.of();

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        checks = find(beans);
        Set<Problem> problems = new LinkedHashSet<>();
        checks.forEach(check -> problems.addAll(check.settings(beans)));
        if (!problems.isEmpty()) {
            checks.forEach(check -> problems.addAll(declaredTypes(check, beans)));
        }
        throwIfAny(problems);
    }

    @Override
    public void afterSingletonsInstantiated() {
        Set<Problem> problems = new LinkedHashSet<>();
        checks.forEach(check -> problems.addAll(check.declarations()));
        throwIfAny(problems);
        checks.forEach(StartCheck::passed);
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    private static List<StartCheck> find(ConfigurableListableBeanFactory beans) {
        List<StartCheck> found = new ArrayList<>();
        for (String name : beans.getBeanNamesForType(StartCheck.class, true, false)) {
            found.add(beans.getBean(name, StartCheck.class));
        }
        return found;
    }

    /** A start that fails anyway reports what it knows, whatever else goes wrong. */
    private static List<Problem> declaredTypes(StartCheck check, ConfigurableListableBeanFactory beans) {
        try {
            return check.declaredTypes(beans);
        } catch (RuntimeException | LinkageError e) {
            log.warn("Annotated methods were not checked, because their classes could not be read.", e);
            return List.of();
        }
    }

    private static void throwIfAny(Collection<Problem> problems) {
        if (!problems.isEmpty()) {
            throw new InvalidConfigurationException(List.copyOf(problems));
        }
    }
}
