package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Reload;
import io.easykit.cache.aop.OperationFactory.CacheName;
import io.easykit.cache.style.ReturnedValue;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.cache.annotation.Cacheable;

/**
 * Declares caches for methods with Spring's cache annotations, under the rules of any other cache. The name of a cache is its
 * prefix, and the return types of its {@code @Cacheable} methods are the type of its values.
 */
public final class SpringDeclarations {

    private final Supplier<CachedMethods> methods;
    private final CacheSettingsTable settings;
    private final Function<Type, @Nullable String> problemWith;
    private final Map<String, CacheSpec<Object>> typed = new ConcurrentHashMap<>();

    /** @param problemWith returns the reason why values of a type cannot be restored, or null */
    public SpringDeclarations(
            Supplier<CachedMethods> methods,
            CacheSettingsTable settings,
            Function<Type, @Nullable String> problemWith) {
        this.methods = methods;
        this.settings = settings;
        this.problemWith = problemWith;
    }

    /** Returns the class that declares the types of a method: of a repository the interface of the application. */
    public static Class<?> declaringClass(Object target, Method method) {
        return Call.targetClass(target, method);
    }

    /** The problem of a method with one of Spring's annotations. */
    public InvalidCacheDeclarationException problem(
            Class<? extends Annotation> annotation,
            Method method,
            Class<?> targetClass,
            String problem,
            String remedy) {
        return where(annotation, method, targetClass).problem(problem, remedy);
    }

    private static CachedMethod where(Class<? extends Annotation> annotation, Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        return new CachedMethod(targetClass, specific, specific, annotation);
    }

    /**
     * Checks how a method returns its value: one, and at once or by a future or publisher.
     *
     * @throws InvalidCacheDeclarationException if it does not
     */
    public void requireOneValue(Class<? extends Annotation> annotation, Method method, Class<?> targetClass) {
        MethodRules.requireOneValue(where(annotation, method, targetClass));
    }

    /**
     * Checks the names of an expression.
     *
     * @throws InvalidCacheDeclarationException if one is the name of one parameter and the position of another
     */
    public void requireUnambiguous(
            Class<? extends Annotation> annotation,
            Method method,
            Class<?> targetClass,
            String attribute,
            String expression) {
        new ParameterNames(where(annotation, method, targetClass)).requireUnambiguous(attribute, expression);
    }

    /**
     * Checks an update whose key is known only after the method.
     *
     * @throws InvalidCacheDeclarationException if the cache is serial
     */
    public void refuseLateKeyIfSerial(
            Class<? extends Annotation> annotation, Method method, Class<?> targetClass, CacheSpec<?> spec) {
        SerialRules.refuseLateKey(where(annotation, method, targetClass), spec);
    }

    /**
     * Declares the cache of a {@code @Cacheable} method, with the type that the method returns.
     *
     * @throws InvalidCacheDeclarationException if its values cannot be restored, or the cache holds another type
     */
    public void declare(Method method, Class<?> targetClass, String name) {
        CachedMethod where = where(Cacheable.class, method, targetClass);
        Type type = MethodRules.requireCacheableType(
                where, ReturnedValue.of(method, targetClass).type());
        CacheSpec<?> known = methods.get().declaredSpec(name);
        if (known != null && !known.type().getTypeName().equals(type.getTypeName())) {
            throw where.problem(
                    "the cache '" + name + "' already holds " + known.type().getTypeName()
                            + ", and this method returns " + type.getTypeName(),
                    "Use another cache name for one of them.");
        }
        CacheSpec<?> spec = known != null ? known : fromSettings(where, name, type);
        requireReadable(where, spec);
        methods.get().declare(where.describe(), spec, settings.inForce(spec, CacheSettings.NONE));
    }

    private void requireReadable(CachedMethod where, CacheSpec<?> spec) {
        String problem = problemWith.apply(spec.type());
        if (problem != null) {
            throw where.problem(problem, CacheDeclarations.READABLE);
        }
    }

    private CacheSpec<?> fromSettings(CachedMethod where, String name, Type type) {
        CacheSettings own = settings.caches().getOrDefault(name, CacheSettings.NONE);
        if (own.reload() == Reload.BACKGROUND) {
            throw where.problem(
                    "easy-cache.caches." + name
                            + ".reload is background, but values of Spring's annotations are reloaded by a caller",
                    "Remove the setting, or use the @Cacheable of easy-cache.");
        }
        return OperationFactory.spec(where, defaultCluster(name), type, () -> options(name));
    }

    /** Methods with Spring's annotations expect to run on the thread of a caller. */
    private CacheOptions options(String name) {
        return settings.options(name, CacheSettings.NONE).toBuilder()
                .reload(Reload.CALLER)
                .build();
    }

    private static CacheName defaultCluster(String name) {
        return new CacheName(CacheSpec.DEFAULT_CLUSTER, name);
    }

    /** Whether a cache has a declaration here: a method or a {@link CacheSpec} bean. */
    public boolean isDeclared(String name) {
        return methods.get().declaredSpec(name) != null;
    }

    /** Whether only other applications read a cache. */
    public boolean isExternal(String name) {
        return settings.externalPrefixes().contains(name);
    }

    /**
     * Records an update of a prefix.
     *
     * @param isKnownAfterMethod whether its key is known only after the method
     */
    public void use(String name, boolean isKnownAfterMethod) {
        methods.get().use(name, isKnownAfterMethod);
    }

    /** Returns the cache as it is declared; without a declaration one of type {@code Object}, for updates. */
    @SuppressWarnings("unchecked") // values are of the declared type
    public CacheSpec<Object> specOf(String name) {
        CacheSpec<Object> known = typed.get(name);
        if (known != null) {
            return known;
        }
        CacheSpec<Object> declared = (CacheSpec<Object>) methods.get().declaredSpec(name);
        if (declared != null) {
            typed.put(name, declared);
            return declared;
        }
        return new CacheSpec<>(CacheSpec.DEFAULT_CLUSTER, name, Object.class, options(name));
    }

    /** The names of all caches that are declared. */
    public Collection<String> names() {
        Set<String> names = new TreeSet<>();
        methods.get().declared().forEach(one -> names.add(one.spec().prefix()));
        return names;
    }

    /** Returns the line about a {@code @Cacheable} method for the log. */
    public String describe(Method method, Class<?> targetClass, String name, String key) {
        CacheSpec<?> spec = specOf(name);
        return "easy-cache: " + where(Cacheable.class, method, targetClass).shortName() + " -> "
                + settings.keyPattern(spec, List.of(key)) + " on " + spec.clusterId() + ", "
                + methods.get().stalenessOf(spec);
    }
}
