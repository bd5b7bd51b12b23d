package io.easykit.boot;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

/**
 * The beans of a type that Spring could inject, found without creating any.
 *
 * @param names names of the candidates; a single one if it is primary, or the only one that is no fallback
 */
public record BeanChoice(List<String> names) {

    public static BeanChoice of(ConfigurableListableBeanFactory beans, Class<?> type) {
        return among(beans, BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false));
    }

    /** The beans of the nearest context that has some: this one, or its parents. */
    public static BeanChoice nearest(ConfigurableListableBeanFactory beans, Class<?> type) {
        BeanChoice own = among(beans, beans.getBeanNamesForType(type, true, false));
        return own.names().isEmpty() ? of(beans, type) : own;
    }

    private static BeanChoice among(ConfigurableListableBeanFactory beans, String[] names) {
        List<String> all =
                Arrays.stream(names).filter(name -> isCandidate(beans, name)).toList();
        List<String> primary =
                all.stream().filter(name -> is(beans, name, true)).toList();
        List<String> regular =
                all.stream().filter(name -> !is(beans, name, false)).toList();
        if (primary.size() == 1) {
            return new BeanChoice(primary);
        }
        return new BeanChoice(regular.size() == 1 ? regular : all);
    }

    /** Returns a problem if Spring cannot choose one bean. */
    public static List<Problem> several(ConfigurableListableBeanFactory beans, Class<?> type) {
        return of(beans, type).problems(type);
    }

    /** Returns a problem if there are several. */
    public List<Problem> problems(Class<?> type) {
        return names.size() <= 1
                ? List.of()
                : List.of(new Problem(
                        "There are several beans of type " + type.getName() + ", and none of them is primary: " + names
                                + ".",
                        "Put @Primary on the bean to use."));
    }

    private static boolean isCandidate(ConfigurableListableBeanFactory beans, String name) {
        return !(definition(beans, name) instanceof AbstractBeanDefinition definition)
                || (definition.isAutowireCandidate() && definition.isDefaultCandidate());
    }

    /** @param primary true to check for primary beans, false for fallbacks */
    private static boolean is(ConfigurableListableBeanFactory beans, String name, boolean primary) {
        BeanDefinition definition = definition(beans, name);
        return definition != null && (primary ? definition.isPrimary() : definition.isFallback());
    }

    /** The definition in this context or a parent of it; null for a singleton that was registered by hand. */
    private static @Nullable BeanDefinition definition(ConfigurableListableBeanFactory beans, String name) {
        try {
            return beans.getMergedBeanDefinition(name);
        } catch (NoSuchBeanDefinitionException none) {
            return null;
        }
    }
}
