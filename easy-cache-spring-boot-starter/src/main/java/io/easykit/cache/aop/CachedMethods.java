package io.easykit.cache.aop;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.aop.OperationFactory.CacheName;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;

/**
 * The annotated methods of an application: each is read and checked once, and its operation found again by method and
 * class.
 *
 * <p>{@link #inspect} is told of each bean's class at start; {@link #complete} then checks what concerns several of them
 * and says what was found.
 */
public final class CachedMethods {

    private static final Logger log = LoggerFactory.getLogger(CachedMethods.class);

    private final OperationFactory factory;
    private final CacheSettingsTable settings;
    private final Staleness staleness;

    private final Map<MethodClassKey, Optional<ReadOperation>> reads = new ConcurrentHashMap<>();
    private final Map<MethodClassKey, Optional<UpdateOperation>> updates = new ConcurrentHashMap<>();
    private final Map<CacheName, Declaration> declarations = new ConcurrentHashMap<>();
    private final Map<CacheName, CacheSpec<?>> undeclared = new ConcurrentHashMap<>();
    private final Map<CacheName, CachedMethod> updated = new ConcurrentHashMap<>();
    private final Set<String> lines = new ConcurrentSkipListSet<>();
    private volatile @Nullable Set<String> clusterIds;

    public CachedMethods(Environment environment, BeanFactory beans, CacheSettingsTable settings, Staleness staleness) {
        this.factory = new OperationFactory(environment, beans, settings);
        this.settings = settings;
        this.staleness = staleness;
    }

    /** Null if the method is not {@code @Cacheable}. */
    @Nullable ReadOperation read(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<ReadOperation> known = reads.get(key);
        if (known == null) {
            known = Optional.ofNullable(findRead(method, targetClass));
            reads.put(key, known);
        }
        return known.orElse(null);
    }

    /** Null if the method has no {@code @UpdateCache}. */
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
     * Reads and checks the annotated methods of a bean's class. Costs nothing the second time.
     *
     * @param classProxies whether beans with interfaces get class proxies too
     * @throws InvalidCacheDeclarationException if one cannot work
     */
    void inspect(Class<?> beanClass, boolean classProxies) {
        for (Method method : annotated(beanClass)) {
            for (CachedMethod where : sites(method, beanClass)) {
                MethodRules.requireInterceptable(where, classProxies);
            }
            ReadOperation read = read(method, beanClass);
            if (read != null) {
                announce(sites(method, beanClass).get(0), read);
            }
            update(method, beanClass);
        }
    }

    private List<CachedMethod> sites(Method method, Class<?> beanClass) {
        return Stream.concat(
                        CacheAnnotations.cacheable(method, beanClass).stream(),
                        CacheAnnotations.updateCache(method, beanClass).stream())
                .map(annotation -> factory.site(annotation, method, beanClass))
                .toList();
    }

    /** The methods of a class that carry one of our annotations. */
    static Set<Method> annotated(Class<?> beanClass) {
        return MethodIntrospector.selectMethods(
                beanClass,
                (Method method) -> !CacheAnnotations.cacheable(method, beanClass)
                                .isEmpty()
                        || !CacheAnnotations.updateCache(method, beanClass).isEmpty());
    }

    /**
     * Checks what concerns several methods, and logs one line for each cached one.
     *
     * @param known the Redis clusters that there are
     * @throws InvalidCacheDeclarationException if a cluster is unknown, or an update is on another one than its cache
     */
    void complete(Set<String> known) {
        clusterIds = known;
        declarations.forEach((name, declaration) -> requireCluster(name, declaration.where()));
        updated.forEach(this::requireCluster);
        updated.forEach(this::requireSameCluster);
        updated.keySet().forEach(this::specOf);
        warnOfUnusedSettings();
        lines.forEach(log::info);
        lines.clear();
    }

    private @Nullable ReadOperation findRead(Method method, Class<?> targetClass) {
        List<MergedAnnotation<Cacheable>> found = CacheAnnotations.cacheable(method, targetClass);
        if (found.isEmpty()) {
            return null;
        }
        CachedMethod where = factory.site(found.get(0), method, targetClass);
        ReadOperation operation = factory.read(where, found.get(0));
        declare(where, operation);
        return operation;
    }

    private @Nullable UpdateOperation findUpdate(Method method, Class<?> targetClass) {
        List<MergedAnnotation<UpdateCache>> found = CacheAnnotations.updateCache(method, targetClass);
        if (found.isEmpty()) {
            return null;
        }
        List<CachedMethod> wheres = found.stream()
                .map(annotation -> factory.site(annotation, method, targetClass))
                .toList();
        UpdateOperation operation = factory.update(wheres, found, this::specOf);
        for (int i = 0; i < found.size(); i++) {
            CacheName name = factory.name(wheres.get(i), found.get(i));
            if (updated.putIfAbsent(name, wheres.get(i)) == null && clusterIds != null) {
                requireCluster(name, wheres.get(i));
            }
        }
        return operation;
    }

    private void declare(CachedMethod where, ReadOperation operation) {
        CacheName name = CacheName.of(operation.spec());
        Declaration declaration = new Declaration(where, operation.spec());
        Declaration first = declarations.putIfAbsent(name, declaration);
        if (first != null) {
            requireSame(first, declaration);
        }
        if (clusterIds != null) {
            requireCluster(name, where);
        }
    }

    /** One line at the end of the start, or at once for what is found later. */
    private void announce(CachedMethod where, ReadOperation operation) {
        String line = "easy-cache: " + where.shortName() + " -> "
                + operation.spec().keyPattern(operation.key().texts()) + " on "
                + operation.spec().clusterId() + ", "
                + staleness.describe(operation.spec().options());
        if (clusterIds == null) {
            lines.add(line);
        } else {
            log.info(line);
        }
    }

    private static void requireSame(Declaration first, Declaration second) {
        String other = first.where().describe();
        if (first.spec().options().consistency() != second.spec().options().consistency()
                || !first.spec()
                        .options()
                        .window()
                        .equals(second.spec().options().window())) {
            throw second.where()
                    .problem(
                            "the cache '" + second.spec().prefix() + "' is declared with another consistency or stale"
                                    + " window by " + other,
                            "Give both the same, or set it once for the prefix under easy-cache.caches.");
        }
        String type = first.spec().type().getTypeName();
        if (!type.equals(second.spec().type().getTypeName())) {
            throw second.where()
                    .problem(
                            "the cache '" + second.spec().prefix() + "' holds " + type + " by " + other
                                    + ", so neither could read what the other stores",
                            "Give one of them another prefix.");
        }
    }

    private void requireCluster(CacheName name, CachedMethod where) {
        Set<String> known = clusterIds;
        if (known != null && !known.contains(name.clusterId())) {
            throw where.problem(
                    "the Redis cluster '" + name.clusterId() + "' is not configured",
                    "Use one of " + new TreeSet<>(known) + ".");
        }
    }

    /** An update of an entry that is cached elsewhere would invalidate nothing. */
    private void requireSameCluster(CacheName name, CachedMethod where) {
        Set<String> clusters = declarations.keySet().stream()
                .filter(declared -> declared.prefix().equals(name.prefix()))
                .map(CacheName::clusterId)
                .collect(Collectors.toCollection(TreeSet::new));
        if (!clusters.isEmpty() && !clusters.contains(name.clusterId())) {
            throw where.problem(
                    "it updates '" + name.prefix() + "' on Redis cluster '" + name.clusterId()
                            + "', but that is cached on " + clusters,
                    "Give it the clusterId of the @Cacheable.");
        }
    }

    private void warnOfUnusedSettings() {
        Set<String> unused = new LinkedHashSet<>(settings.caches().keySet());
        declarations.keySet().forEach(name -> unused.remove(name.prefix()));
        updated.keySet().forEach(name -> unused.remove(name.prefix()));
        for (String prefix : unused) {
            log.warn(
                    "easy-cache.caches has settings for '{}', but no @Cacheable or @UpdateCache has that prefix. Correct"
                            + " the name (in brackets if it has dots or colons), or remove them.",
                    prefix);
        }
    }

    /** The cache that an update speaks of: as declared, else with the settings only. */
    private CacheSpec<?> specOf(CacheName name) {
        Declaration declared = declarations.get(name);
        return declared != null ? declared.spec() : undeclared.computeIfAbsent(name, this::undeclared);
    }

    private CacheSpec<?> undeclared(CacheName name) {
        CachedMethod where = updated.get(name);
        if (where == null) {
            throw new IllegalStateException("Nobody updates " + name);
        }
        return factory.undeclared(where, name);
    }

    private record Declaration(CachedMethod where, CacheSpec<?> spec) {}
}
