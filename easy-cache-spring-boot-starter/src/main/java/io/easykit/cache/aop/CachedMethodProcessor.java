package io.easykit.cache.aop;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Passes the class of each bean to {@link CachedMethods}, and declares each {@link CacheSpec} bean. Classes are
 * inspected before the bean is proxied: a final class would fail there without a remedy, and a private method would
 * silently never be cached. Lazy beans and products of factories are inspected by type at the end of the start.
 *
 * <p>Creates no other beans. A bean post-processor must not depend on beans, so this one takes suppliers.
 */
public final class CachedMethodProcessor implements BeanPostProcessor, BeanFactoryAware {

    private static final Logger log = LoggerFactory.getLogger(CachedMethodProcessor.class);

    private final Supplier<CachedMethods> methods;
    private final Supplier<Knowledge> knowledge;
    private final boolean running;
    private final Set<Class<?>> seen = ConcurrentHashMap.newKeySet();
    private final Set<Class<?>> annotated = ConcurrentHashMap.newKeySet();
    private final Set<String> initialized = ConcurrentHashMap.newKeySet();
    private final Set<String> specs = ConcurrentHashMap.newKeySet();
    private final List<InvalidCacheDeclarationException> problems = new CopyOnWriteArrayList<>();
    private volatile boolean complete;
    private @Nullable ConfigurableListableBeanFactory beans;

    public CachedMethodProcessor(Supplier<CachedMethods> methods, Supplier<EasyCache> cache) {
        this(methods, () -> new Knowledge(cache.get().clusterIds(), cache.get()::problemWith), true);
    }

    private CachedMethodProcessor(Supplier<CachedMethods> methods, Supplier<Knowledge> knowledge, boolean running) {
        this.methods = methods;
        this.knowledge = knowledge;
        this.running = running;
    }

    /**
     * Checks annotated methods by the types of bean definitions, in a start that fails anyway. Creates
     * {@link CacheSpec} beans only.
     *
     * @param methods an empty instance
     * @param problemWith returns the reason why values of a type cannot be restored, or null
     */
    public static List<InvalidCacheDeclarationException> ofTypes(
            ConfigurableListableBeanFactory beans,
            CachedMethods methods,
            Set<String> clusterIds,
            Function<Type, @Nullable String> problemWith) {
        CachedMethodProcessor processor =
                new CachedMethodProcessor(() -> methods, () -> new Knowledge(clusterIds, problemWith), false);
        processor.setBeanFactory(beans);
        return processor.complete();
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        this.beans = (ConfigurableListableBeanFactory) beanFactory;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        if (!complete) {
            initialized.add(beanName);
        }
        if (bean instanceof CacheSpec<?> spec) {
            declare(beanName, spec);
        } else {
            Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
            inspect(type);
            if (!complete && isAnnotated(type) && isSingleton(beanName)) {
                addBean(beanName, type);
            }
        }
        return bean;
    }

    /** The product of a factory is not initialized. */
    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof FactoryBean<?>) && beans().containsBean(beanName) && beans().isFactoryBean(beanName)) {
            inspect(ClassUtils.getUserClass(AopUtils.getTargetClass(bean)));
        }
        return bean;
    }

    /**
     * Checks the declarations found so far, and those of beans that do not exist yet. From now on problems are thrown
     * when they are found.
     */
    public List<InvalidCacheDeclarationException> complete() {
        ConfigurableListableBeanFactory factory = beans();
        for (String name : factory.getBeanNamesForType(Object.class, true, false)) {
            Class<?> type = typeOf(factory, name);
            if (type != null) {
                inspect(type);
                if (isAnnotated(type) && isSingletonOnDemand(factory, name)) {
                    addBean(name, type);
                }
            }
        }
        declareSpecs();
        complete = true;
        if (running) {
            warnOfBeansBeforeTheirTime(factory);
        }
        Knowledge known = knowledge.get();
        List<InvalidCacheDeclarationException> all = new ArrayList<>(problems);
        UnknownBeans unknown = UnknownBeans.of(factory, initialized, name -> typeOf(factory, name));
        initialized.clear();
        all.addAll(notFollowing(problems, methods.get().complete(known.clusterIds, known.problemWith, unknown)));
        return all;
    }

    /** Declares all {@link CacheSpec} beans, also lazy ones: they apply to the methods of their caches. */
    public void declareSpecs() {
        ConfigurableListableBeanFactory factory = beans();
        for (String name : factory.getBeanNamesForType(CacheSpec.class, true, false)) {
            declareBean(factory, name);
        }
    }

    /** Beans needed by other post-processors are created before any proxy. Mocks have no proxy either. */
    private void warnOfBeansBeforeTheirTime(ConfigurableListableBeanFactory factory) {
        for (String name : factory.getSingletonNames()) {
            Object bean = singleton(factory, name);
            if (bean == null || bean instanceof FactoryBean<?> || isIntercepted(bean)) {
                continue;
            }
            declaring(ClassUtils.getUserClass(AopUtils.getTargetClass(bean))).stream()
                    .filter(type -> annotated.contains(type) && !methods.get().isRefused(type))
                    .forEach(type -> log.warn(
                            "easy-cache: {} of bean '{}' has annotated methods that are not intercepted: they"
                                    + " neither cache nor invalidate. The bean was created too early, because a"
                                    + " BeanPostProcessor or BeanFactoryPostProcessor needs it: inject an ObjectProvider"
                                    + " of it there. Or it was registered as an instance, such as a mock. Or it is a"
                                    + " proxy of its own, whose interfaces lack the annotations: put them there.",
                            type.getName(),
                            name));
        }
    }

    /** An existing singleton; of a factory whose product has annotated methods, the product. */
    private @Nullable Object singleton(ConfigurableListableBeanFactory factory, String name) {
        Object bean = factory.getSingleton(name);
        if (!(bean instanceof FactoryBean<?>)
                || !isSingletonOnDemand(factory, name)
                || factory.getMergedBeanDefinition(name).isLazyInit()
                || factory.containsBean(ScopedProxyUtils.getTargetBeanName(name))) {
            return bean;
        }
        Class<?> type = typeOf(factory, name);
        return type != null && isAnnotated(type) ? factory.getBean(name) : bean;
    }

    private static boolean isIntercepted(Object bean) {
        if (!(bean instanceof Advised advised)) {
            return AopUtils.isAopProxy(bean);
        }
        Object target = AopProxyUtils.getSingletonTarget(bean);
        return Stream.of(advised.getAdvisors()).anyMatch(CacheAdvisor.class::isInstance)
                || (target != null && isIntercepted(target));
    }

    /** Logs the declared caches after a successful start. */
    public void report() {
        methods.get().report();
    }

    /** Warns of Spring's own cache annotations. Called if nothing of easy-cache serves them. */
    public void warnOfSpringsAnnotations() {
        UnservedAnnotations.warn(beans(), seen);
    }

    private void declareBean(ConfigurableListableBeanFactory factory, String name) {
        try {
            declare(name, factory.getBean(name, CacheSpec.class));
        } catch (BeansException e) {
            if (running) {
                throw e;
            }
            log.debug("The bean '{}' cannot be created", name, e);
        }
    }

    /** Drops problems of updates whose only mistake is that their cache was refused. */
    private static List<InvalidCacheDeclarationException> notFollowing(
            List<InvalidCacheDeclarationException> refused, List<InvalidCacheDeclarationException> later) {
        Set<String> prefixes = refused.stream()
                .flatMap(problem -> CacheAnnotations.cacheable(problem.method(), problem.beanType()).stream())
                .map(annotation -> annotation.getString("prefix"))
                .collect(Collectors.toSet());
        return later.stream()
                .filter(problem -> CacheAnnotations.updateCache(problem.method(), problem.beanType()).stream()
                        .noneMatch(annotation -> prefixes.contains(annotation.getString("prefix"))))
                .toList();
    }

    private void declare(String beanName, CacheSpec<?> spec) {
        if (specs.add(beanName)) {
            try {
                methods.get().declareBean(beanName, spec);
            } catch (InvalidCacheDeclarationException problem) {
                keep(List.of(problem));
            }
        }
    }

    private void inspect(Class<?> type) {
        for (Class<?> declaring : declaring(type)) {
            if (!SpringTypes.contain(declaring)
                    && (seen.add(declaring) || isRefusedLate(declaring))
                    && CacheAnnotations.areIn(declaring)) {
                if (!CachedMethods.annotated(declaring).isEmpty()) {
                    annotated.add(declaring);
                }
                keep(methods.get().inspect(declaring, makesClassProxies()));
            }
        }
    }

    /** A bean that is created after the start is refused each time, or the next one would run without its annotations. */
    private boolean isRefusedLate(Class<?> declaring) {
        return complete && methods.get().isRefused(declaring);
    }

    /** Returns the types that declare the methods of a bean: the interfaces of a proxy, or else the class. */
    private static List<Class<?>> declaring(Class<?> type) {
        return Proxy.isProxyClass(type) ? List.of(type.getInterfaces()) : List.of(ClassUtils.getUserClass(type));
    }

    private boolean isAnnotated(Class<?> type) {
        return declaring(type).stream().anyMatch(annotated::contains);
    }

    /** Adds a singleton, with the class or the interfaces that were inspected. */
    private void addBean(String beanName, Class<?> type) {
        String name =
                ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName) : beanName;
        declaring(type).stream().filter(annotated::contains).forEach(declaring -> methods.get()
                .addBean(name, declaring));
    }

    /**
     * Problems during the start are collected, so that one start reports all of them. Later ones are thrown at once.
     */
    private void keep(List<InvalidCacheDeclarationException> found) {
        if (complete && !found.isEmpty()) {
            throw InvalidCacheDeclarationException.of(found);
        }
        problems.addAll(found);
    }

    private @Nullable Class<?> typeOf(ConfigurableListableBeanFactory factory, String name) {
        try {
            return running ? AutoProxyUtils.determineTargetClass(factory, name) : factory.getType(name, false);
        } catch (Throwable unknown) {
            log.debug("The type of bean '{}' cannot be determined", name, unknown);
            return null;
        }
    }

    /** Whether it is a singleton that {@link #postProcessBeforeInitialization} does not get before the end of the start. */
    private static boolean isSingletonOnDemand(ConfigurableListableBeanFactory factory, String name) {
        if (!factory.containsBeanDefinition(name)) {
            return false;
        }
        return factory.containsSingleton(name)
                ? factory.isFactoryBean(name) && factory.isSingleton(name)
                : factory.getMergedBeanDefinition(name).isSingleton();
    }

    private boolean isSingleton(String beanName) {
        return beans().containsBean(beanName) && beans().isSingleton(beanName);
    }

    private boolean makesClassProxies() {
        ConfigurableListableBeanFactory factory = beans();
        String name = AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME;
        if (!running) {
            return factory.containsBeanDefinition(name)
                    && Boolean.TRUE.equals(
                            factory.getBeanDefinition(name).getPropertyValues().get("proxyTargetClass"));
        }
        return factory.containsBean(name)
                && factory.getBean(name) instanceof ProxyConfig config
                && config.isProxyTargetClass();
    }

    private ConfigurableListableBeanFactory beans() {
        if (beans == null) {
            throw new IllegalStateException("Not in a bean factory");
        }
        return beans;
    }

    /** Facts that only a built cache has. */
    private record Knowledge(Set<String> clusterIds, Function<Type, @Nullable String> problemWith) {}
}
