package io.easykit.cache.actuate;

import io.easykit.boot.OperatorAudit;
import io.easykit.boot.OperatorAudit.Outcome;
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
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Shows the state of every Redis, the caches of this node and the explanation of an entry. Lets operators with unrestricted
 * access evict an entry, drop a prefix, and force the state of a Redis. Shows no cached value.
 *
 * <p>All parameters are optional for Spring Boot, so that the error can name the missing parameter.
 */
@Endpoint(id = "easycache", defaultAccess = Access.READ_ONLY)
public final class EasyCacheEndpoint {

    /** A user without a login. */
    static final String ANONYMOUS = "anonymous";

    private static final String HOW_TO_NAME_AN_ENTRY =
            "Give 'prefix' and 'part', or 'key' for its whole name, for example user::42.";

    private final EasyCache cache;
    private final @Nullable EasyCacheAdmin admin;
    private final OperatorAudit audit;

    /** @param admin null if the application replaces {@link EasyCache} */
    public EasyCacheEndpoint(EasyCache cache, @Nullable EasyCacheAdmin admin, OperatorAudit audit) {
        this.cache = cache;
        this.admin = admin;
        this.audit = audit;
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
    public Map<String, ClusterState> clusters() {
        return ClusterState.all(cache);
    }

    /**
     * Shows {@code caches}, or explains an entry.
     *
     * @param part one text, or a list of them
     */
    @ReadOperation
    public Object show(
            @Selector String view,
            @Nullable String cluster,
            @Nullable String prefix,
            @Nullable Object part,
            @Nullable String key) {
        return checked(() -> switch (view) {
            case "caches" -> CacheView.all(admin(), prefix);
            case "explain" -> ExplainedEntry.of(admin().explain(entry(cluster, prefix, part, key)));
            default -> throw new RefusedRequest(404, "There is no '" + view + "'.", "Use caches or explain.");
        });
    }

    /**
     * Acts.
     *
     * @param action {@code evict}, {@code drop} or {@code force}
     * @param part one text, or a list of them
     * @param state {@code available}, {@code unavailable} or {@code auto}
     */
    @WriteOperation
    public Object act(
            @Selector String action,
            @Nullable String cluster,
            @Nullable String prefix,
            @Nullable Object part,
            @Nullable String key,
            @Nullable String state) {
        return act(ANONYMOUS, new Change(action, cluster, prefix, part, key, state));
    }

    /** The parameters of a change. */
    record Change(
            String action,
            @Nullable String cluster,
            @Nullable String prefix,
            @Nullable Object part,
            @Nullable String key,
            @Nullable String state) {

        private String name() {
            return shown(action);
        }

        private boolean isForce() {
            return action.equals("force");
        }

        private String target() {
            return shown(isForce() ? cluster : prefix);
        }

        private List<String> ids() {
            return part == null && key == null ? List.of() : List.of(shown(key == null ? part : key));
        }

        private String filter() {
            return isForce() ? shown(state) : cluster == null ? "" : "on cluster " + shown(cluster);
        }

        private static String shown(@Nullable Object value) {
            return value == null ? "" : OperatorAudit.cut(value.toString());
        }
    }

    /**
     * Acts and records it.
     *
     * @param who name of the user
     */
    Object act(String who, Change change) {
        Map<String, Object> entry = audit.entry(change.name(), who, "actuator");
        entry.put("topic", change.target());
        entry.put("count", change.ids().size());
        entry.put("ids", change.ids());
        entry.put("filter", change.filter());
        return audit.around(
                entry,
                () -> made(change),
                EasyCacheEndpoint::details,
                failure -> failure instanceof RefusedRequest ? Outcome.REFUSED : Outcome.FAILED);
    }

    private Object made(Change change) {
        return checked(() -> switch (change.action) {
            case "evict" -> evict(entry(change.cluster, change.prefix, change.part, change.key));
            case "drop" -> drop(change.cluster, change.prefix);
            case "force" -> force(change.cluster, change.state);
            default ->
                throw new RefusedRequest(
                        404, "There is no action '" + change.action + "'.", "Use evict, drop or force.");
        });
    }

    private static Map<String, Object> details(Object reply) {
        if (reply instanceof Evicted evicted) {
            return Map.of("acknowledged", evicted.acknowledged, "ids", List.of(evicted.key));
        }
        return reply instanceof Dropped dropped ? Map.of("acknowledged", dropped.acknowledged) : Map.of();
    }

    private Evicted evict(CacheKey<?> key) {
        boolean acknowledged = admin().evict(key);
        return new Evicted(key.name(), acknowledged, result(acknowledged));
    }

    private Dropped drop(@Nullable String cluster, @Nullable String prefix) {
        if (prefix == null || prefix.isBlank()) {
            throw new RefusedRequest(
                    400, "The request has no 'prefix'.", "Name the 'prefix' whose entries are to be dropped.");
        }
        boolean acknowledged = admin().drop(cluster, prefix);
        return new Dropped(prefix, acknowledged, result(acknowledged));
    }

    private static String result(boolean acknowledged) {
        return acknowledged
                ? "Redis has acknowledged it."
                : "Redis did not answer. This node keeps it, and delivers it when Redis answers.";
    }

    private Map<String, ClusterState> force(@Nullable String cluster, @Nullable String state) {
        if (cluster == null) {
            throw new RefusedRequest(
                    400,
                    "The request has no 'cluster'.",
                    "Name the 'cluster', one of " + new TreeSet<>(cache.clusterIds()) + ".");
        }
        switch (state == null ? "" : state.toLowerCase(Locale.ROOT)) {
            case "available" -> admin().force(cluster, State.AVAILABLE);
            case "unavailable" -> admin().force(cluster, State.UNAVAILABLE);
            case "auto" -> admin().reset(cluster);
            default ->
                throw new RefusedRequest(
                        400,
                        state == null ? "The request has no 'state'." : "There is no state '" + state + "'.",
                        "Give the 'state': available, unavailable or auto.");
        }
        return clusters();
    }

    private CacheKey<?> entry(
            @Nullable String cluster, @Nullable String prefix, @Nullable Object part, @Nullable String key) {
        if (key != null) {
            return admin().keyNamed(cluster, key);
        }
        if (prefix == null || part == null) {
            throw new RefusedRequest(400, "The request does not name an entry.", HOW_TO_NAME_AN_ENTRY);
        }
        List<String> parts = part instanceof Collection<?> several
                ? several.stream().map(EasyCacheEndpoint::text).toList()
                : List.of(text(part));
        return admin().key(cluster, prefix, parts);
    }

    private static String text(@Nullable Object part) {
        if (part instanceof CharSequence || part instanceof Number || part instanceof Boolean) {
            return part.toString();
        }
        throw new RefusedRequest(
                400, "A 'part' is " + (part == null ? "null." : "no text."), "Give each part of the key as a text.");
    }

    private EasyCacheAdmin admin() {
        if (admin == null) {
            throw new RefusedRequest(
                    409,
                    "This application replaces EasyCache, so only the state of each Redis is shown.",
                    "Define an EasyCacheEngine as a bean to see and change more.");
        }
        return admin;
    }

    private static <T> T checked(Supplier<T> work) {
        try {
            return work.get();
        } catch (EasyCacheException wrong) {
            throw new RefusedRequest(CacheProblem.of(wrong));
        }
    }
}
