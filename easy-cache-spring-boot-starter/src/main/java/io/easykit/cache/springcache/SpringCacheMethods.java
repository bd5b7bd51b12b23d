package io.easykit.cache.springcache;

import io.easykit.boot.MethodScan;
import io.easykit.cache.aop.InvalidCacheDeclarationException;
import io.easykit.cache.aop.SpringDeclarations;
import io.easykit.cache.aop.SpringTypes;
import io.easykit.cache.style.CallStyle;
import io.easykit.cache.style.ReturnedValue;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.cache.annotation.AnnotationCacheOperationSource;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CacheOperationSource;
import org.springframework.cache.interceptor.CacheableOperation;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The methods of an application with Spring's cache annotations. Finds them at the end of the start, declares their caches, and
 * refuses methods that cannot keep the promises of a cache.
 */
public final class SpringCacheMethods {

    private static final Logger log = LoggerFactory.getLogger(SpringCacheMethods.class);

    private final ConfigurableListableBeanFactory beans;
    private final SpringDeclarations declarations;
    private final Supplier<@Nullable SpringCacheManager> manager;
    private final CacheOperationSource source = new AnnotationCacheOperationSource(false);
    private final Map<MethodClassKey, Optional<AnnotatedMethod>> known = new ConcurrentHashMap<>();

    /** Lines about the cached methods, made when all updates are known. */
    private final List<Supplier<String>> lines = new ArrayList<>();

    /** Caches with a refused {@code @Cacheable} method. Their updates are not reported as well. */
    private final Set<String> refused = ConcurrentHashMap.newKeySet();

    private final OperationBypass bypass = new OperationBypass();

    /** The manager of a {@code CachingConfigurer}, which runs all methods; null if there is none. */
    private volatile @Nullable String otherManager;

    private volatile boolean complete;

    /** @param manager returns null if the application has a cache manager of its own */
    public SpringCacheMethods(
            ConfigurableListableBeanFactory beans,
            SpringDeclarations declarations,
            Supplier<@Nullable SpringCacheManager> manager) {
        this.beans = beans;
        this.declarations = declarations;
        this.manager = manager;
    }

    boolean isComplete() {
        return complete;
    }

    OperationBypass bypass() {
        return bypass;
    }

    /**
     * Checks the methods of all beans. From now on they are run by easy-cache, unless another manager or Spring's aspect runs them.
     *
     * @return the problems
     */
    public List<InvalidCacheDeclarationException> complete() {
        List<InvalidCacheDeclarationException> problems = new ArrayList<>();
        CacheInterceptor interceptor = manager.get() == null ? null : SpringCacheInfrastructure.interceptor(beans);
        if (interceptor == null && !isRunByAspect()) {
            return problems;
        }
        Set<Class<?>> types = types();
        if (interceptor != null) {
            otherManager = SpringCacheInfrastructure.configuredManager(interceptor, cacheNames(types));
        }
        if (otherManager != null) {
            return problems;
        }
        for (Class<?> type : types) {
            for (Method method : annotated(type)) {
                collect(problems, () -> declare(method, type));
            }
        }
        for (Class<?> type : types) {
            for (Method method : annotated(type)) {
                collect(problems, () -> requireUpdatable(method, type));
            }
        }
        if (interceptor != null) {
            bypass.install(interceptor);
            complete = true;
        }
        return problems;
    }

    private boolean isRunByAspect() {
        return manager.get() != null && SpringCacheInfrastructure.hasAspect(beans);
    }

    private Set<String> cacheNames(Set<Class<?>> types) {
        Set<String> names = new TreeSet<>();
        for (Class<?> type : types) {
            annotated(type).forEach(method -> operations(method, type)
                    .forEach(operation -> names.addAll(operation.getCacheNames())));
        }
        return names;
    }

    private Collection<CacheOperation> operations(Method method, Class<?> targetClass) {
        Collection<CacheOperation> operations = source.getCacheOperations(method, targetClass);
        return operations == null ? List.of() : operations;
    }

    /** Logs the cached methods, or the reason why there are none. */
    public void report() {
        if (manager.get() == null) {
            log.warn(
                    "easy-cache.spring-cache.enabled is true, but the application has the cache manager {}, which Spring's"
                            + " annotations go on to use. Remove it, or set easy-cache.spring-cache.primary to true.",
                    SpringCacheInfrastructure.managers(beans));
        } else if (otherManager != null) {
            log.warn(
                    "easy-cache.spring-cache.enabled is true, but a CachingConfigurer returns the cache manager [{}], which"
                            + " Spring's annotations go on to use. Remove its methods cacheManager and cacheResolver.",
                    otherManager);
        } else if (!complete && isRunByAspect()) {
            log.warn(
                    "easy-cache.spring-cache.enabled is true, but @EnableCaching has mode = ASPECTJ: entries are invalidated"
                            + " only after the method, and updates of CP caches are refused. Use the default mode PROXY.");
        } else if (!complete) {
            log.warn(
                    "easy-cache.spring-cache.enabled is true, but Spring's cache annotations are not enabled: methods with"
                            + " @Cacheable run uncached, and @CacheEvict invalidates nothing. Put @EnableCaching on a"
                            + " @Configuration class, with the default mode PROXY.");
        }
        new TreeSet<>(lines.stream().map(Supplier::get).toList()).forEach(log::info);
        lines.clear();
    }

    private static void collect(List<InvalidCacheDeclarationException> problems, Runnable check) {
        try {
            check.run();
        } catch (InvalidCacheDeclarationException problem) {
            if (problems.stream().noneMatch(other -> other.problems().equals(problem.problems()))) {
                problems.add(problem);
            }
        }
    }

    private Set<Class<?>> types() {
        Set<Class<?>> types = new LinkedHashSet<>();
        for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
            Class<?> type = typeOf(name);
            if (type != null && Proxy.isProxyClass(type)) {
                types.addAll(List.of(type.getInterfaces()));
            } else if (type != null) {
                types.add(ClassUtils.getUserClass(type));
            }
        }
        types.removeIf(type -> SpringTypes.contain(type) || !source.isCandidateClass(type));
        return types;
    }

    private @Nullable Class<?> typeOf(String beanName) {
        try {
            return AutoProxyUtils.determineTargetClass(beans, beanName);
        } catch (RuntimeException | LinkageError unknown) {
            log.debug("The type of bean '{}' cannot be determined", beanName, unknown);
            return null;
        }
    }

    private Set<Method> annotated(Class<?> type) {
        return MethodScan.filter(type, method -> source.hasCacheOperations(method, type));
    }

    /**
     * Finds the operations of a method, and declares its caches at its first call if its bean came after the start.
     *
     * @return null if it has none
     * @throws InvalidCacheDeclarationException if they cannot be run
     */
    @Nullable AnnotatedMethod find(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<AnnotatedMethod> found = known.get(key);
        if (found == null) {
            found = Optional.ofNullable(declare(method, targetClass));
            requireUpdatable(method, targetClass);
            known.put(key, found);
        }
        return found.orElse(null);
    }

    /** Declares the caches that a method reads. */
    private @Nullable AnnotatedMethod declare(Method method, Class<?> targetClass) {
        Collection<CacheOperation> operations = operations(method, targetClass);
        if (operations.isEmpty()) {
            return null;
        }
        if (operations.stream().anyMatch(this::isOwn)) {
            OperationRules rules = new OperationRules(declarations, method, targetClass);
            rules.requireOneKind(operations);
            rules.requireOneValue(operations);
        }
        for (CacheOperation operation : operations) {
            if (isOwn(operation) && operation instanceof CacheableOperation) {
                requireClearNames(method, targetClass, operation);
                for (String name : operation.getCacheNames()) {
                    declareRead(method, targetClass, name, operation);
                }
            }
        }
        ReturnedValue returned = ReturnedValue.of(method, targetClass);
        return new AnnotatedMethod(method, targetClass, List.copyOf(operations), returned, styleOf(returned));
    }

    private void requireClearNames(Method method, Class<?> targetClass, CacheOperation operation) {
        try {
            new OperationRules(declarations, method, targetClass).requireClearNames(operation);
        } catch (InvalidCacheDeclarationException problem) {
            refused.addAll(operation.getCacheNames());
            throw problem;
        }
    }

    private void declareRead(Method method, Class<?> targetClass, String name, CacheOperation operation) {
        try {
            declarations.declare(method, targetClass, name);
        } catch (InvalidCacheDeclarationException problem) {
            refused.add(name);
            throw problem;
        }
        if (!complete) {
            String key = operation.getKey();
            lines.add(() -> declarations.describe(method, targetClass, name, key.isEmpty() ? "parameters" : key));
        }
    }

    /** Operations that name a resolver or another manager use caches that are known at the call only. */
    private boolean isOwn(CacheOperation operation) {
        return !StringUtils.hasText(operation.getCacheResolver())
                && (!StringUtils.hasText(operation.getCacheManager())
                        || SpringCacheInfrastructure.isOwn(beans, operation.getCacheManager()));
    }

    private CallStyle styleOf(ReturnedValue returned) {
        SpringCacheManager own = manager.get();
        return own == null
                ? CallStyle.BLOCKING
                : CallStyle.of(returned, own.parts().futures());
    }

    /** Checks the caches that a method updates, when all caches are declared. */
    private void requireUpdatable(Method method, Class<?> targetClass) {
        for (CacheOperation operation : operations(method, targetClass)) {
            if (operation instanceof CacheableOperation || !isOwn(operation)) {
                continue;
            }
            OperationRules rules = new OperationRules(declarations, method, targetClass);
            rules.requireClearNames(operation);
            rules.requireTimelyKey(operation);
            for (String name : operation.getCacheNames()) {
                declarations.use(name, AnnotatedMethod.hasLateKey(operation, method));
                if (!refused.contains(name)) {
                    rules.requireDeclared(operation, name);
                }
                rules.requirePreparable(operation, name);
            }
        }
    }
}
