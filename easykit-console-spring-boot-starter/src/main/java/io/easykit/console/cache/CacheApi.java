package io.easykit.console.cache;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.UnknownClusterException;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import io.easykit.cache.admin.CacheDisabledException;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.CacheNumbers;
import io.easykit.cache.admin.ClusterInfo;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.admin.UnknownCacheException;
import io.easykit.console.ConsoleApi;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.EnglishText;
import io.easykit.console.Input;
import io.easykit.console.Refusal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The cache in the console: the Redis clusters and the caches of this node, and the state of single entries. */
public final class CacheApi implements ConsoleApi {

    private static final int MAX_PARTS = 20;

    private final EasyCacheAdmin admin;

    public CacheApi(EasyCacheAdmin admin) {
        this.admin = admin;
    }

    @Override
    public Set<String> features() {
        return Set.of("caches", "explain");
    }

    @Override
    public Map<String, Read> reads() {
        return Map.of(
                "caches", (request, caller) -> explained(this::caches),
                "explain", (request, caller) -> explained(() -> explain(request)));
    }

    @Override
    public Map<String, Change> changes() {
        return Map.of(
                "evict", (input, caller) -> explained(() -> evict(input)),
                "drop", (input, caller) -> explained(() -> drop(input)),
                "force", (input, caller) -> explained(() -> force(input)));
    }

    private static <T> T explained(Supplier<T> call) {
        try {
            return call.get();
        } catch (UnknownClusterException | UnknownCacheException unknown) {
            throw new Refusal(404, String.valueOf(unknown.getMessage()), "Load the list of caches again.");
        } catch (CacheDisabledException disabled) {
            throw new Refusal(409, String.valueOf(disabled.getMessage()), "Use the console of another node.");
        } catch (EasyCacheException wrong) {
            throw new Refusal(400, String.valueOf(wrong.getMessage()), "Correct the request.");
        }
    }

    private Map<String, Object> caches() {
        List<Map<String, Object>> caches = new ArrayList<>();
        for (CacheInfo info : admin.caches()) {
            if (info.declarations().isEmpty()) {
                caches.add(cache(info));
            }
            for (CacheDeclaration declaration : info.declarations()) {
                Map<String, Object> row = cache(info);
                declared(declaration, row);
                caches.add(row);
            }
        }
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("clusters", admin.clusters().stream().map(CacheApi::cluster).toList());
        reply.put("caches", caches);
        return reply;
    }

    private static Map<String, @Nullable Object> cluster(ClusterInfo info) {
        Map<String, @Nullable Object> cluster = new LinkedHashMap<>();
        cluster.put("cluster", info.id());
        cluster.put("state", info.state().name());
        cluster.put("forced", info.forced() != null);
        Map<String, String> masters = new LinkedHashMap<>();
        info.masters().forEach((name, state) -> masters.put(name, state.name()));
        cluster.put("masters", masters);
        cluster.put("problems", info.problems());
        cluster.put("undelivered", info.undelivered());
        OutboxBacklog outbox = info.outbox();
        cluster.put(
                "outbox",
                outbox == null
                        ? null
                        : Map.of(
                                "count",
                                outbox.waiting(),
                                "oldest",
                                outbox.oldest().toMillis()));
        return cluster;
    }

    private static Map<String, @Nullable Object> cache(CacheInfo info) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("prefix", info.prefix());
        row.put("cluster", info.clusterId());
        row.put("consistency", info.consistency().name());
        row.put("worstStaleness", info.worstStaleness().toMillis());
        CacheNumbers numbers = info.numbers();
        row.put("over", numbers.over().toMillis());
        row.put(
                "reads",
                Map.of(
                        "hit", numbers.hits(),
                        "near", numbers.near(),
                        "stale", numbers.stale(),
                        "local", numbers.local(),
                        "expired", numbers.expired(),
                        "miss", numbers.misses()));
        Map<String, Long> loads = new LinkedHashMap<>();
        numbers.loads().forEach((load, count) -> loads.put(load.name().toLowerCase(Locale.ROOT), count));
        row.put("loads", loads);
        row.put("method", null);
        row.put("key", null);
        row.put("parts", List.of());
        row.put("settings", List.of());
        row.put("staleness", null);
        return row;
    }

    private static void declared(CacheDeclaration declaration, Map<String, Object> row) {
        List<String> parts = declaration.keyParts().stream().map(KeyPart::text).toList();
        row.put("method", declaration.source());
        row.put("key", declaration.spec().keyPattern(parts));
        row.put("parts", parts);
        row.put(
                "settings",
                declaration.settings().stream()
                        .map(one -> Map.of("name", one.name(), "value", one.value(), "source", one.source()))
                        .toList());
        row.put("staleness", EnglishText.of(declaration.staleness()));
    }

    private Map<String, Object> explain(ConsoleRequest request) {
        String name = request.parameter("key");
        List<String> parts = request.query().get("part");
        CacheKey<?> key = name == null
                ? admin.key(
                        request.parameter("cluster"),
                        request.required("prefix"),
                        parts == null ? List.of() : List.copyOf(parts))
                : admin.keyNamed(request.parameter("cluster"), name);
        EntryExplanation explanation = admin.explain(key);
        Map<String, @Nullable Object> reply = new LinkedHashMap<>();
        reply.put("key", explanation.key());
        Instant at = explanation.at();
        reply.put("at", at == null ? null : at.toEpochMilli());
        reply.put("state", new EnglishText(explanation.state().name()));
        reply.put("kind", kind(explanation.state()));
        reply.put(
                "nextRead",
                explanation.nextRead() == null ? null : explanation.nextRead().name());
        reply.put(
                "sentences",
                explanation.sentences().stream().map(EnglishText::new).toList());
        reply.put(
                "fields",
                explanation.fields().stream()
                        .map(field -> Map.of("name", field.name(), "value", new EnglishText(field.meaning())))
                        .toList());
        return reply;
    }

    /** The color of a state. */
    private static String kind(EntryExplanation.State state) {
        return switch (state) {
            case FRESH, REFRESH_DUE, REFRESHING -> "fresh";
            case ABSENT, EXPIRED, CLEARED, INVALIDATED -> "absent";
            case LOADING, LOAD_LATE, LOAD_RELEASED -> "loading";
            case STALE -> "stale";
            case UPDATING, UPDATE_LOST, UNDELIVERED, WITHHELD -> "updating";
            case UNREADABLE, NO_ENTRY -> "unreadable";
            case UNAVAILABLE -> "away";
        };
    }

    private Planned evict(Input input) {
        String name = input.text("key");
        CacheKey<?> key = name == null
                ? admin.key(input.text("cluster"), input.required("prefix"), input.strings("parts", MAX_PARTS))
                : admin.keyNamed(input.text("cluster"), name);
        return new Planned(
                key.spec().prefix(),
                List.of(key.name()),
                "on cluster " + key.spec().clusterId(),
                () -> explained(() -> invalidated(admin.evict(key))));
    }

    private Planned drop(Input input) {
        String prefix = input.required("prefix");
        input.requireConfirmed(prefix, "prefix");
        String cluster = input.text("cluster");
        return new Planned(
                prefix,
                List.of(),
                cluster == null ? "" : "on cluster " + cluster,
                () -> explained(() -> invalidated(admin.drop(cluster, prefix))));
    }

    private static Done invalidated(boolean acknowledged) {
        return new Done(200, Map.of("acknowledged", acknowledged), Map.of("acknowledged", acknowledged));
    }

    private Planned force(Input input) {
        String cluster = input.required("cluster");
        String state = input.required("state");
        Runnable act =
                switch (state) {
                    case "AVAILABLE" -> () -> admin.force(cluster, State.AVAILABLE);
                    case "UNAVAILABLE" -> () -> admin.force(cluster, State.UNAVAILABLE);
                    case "AUTO" -> () -> admin.reset(cluster);
                    default -> throw new Refusal(400, "There is no such state.", "Use AVAILABLE, UNAVAILABLE or AUTO.");
                };
        return new Planned(
                cluster,
                List.of(),
                state,
                () -> explained(() -> {
                    act.run();
                    return Done.of(Map.of("state", state(cluster)));
                }));
    }

    private String state(String cluster) {
        return admin.clusters().stream()
                .filter(one -> one.id().equals(cluster))
                .map(one -> one.state().name())
                .findFirst()
                .orElse("");
    }
}
