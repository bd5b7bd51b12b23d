package io.easykit.cache.engine;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.UnknownCacheException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The caches of this node: those that it declares, and those that it has used. */
final class KnownCaches {

    private final Supplier<List<CacheDeclaration>> declared;
    private final CacheCounts counts;

    /** @param declared returns the declared caches */
    KnownCaches(Supplier<List<CacheDeclaration>> declared, CacheCounts counts) {
        this.declared = declared;
        this.counts = counts;
    }

    /** All of them, by prefix and cluster. */
    List<CacheInfo> all() {
        return known().values().stream()
                .map(this::info)
                .sorted(Comparator.comparing(CacheInfo::prefix).thenComparing(CacheInfo::clusterId))
                .toList();
    }

    /**
     * Finds a cache.
     *
     * @param clusterId null if the prefix is on one cluster only
     * @throws UnknownCacheException if there is none, or several
     */
    Known find(@Nullable String clusterId, String prefix) {
        List<Known> all = List.copyOf(known().values());
        List<Known> found =
                all.stream().filter(one -> one.spec.prefix().equals(prefix)).toList();
        if (found.isEmpty()) {
            throw UnknownCacheException.unknown(
                    prefix, all.stream().map(one -> one.spec.prefix()).toList());
        }
        if (clusterId == null && found.size() == 1) {
            return found.get(0);
        }
        Set<String> clusters = found.stream().map(one -> one.spec.clusterId()).collect(Collectors.toSet());
        if (clusterId == null) {
            throw UnknownCacheException.ambiguous(prefix, clusters);
        }
        return found.stream()
                .filter(one -> one.spec.clusterId().equals(clusterId))
                .findFirst()
                .orElseThrow(() -> UnknownCacheException.elsewhere(prefix, clusterId, clusters));
    }

    private Map<Name, Known> known() {
        Map<Name, List<CacheDeclaration>> declarations = declared.get().stream()
                .collect(Collectors.groupingBy(one -> Name.of(one.spec()), LinkedHashMap::new, Collectors.toList()));
        Map<Name, Known> known = new LinkedHashMap<>();
        declarations.forEach((name, all) -> known.put(name, new Known(all.get(0).spec(), List.copyOf(all))));
        for (CacheSpec<?> spec : counts.specs()) {
            known.computeIfAbsent(Name.of(spec), any -> new Known(spec, programmatic(spec)));
        }
        return known;
    }

    /** Only a cache that is read here has a type of its own. */
    private static List<CacheDeclaration> programmatic(CacheSpec<?> spec) {
        return spec.type() == Object.class
                ? List.of()
                : List.of(new CacheDeclaration(
                        "code that calls EasyCache",
                        spec,
                        List.of(),
                        CacheDeclaration.settings(spec.options(), any -> "CacheSpec"),
                        staleness(spec.options())));
    }

    private static String staleness(CacheOptions options) {
        return options.consistency() == Consistency.CP
                ? "never stale while every node reaches Redis"
                : "worst staleness " + CacheOptions.text(options.worstStaleness()) + " while every node reaches Redis";
    }

    private CacheInfo info(Known known) {
        CacheSpec<?> spec = known.spec;
        return new CacheInfo(
                spec.prefix(),
                spec.clusterId(),
                spec.options().consistency(),
                spec.options().worstStaleness(),
                known.declarations,
                counts.numbers(spec.clusterId(), spec.prefix()));
    }

    private record Name(String clusterId, String prefix) {

        static Name of(CacheSpec<?> spec) {
            return new Name(spec.clusterId(), spec.prefix());
        }
    }

    /**
     * A cache of this node.
     *
     * @param declarations empty if it is not declared here
     */
    record Known(CacheSpec<?> spec, List<CacheDeclaration> declarations) {

        /** The declared keys, for people. Declarations may differ in the number of parts. Empty if no key is known. */
        List<String> keys() {
            return declarations.stream()
                    .map(CacheDeclaration::keyParts)
                    .filter(parts -> !parts.isEmpty())
                    .map(parts -> parts.stream()
                            .map(CacheDeclaration.KeyPart::text)
                            .toList()
                            .toString())
                    .distinct()
                    .toList();
        }

        /** Whether a declaration has keys of so many parts, or does not show their number. */
        boolean mayHaveKeyOf(int parts) {
            return declarations.isEmpty()
                    || declarations.stream()
                            .map(one -> one.keyParts().size())
                            .anyMatch(number -> number == 0 || number == parts);
        }

        /**
         * The types of the parts of a key, as far as they are known.
         *
         * @param number of parts
         * @return empty if no declared key has as many
         */
        List<CacheDeclaration.KeyPart> keyParts(int number) {
            return declarations.stream()
                    .map(CacheDeclaration::keyParts)
                    .filter(parts -> number > 0 && parts.size() == number)
                    .max(Comparator.comparingLong(parts ->
                            parts.stream().filter(part -> part.type() != null).count()))
                    .orElse(List.of());
        }
    }
}
