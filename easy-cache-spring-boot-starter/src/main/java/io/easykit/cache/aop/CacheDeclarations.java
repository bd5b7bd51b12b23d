package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.aop.OperationFactory.CacheName;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The declared caches and the updates that refer to them, with the rules between them.
 *
 * <p>Beans are created in any order, so declarations are only collected until {@link #complete}. Those of beans that
 * are created later are checked at once. Declarations of a parent context are visible to its children.
 */
final class CacheDeclarations {

    static final String READABLE =
            "Return a record, a class with a no-argument constructor, or one with a public constructor for"
                    + " all fields; put @JsonTypeInfo on an abstract type; or define a ValueCodec bean that can read it.";

    private static final Logger log = LoggerFactory.getLogger(CacheDeclarations.class);

    private final OperationFactory factory;
    private final CacheSettingsTable settings;

    private final Map<CacheName, Declaration> declared = new ConcurrentHashMap<>();
    private final Map<CacheName, CacheSpec<?>> undeclared = new ConcurrentHashMap<>();
    private final Set<DeclaredUpdate> updates = ConcurrentHashMap.newKeySet();
    /** Prefixes with updates that have none of our annotations, and whether one knows its key only after its method. */
    private final Map<String, Boolean> otherUpdates = new ConcurrentHashMap<>();

    private volatile @Nullable Surroundings surroundings;

    CacheDeclarations(OperationFactory factory, CacheSettingsTable settings) {
        this.factory = factory;
        this.settings = settings;
    }

    /**
     * The environment of the declarations of one context.
     *
     * @param clusterIds ids of the configured Redis clusters; empty if they are unknown
     * @param problems returns the reason why values of a type cannot be restored, or null
     * @param parent declarations of the parent context; null if there is none
     * @param unknown beans whose annotations are unknown
     */
    record Surroundings(
            Set<String> clusterIds,
            Function<Type, @Nullable String> problems,
            @Nullable CacheDeclarations parent,
            UnknownBeans unknown) {}

    /** Adds the cache of a method. */
    void declare(CachedMethod where, CacheSpec<?> spec, List<String> keys) {
        Declaration declaration = new Declaration(where, where.describe(), spec, keys);
        Declaration first = declared.putIfAbsent(CacheName.of(spec), declaration);
        if (first != null) {
            requireSame(where, first, declaration);
        }
        Surroundings around = surroundings;
        if (around != null) {
            requireCluster(where, CacheName.of(spec), around);
            requireReadable(where, spec, around);
            updates.stream()
                    .filter(update -> update.name().equals(CacheName.of(spec)))
                    .forEach(update -> check(update, around));
        }
    }

    /** Adds the cache of a {@link CacheSpec} bean, or of a method with Spring's annotation. */
    void declare(String source, CacheSpec<?> spec) {
        Declaration declaration = new Declaration(null, source, spec, null);
        Declaration first = declared.putIfAbsent(CacheName.of(spec), declaration);
        if (first == null || first.spec.equals(spec)) {
            return;
        }
        if (first.where != null) {
            requireSame(first.where, declaration, first);
        } else {
            log.warn(
                    "easy-cache: the cache '{}' is declared by {} and differently by {}. Updates use the first"
                            + " declaration. Use the same cluster, type and options in both.",
                    spec.prefix(),
                    first.source,
                    declaration.source);
        }
    }

    /** Records an update that has none of our annotations. The settings of the prefix are not reported as unused then. */
    void use(String prefix, boolean isKnownAfterMethod) {
        otherUpdates.merge(prefix, isKnownAfterMethod, Boolean::logicalOr);
    }

    /** Adds an entry that a method updates. */
    void update(DeclaredUpdate update) {
        updates.add(update);
        Surroundings around = surroundings;
        if (around != null) {
            check(update, around); // also one that was refused before
        }
    }

    /**
     * Checks the declarations collected so far.
     *
     * @return problems: an unknown cluster or prefix, or a key that never matches an entry
     */
    List<InvalidCacheDeclarationException> complete(Surroundings around) {
        surroundings = around;
        List<InvalidCacheDeclarationException> problems = new ArrayList<>();
        declared.forEach((name, declaration) -> {
            if (declaration.where != null) {
                collect(problems, () -> requireCluster(declaration.where, name, around));
                collect(problems, () -> requireReadable(declaration.where, declaration.spec, around));
            }
        });
        updates.forEach(update -> collect(problems, () -> check(update, around)));
        return problems;
    }

    private static void collect(List<InvalidCacheDeclarationException> problems, Runnable check) {
        try {
            check.run();
        } catch (InvalidCacheDeclarationException problem) {
            problems.add(problem);
        }
    }

    boolean isComplete() {
        return surroundings != null;
    }

    /** Whether the keys of some update are known only after its method. */
    boolean isUpdatedByResult(CacheSpec<?> spec) {
        return otherUpdates.getOrDefault(spec.prefix(), false)
                || updates.stream()
                        .anyMatch(update -> update.name().equals(CacheName.of(spec)) && update.isKnownAfterMethod());
    }

    /** Returns the cache of an update: as declared, or with the settings alone. */
    CacheSpec<?> specOf(CacheName name) {
        Declaration declaration = find(name);
        return declaration != null ? declaration.spec : undeclared.computeIfAbsent(name, this::undeclared);
    }

    /** Returns one line for each update of a cache that only another application declares. */
    Set<String> describeExternal() {
        return updates.stream()
                .filter(update -> find(update.name()) == null
                        && settings.externalPrefixes().contains(update.name().prefix()))
                .map(this::describeExternal)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private String describeExternal(DeclaredUpdate update) {
        CacheSpec<?> spec = specOf(update.name());
        String entries = update.isOfAll() ? "all of " + spec.prefix() : settings.keyPattern(spec, update.keys());
        return "easy-cache: " + update.where().shortName() + " updates " + entries + " on "
                + spec.clusterId() + ", which another application caches; it is treated as "
                + spec.options().consistency() + " with a stale window of "
                + CacheOptions.text(spec.options().effectiveStaleWindow()) + " (easy-cache.caches."
                + update.name().settingsName()
                + " must be equal in that application)";
    }

    /** Returns one line for each method that clears a cache. */
    Set<String> describeClearing() {
        return updates.stream()
                .filter(DeclaredUpdate::isOfAll)
                .map(update -> "easy-cache: " + update.where().shortName() + " clears "
                        + Staleness.describeClearing(specOf(update.name())))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private void check(DeclaredUpdate update, Surroundings around) {
        requireCluster(update.where(), update.name(), around);
        requireDeclared(update, around);
        requireSameParts(update);
        CacheSpec<?> spec = specOf(update.name());
        if (update.isKnownAfterMethod()) {
            SerialRules.refuseLateKey(update.where(), spec);
        }
    }

    private void requireSame(CachedMethod where, Declaration first, Declaration second) {
        if (first.spec.options().consistency() != second.spec.options().consistency()
                || !first.spec
                        .options()
                        .effectiveStaleWindow()
                        .equals(second.spec.options().effectiveStaleWindow())) {
            throw where.problem(
                    "the cache '" + second.spec.prefix() + "' is declared with another consistency or stale"
                            + " window by " + first.source,
                    "Use the same in both, or set it once for the prefix under easy-cache.caches.");
        }
        SerialRules.requireSame(where, first.spec, second.spec, first.source);
        String type = first.spec.type().getTypeName();
        if (!type.equals(second.spec.type().getTypeName())) {
            throw where.problem(
                    "the cache '" + second.spec.prefix() + "' holds " + type + " by " + first.source
                            + ", so neither could read what the other stores",
                    "Use another prefix for one of them.");
        }
        if (first.keys != null && second.keys != null && first.keys.size() != second.keys.size()) {
            throw where.problem(
                    "the key has " + parts(second.keys) + ", but the cache '" + second.spec.prefix()
                            + "' has keys of " + parts(first.keys) + " by " + first.source
                            + ", so an update of one would not invalidate the other's entries",
                    "Use the same parts in both, or another prefix for one of them.");
        }
    }

    private static void requireCluster(CachedMethod where, CacheName name, Surroundings around) {
        if (!around.clusterIds.isEmpty() && !around.clusterIds.contains(name.clusterId())) {
            throw where.problem(
                    "the Redis cluster '" + name.clusterId() + "' is not configured",
                    "Use one of " + new TreeSet<>(around.clusterIds) + ".");
        }
    }

    /** A value that cannot be read again would be stored for nothing, and loaded each time. */
    private static void requireReadable(CachedMethod where, CacheSpec<?> spec, Surroundings around) {
        String problem = around.problems.apply(spec.type());
        if (problem != null) {
            throw where.problem(problem, READABLE);
        }
    }

    /** An update of a prefix without a cache would invalidate nothing. */
    private void requireDeclared(DeclaredUpdate update, Surroundings around) {
        CacheName name = update.name();
        if (find(name) != null || settings.externalPrefixes().contains(name.prefix())) {
            return;
        }
        if (!around.unknown.replaced().isEmpty()) {
            log.warn(
                    "easy-cache: {} updates '{}', but no @Cacheable with that prefix was found. It may be on a class that"
                            + " one of the beans {} replaces: they are mocks or other registered instances. Otherwise"
                            + " correct the prefix: without these beans the start fails. If another application caches it,"
                            + " or to be rid of this line, add it to easy-cache.external-prefixes.",
                    update.where().shortName(),
                    name.prefix(),
                    around.unknown.replaced());
            return;
        }
        Set<CacheName> all = names();
        Set<String> clusters = all.stream()
                .filter(declared -> declared.prefix().equals(name.prefix()))
                .map(CacheName::clusterId)
                .collect(Collectors.toCollection(TreeSet::new));
        if (!clusters.isEmpty()) {
            throw update.where()
                    .problem(
                            "it updates '" + name.prefix() + "' on Redis cluster '" + name.clusterId()
                                    + "', but that is cached on " + clusters,
                            "Use the clusterId of the @Cacheable.");
        }
        Set<String> known = all.stream().map(CacheName::prefix).collect(Collectors.toCollection(TreeSet::new));
        throw update.where()
                .problem(
                        "no @Cacheable has the prefix '" + name.prefix()
                                + "', so nothing would be invalidated; known are " + known,
                        "Correct the prefix. If another application caches it, add it to easy-cache.external-prefixes."
                                + " If it is the prefix of a CacheSpec, define that as a bean."
                                + around.unknown.remedy());
    }

    private void requireSameParts(DeclaredUpdate update) {
        Declaration declaration = find(update.name());
        if (declaration != null
                && declaration.keys != null
                && !update.isOfAll()
                && declaration.keys.size() != update.keys().size()) {
            throw update.where()
                    .problem(
                            "the key has " + parts(update.keys()) + ", but the keys of '"
                                    + update.name().prefix() + "' have "
                                    + parts(declaration.keys) + " by " + declaration.source
                                    + ", so nothing would be invalidated",
                            "Name the same parts in the same order, each as an element of keys.");
        }
    }

    private static String parts(List<String> keys) {
        return (keys.size() == 1 ? "1 part " : keys.size() + " parts ") + keys;
    }

    /** @param ofSpecs prefixes whose options are those of a {@link CacheSpec} bean alone */
    void warnOfUnusedSettings(Set<String> ofSpecs) {
        Set<String> used = names().stream().map(CacheName::prefix).collect(Collectors.toSet());
        updates.forEach(update -> used.add(update.name().prefix()));
        used.addAll(otherUpdates.keySet());
        UnusedSettings.warn(settings, used, ofSpecs);
    }

    private Set<CacheName> names() {
        Set<CacheName> names = new LinkedHashSet<>(declared.keySet());
        CacheDeclarations parent = parent();
        if (parent != null) {
            names.addAll(parent.names());
        }
        return names;
    }

    private @Nullable Declaration find(CacheName name) {
        Declaration own = declared.get(name);
        CacheDeclarations parent = parent();
        return own != null || parent == null ? own : parent.find(name);
    }

    private @Nullable CacheDeclarations parent() {
        Surroundings around = surroundings;
        return around == null ? null : around.parent;
    }

    private CacheSpec<?> undeclared(CacheName name) {
        CachedMethod where = updates.stream()
                .filter(update -> update.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No method updates " + name))
                .where();
        return factory.undeclared(where, name);
    }

    /**
     * A cache.
     *
     * @param where null if it is not declared by a method
     * @param source description for messages
     * @param keys the parts of its keys; null if unknown
     */
    private record Declaration(
            @Nullable CachedMethod where, String source, CacheSpec<?> spec, @Nullable List<String> keys) {}
}
