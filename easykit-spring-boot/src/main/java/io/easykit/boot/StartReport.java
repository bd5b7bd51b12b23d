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
 * Fails the start once, with the mistakes of all products. Checks run twice:
 *
 * <ol>
 *   <li>Before any bean is created: settings and defined beans. If one is wrong, annotated methods are checked as well,
 *       by the types of the bean definitions, and the start ends. So no bean runs with wrong settings, and no bean that
 *       fails because of them hides the report.
 *   <li>After all singletons are created: annotated methods, including those of classes that are known only to their
 *       factory method.
 * </ol>
 *
 * <p>Ahead-of-time processing at build time checks nothing: only the environment of a start has all settings, such as those that
 * placeholders name.
 *
 * <p>Checks that need a connection run later. Auto-configurations import this class. It is registered once.
 */
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class StartReport implements BeanFactoryPostProcessor, PriorityOrdered, SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(StartReport.class);

    private List<StartCheck> checks = List.of();

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        if (AheadOfTime.isProcessing()) {
            return;
        }
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

    /** The start fails anyway: an error here must not hide the problems found so far. */
    private static List<Problem> declaredTypes(StartCheck check, ConfigurableListableBeanFactory beans) {
        try {
            return check.declaredTypes(beans);
        } catch (RuntimeException | LinkageError e) {
            log.warn(
                    "Annotated methods were not checked, because their classes could not be read. The report"
                            + " below may be incomplete.",
                    e);
            return List.of();
        }
    }

    private static void throwIfAny(Collection<Problem> problems) {
        if (!problems.isEmpty()) {
            throw new InvalidConfigurationException(List.copyOf(problems));
        }
    }
}
