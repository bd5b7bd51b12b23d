package io.easykit.cache.aop;

import io.easykit.boot.MethodScan;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import io.easykit.cache.admin.CacheDeclaration.Setting;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;

/**
 * The annotated methods of an application. Each is read and checked once; its operation is then looked up by method and
 * class.
 *
 * <p>{@link #inspect} is called with the class of each bean during the start. {@link #complete} then checks the rules
 * between several methods.
 */
public final class CachedMethods {

    private static final Logger log = LoggerFactory.getLogger(CachedMethods.class);

    private final OperationFactory factory;
    private final HiddenAnnotations hidden;
    private final CacheDeclarations declarations;
    private final CacheSettingsTable settings;
    private final Staleness staleness;
    private final BeanFactory beans;

    private final Map<MethodClassKey, Optional<ReadOperation>> reads = new ConcurrentHashMap<>();
    private final Map<MethodClassKey, Optional<UpdateOperation>> updates = new ConcurrentHashMap<>();
    private final Map<ReadOperation, CachedMethod> announced = new ConcurrentHashMap<>();
    private final Map<String, DeclaredCache> declared = new ConcurrentSkipListMap<>();
    /** Prefixes of {@link CacheSpec} beans. */
    private final Set<String> ofBeans = ConcurrentHashMap.newKeySet();

    private final SharedCaches shared = new SharedCaches();
    private final Set<Class<?>> refused = ConcurrentHashMap.newKeySet();

    public CachedMethods(Environment environment, BeanFactory beans, CacheSettingsTable settings, Staleness staleness) {
        this.factory = new OperationFactory(environment, beans, settings);
        this.hidden = new HiddenAnnotations(factory);
        this.declarations = new CacheDeclarations(factory, settings);
        this.settings = settings;
        this.staleness = staleness;
        this.beans = beans;
    }

    /** Returns null if the method is not {@code @Cacheable}. */
    @Nullable ReadOperation read(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<ReadOperation> known = reads.get(key);
        if (known == null) {
            known = Optional.ofNullable(findRead(method, targetClass));
            reads.put(key, known);
        }
        return known.orElse(null);
    }

    /** Returns null if the method has no {@code @UpdateCache}. */
    @Nullable UpdateOperation update(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<UpdateOperation> known = updates.get(key);
        if (known == null) {
            known = Optional.ofNullable(findUpdate(method, targetClass));
            updates.put(key, known);
        }
        return known.orElse(null);
    }

    /**
     * Reads and checks the annotated methods of a bean's class. Repeated calls are cheap.
     *
     * @param classProxies whether beans with interfaces get class proxies too
     * @return the problems of invalid methods
     */
    List<InvalidCacheDeclarationException> inspect(Class<?> beanClass, boolean classProxies) {
        List<InvalidCacheDeclarationException> problems = new ArrayList<>(hidden.problems(beanClass));
        for (Method method : annotated(beanClass)) {
            try {
                inspect(method, beanClass, classProxies);
            } catch (InvalidCacheDeclarationException problem) {
                problems.add(problem);
            }
        }
        if (problems.isEmpty()) {
            refused.remove(beanClass); // after the start the rules between methods may be met later
        } else {
            refused.add(beanClass);
        }
        return problems;
    }

    /** Adds a bean of an inspected class. */
    void addBean(String beanName, Class<?> beanClass) {
        if (isRefused(beanClass)) {
            return;
        }
        for (Method method : annotated(beanClass)) {
            ReadOperation read = read(method, beanClass);
            if (read != null) {
                shared.add(beanName, sites(method, beanClass).get(0), read);
            }
        }
    }

    /** Whether a class has invalid methods. Creating its proxy could fail before all problems are reported. */
    boolean isRefused(Class<?> beanClass) {
        return refused.contains(beanClass);
    }

    private void inspect(Method method, Class<?> beanClass, boolean classProxies) {
        for (CachedMethod where : sites(method, beanClass)) {
            MethodRules.requireInterceptable(where, classProxies);
        }
        ReadOperation read = read(method, beanClass);
        if (read != null) {
            announce(sites(method, beanClass).get(0), read);
        }
        update(method, beanClass);
    }

    private List<CachedMethod> sites(Method method, Class<?> beanClass) {
        return Stream.concat(
                        CacheAnnotations.cacheable(method, beanClass).stream(),
                        CacheAnnotations.updateCache(method, beanClass).stream())
                .map(annotation -> factory.site(annotation, method, beanClass))
                .toList();
    }

    /** Returns the methods of a class that have one of the annotations. */
    static Set<Method> annotated(Class<?> beanClass) {
        return CacheAnnotations.areIn(beanClass)
                ? MethodScan.filter(beanClass, method -> CacheAnnotations.isAnnotated(method, beanClass))
                : Set.of();
    }

    /** Declares the cache of a bean. */
    void declareBean(String beanName, CacheSpec<?> spec) {
        ofBeans.add(spec.prefix());
        declare("the bean '" + beanName + "'", spec, CacheDeclaration.settings(spec.options(), any -> "CacheSpec"));
    }

    /**
     * Declares a cache that has no method with our {@link Cacheable}.
     *
     * @param source description for messages
     */
    void declare(String source, CacheSpec<?> spec, List<Setting> settings) {
        declarations.declare(source, spec);
        // A method with Spring's annotation may have several caches.
        declared.putIfAbsent(source + " -> " + spec.prefix(), new DeclaredCache(source, spec, List.of(), settings));
    }

    /** Records that a prefix is updated by code other than {@link UpdateCache} methods. */
    void use(String prefix, boolean isKnownAfterMethod) {
        declarations.use(prefix, isKnownAfterMethod);
    }

    /** Returns the cache of a prefix, that on the default cluster if there are several; null if it is not declared yet. */
    @Nullable CacheSpec<?> declaredSpec(String prefix) {
        CacheSpec<?> found = null;
        for (DeclaredCache one : declared.values()) {
            boolean matches = one.spec().prefix().equals(prefix);
            if (matches && (found == null || one.spec().clusterId().equals(CacheSpec.DEFAULT_CLUSTER))) {
                found = one.spec();
            }
        }
        CachedMethods parent = found == null ? parent() : null;
        return parent == null ? found : parent.declaredSpec(prefix);
    }

    String stalenessOf(CacheSpec<?> spec) {
        return staleness.describe(spec, declarations.isUpdatedByResult(spec));
    }

    /** Returns the caches that the methods and beans of this context declare, as far as they were found yet. */
    public List<CacheDeclaration> declared() {
        return declared.values().stream()
                .map(one -> new CacheDeclaration(
                        one.source(), one.spec(), one.keyParts(), one.settings(), stalenessOf(one.spec())))
                .toList();
    }

    /** Whether keys are known only after the method is found out when all updates are. */
    private record DeclaredCache(String source, CacheSpec<?> spec, List<KeyPart> keyParts, List<Setting> settings) {}

    /**
     * Checks the rules between several methods.
     *
     * @param clusterIds ids of the configured Redis clusters; empty if they are unknown, as with a mock of the cache
     * @param problemWith returns the reason why values of a type cannot be restored, or null
     * @param unknown beans whose annotations are unknown
     * @return problems: an update of an entry that is not cached, an unknown cluster, or a type that cannot be restored
     */
    List<InvalidCacheDeclarationException> complete(
            Set<String> clusterIds, Function<Type, @Nullable String> problemWith, UnknownBeans unknown) {
        CachedMethods parent = parent();
        return declarations.complete(new CacheDeclarations.Surroundings(
                clusterIds, problemWith, parent == null ? null : parent.declarations, unknown));
    }

    /** Logs the declared caches, and settings without effect, after a successful start. */
    void report() {
        declarations.warnOfUnusedSettings(prefixesOfSpecsAlone());
        shared.warn();
        Set<String> lines = new TreeSet<>(declarations.describeExternal());
        lines.addAll(declarations.describeClearing());
        announced.forEach((operation, where) -> lines.add(describe(where, operation)));
        announced.clear();
        lines.forEach(log::info);
    }

    /** Settings apply to a method of the same prefix. */
    private Set<String> prefixesOfSpecsAlone() {
        Set<String> prefixes = new TreeSet<>(ofBeans);
        announced.keySet().forEach(read -> prefixes.remove(read.spec().prefix()));
        return prefixes;
    }

    private @Nullable CachedMethods parent() {
        BeanFactory parent = beans instanceof HierarchicalBeanFactory child ? child.getParentBeanFactory() : null;
        return parent == null
                ? null
                : parent.getBeanProvider(CachedMethods.class).getIfAvailable();
    }

    private @Nullable ReadOperation findRead(Method method, Class<?> targetClass) {
        List<MergedAnnotation<Cacheable>> found = CacheAnnotations.cacheable(method, targetClass);
        if (found.isEmpty()) {
            return null;
        }
        CachedMethod where = factory.site(found.get(0), method, targetClass);
        ReadOperation operation = factory.read(where, found.get(0));
        declarations.declare(where, operation.spec(), operation.key().texts());
        declared.putIfAbsent(
                where.describe(),
                new DeclaredCache(
                        where.describe(),
                        operation.spec(),
                        operation.key().declared(),
                        settings.inForce(operation.spec(), operation.settings())));
        return operation;
    }

    private @Nullable UpdateOperation findUpdate(Method method, Class<?> targetClass) {
        List<MergedAnnotation<UpdateCache>> found = CacheAnnotations.updateCache(method, targetClass);
        if (found.isEmpty()) {
            return null;
        }
        List<UpdateOperation.Declared> all = found.stream()
                .map(annotation ->
                        factory.update(factory.site(annotation, method, targetClass), annotation, declarations::specOf))
                .toList();
        all.forEach(one -> declarations.update(one.update()));
        return UpdateOperation.of(all);
    }

    /** Logged at the end of the start, or at once for declarations found later. */
    private void announce(CachedMethod where, ReadOperation operation) {
        if (declarations.isComplete()) {
            log.info(describe(where, operation));
        } else {
            announced.put(operation, where);
        }
    }

    private String describe(CachedMethod where, ReadOperation operation) {
        CacheSpec<?> spec = operation.spec();
        return "easy-cache: " + where.shortName() + " -> "
                + settings.keyPattern(spec, operation.key().texts()) + " on " + spec.clusterId() + ", "
                + stalenessOf(spec);
    }
}
