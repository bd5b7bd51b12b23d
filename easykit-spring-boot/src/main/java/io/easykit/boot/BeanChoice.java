package io.easykit.boot;

import java.util.Arrays;
import java.util.List;
import org.springframework.beans.factory.BeanFactoryUtils;
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
        List<String> all = Arrays.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false))
                .filter(name -> isCandidate(beans, name))
                .toList();
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
        List<String> names = of(beans, type).names();
        return names.size() <= 1
                ? List.of()
                : List.of(new Problem(
                        "There are several beans of type " + type.getName() + ", and none of them is primary: " + names
                                + ".",
                        "Put @Primary on the bean to use."));
    }

    private static boolean isCandidate(ConfigurableListableBeanFactory beans, String name) {
        if (!beans.containsBeanDefinition(name)
                || !(beans.getMergedBeanDefinition(name) instanceof AbstractBeanDefinition definition)) {
            return true;
        }
        return definition.isAutowireCandidate() && definition.isDefaultCandidate();
    }

    /** @param primary true to check for primary beans, false for fallbacks */
    private static boolean is(ConfigurableListableBeanFactory beans, String name, boolean primary) {
        if (!beans.containsBeanDefinition(name)) {
            return false;
        }
        BeanDefinition definition = beans.getMergedBeanDefinition(name);
        return primary ? definition.isPrimary() : definition.isFallback();
    }
}
