package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.admin.EasyCacheAdmin;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Shows the state of every Redis, the caches of this node and the explanation of an entry. Lets operators with unrestricted
 * access evict an entry, drop a prefix, and force the state of a Redis. Shows no cached value.
 *
 * <p>All parameters are optional for Spring Boot, so that an answer can name the one that is missing.
 */
@Endpoint(id = "easycache", defaultAccess = Access.READ_ONLY)
final class EasyCacheEndpoint {

    private static final String HOW_TO_NAME_AN_ENTRY =
            "Name the entry: 'prefix' and 'part', or 'key' for its whole name, for example user::42.";

    private final EasyCache cache;
    private final EasyCacheAdmin admin;

    EasyCacheEndpoint(EasyCache cache, EasyCacheAdmin admin) {
        this.cache = cache;
        this.admin = admin;
    }

    /**
     * An entry that was invalidated.
     *
     * @param acknowledged whether Redis has acknowledged it
     */
    record Evicted(String key, boolean acknowledged, String result) {}

    /**
     * A prefix whose entries were all invalidated.
     *
     * @param acknowledged whether Redis has acknowledged it
     */
    record Dropped(String prefix, boolean acknowledged, String result) {}

    @ReadOperation
    Map<String, ClusterState> clusters() {
        return ClusterState.all(cache);
    }

    /**
     * Shows {@code caches}, or explains an entry.
     *
     * @param part one text, or a list of them
     */
    @ReadOperation
    Object show(
            @Selector String view,
            @Nullable String cluster,
            @Nullable String prefix,
            @Nullable Object part,
            @Nullable String key) {
        return checked(() -> switch (view) {
            case "caches" -> CacheView.all(admin, prefix);
            case "explain" -> admin.explain(entry(cluster, prefix, part, key));
            default -> throw refused("There is no '" + view + "'. Use caches or explain.");
        });
    }

    /**
     * Acts.
     *
     * @param action {@code evict}, {@code drop} or {@code force}. For one release any other word is a cluster whose state is
     *     forced
     * @param part one text, or a list of them
     * @param state {@code AVAILABLE}, {@code UNAVAILABLE} or {@code AUTO}
     */
    @WriteOperation
    Object act(
            @Selector String action,
            @Nullable String cluster,
            @Nullable String prefix,
            @Nullable Object part,
            @Nullable String key,
            @Nullable String state) {
        return checked(() -> switch (action) {
            case "evict" -> evict(entry(cluster, prefix, part, key));
            case "drop" -> drop(cluster, prefix);
            case "force" -> force(cluster, state);
            default -> forceAsBefore(action, state);
        });
    }

    private Evicted evict(CacheKey<?> key) {
        boolean acknowledged = admin.evict(key);
        return new Evicted(key.name(), acknowledged, result(acknowledged));
    }

    private Dropped drop(@Nullable String cluster, @Nullable String prefix) {
        if (prefix == null || prefix.isBlank()) {
            throw refused("Name the 'prefix' whose entries are to be dropped.");
        }
        boolean acknowledged = admin.drop(cluster, prefix);
        return new Dropped(prefix, acknowledged, result(acknowledged));
    }

    private static String result(boolean acknowledged) {
        return acknowledged
                ? "Redis has acknowledged it."
                : "Redis did not answer. This node keeps it, and delivers it when Redis answers.";
    }

    private Map<String, ClusterState> forceAsBefore(String cluster, @Nullable String state) {
        if (!cache.clusterIds().contains(cluster)) {
            throw refused("There is no action or Redis cluster '" + cluster + "'. Use evict, drop or force.");
        }
        return force(cluster, state);
    }

    private Map<String, ClusterState> force(@Nullable String cluster, @Nullable String state) {
        if (cluster == null) {
            throw refused("Name the 'cluster', one of " + new TreeSet<>(cache.clusterIds()) + ".");
        }
        switch (state == null ? "" : state.toUpperCase(Locale.ROOT)) {
            case "AVAILABLE" -> admin.force(cluster, State.AVAILABLE);
            case "UNAVAILABLE" -> admin.force(cluster, State.UNAVAILABLE);
            case "AUTO" -> admin.reset(cluster);
            default -> throw refused("Give the 'state': AVAILABLE, UNAVAILABLE or AUTO.");
        }
        return clusters();
    }

    private CacheKey<?> entry(
            @Nullable String cluster, @Nullable String prefix, @Nullable Object part, @Nullable String key) {
        if (key != null) {
            return admin.keyNamed(cluster, key);
        }
        if (prefix == null || part == null) {
            throw refused(HOW_TO_NAME_AN_ENTRY);
        }
        List<String> parts = part instanceof Collection<?> several
                ? several.stream().map(String::valueOf).toList()
                : List.of(part.toString());
        return admin.key(cluster, prefix, parts);
    }

    private static <T> T checked(Supplier<T> work) {
        try {
            return work.get();
        } catch (EasyCacheException wrong) {
            throw refused(String.valueOf(wrong.getMessage()));
        }
    }

    private static InvalidEndpointRequestException refused(String problem) {
        return new InvalidEndpointRequestException(problem, problem);
    }
}
