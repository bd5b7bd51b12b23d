package io.easykit.cache.aop;

import io.easykit.cache.EasyCache;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.type.MethodMetadata;
import org.springframework.util.ClassUtils;

/**
 * Beans whose annotations are unknown when the declarations are checked.
 *
 * @param hidden names of beans that do not exist yet, and whose factory method returns an abstract type
 * @param replaced names of beans whose place an instance of another class has taken: mocks of an interface, for example
 */
record UnknownBeans(Set<String> hidden, Set<String> replaced) {

    /** Classes that auto-configurations of this project import. */
    private static final Pattern OF_STARTERS = Pattern.compile("io\\.easykit\\.\\w+\\.autoconfigure\\.\\w+");

    /**
     * @param initialized names of beans that the factory has made
     * @param typeOf returns the type of the bean of a name, or null
     */
    static UnknownBeans of(
            ConfigurableListableBeanFactory factory,
            Set<String> initialized,
            Function<String, @Nullable Class<?>> typeOf) {
        Set<String> hidden = new TreeSet<>();
        Set<String> replaced = new TreeSet<>();
        for (String name : factory.getBeanDefinitionNames()) {
            BeanDefinition definition = factory.getBeanDefinition(name);
            if (!factory.containsSingleton(name)) {
                if (isHidden(definition, typeOf.apply(name))) {
                    hidden.add(name);
                }
            } else if (!initialized.contains(name)
                    && !isAutoConfigured(definition)
                    && isReplaced(factory, name, definition, factory.getSingleton(name))) {
                replaced.add(name);
            }
        }
        return new UnknownBeans(hidden, replaced);
    }

    private static boolean isHidden(BeanDefinition definition, @Nullable Class<?> type) {
        return type != null
                && Modifier.isAbstract(type.getModifiers())
                && !SpringTypes.contain(type)
                && !isAutoConfigured(definition);
    }

    private static boolean isAutoConfigured(BeanDefinition definition) {
        MethodMetadata method = factoryMethod(definition);
        return method != null
                && (method.getDeclaringClassName().contains("AutoConfiguration")
                        || OF_STARTERS.matcher(method.getDeclaringClassName()).matches());
    }

    private static @Nullable MethodMetadata factoryMethod(BeanDefinition definition) {
        return definition instanceof AnnotatedBeanDefinition annotated ? annotated.getFactoryMethodMetadata() : null;
    }

    /**
     * Whether an instance was registered under the name of a definition that did not make it. The bean overrides of Spring's
     * tests do so. An instance of the very class that the definition names has its annotations.
     */
    private static boolean isReplaced(
            ConfigurableListableBeanFactory factory, String name, BeanDefinition definition, @Nullable Object bean) {
        if (bean == null || bean instanceof FactoryBean<?> || bean instanceof EasyCache) {
            return false;
        }
        String type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean)).getName();
        MethodMetadata method = factoryMethod(definition);
        if (method != null) {
            // A bean depends on the bean of the factory method that has made it.
            String made = definition.getFactoryBeanName();
            return made != null
                    && !type.equals(method.getReturnTypeName())
                    && !List.of(factory.getDependenciesForBean(name)).contains(made);
        }
        String named = definition.getBeanClassName();
        return named != null
                && definition.getFactoryMethodName() == null
                && !(definition instanceof AbstractBeanDefinition made && made.getInstanceSupplier() != null)
                && !named.equals(type)
                && !named.startsWith(type + ClassUtils.CGLIB_CLASS_SEPARATOR);
    }

    /** A sentence for the report of a missing cache; empty if no bean is hidden. */
    String remedy() {
        return hidden.isEmpty()
                ? ""
                : " If its @Cacheable is on one of the beans " + hidden + ", whose class is unknown before they are"
                        + " created, declare that class as the return type of the @Bean method.";
    }
}
