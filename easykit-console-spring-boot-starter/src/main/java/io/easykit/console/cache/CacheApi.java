package io.easykit.console.cache;

import io.easykit.boot.DurationTexts;
import io.easykit.boot.EnumWords;
import io.easykit.boot.HttpProblem;
import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.Outcome;
import io.easykit.cache.actuate.CacheProblem;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.CacheNumbers;
import io.easykit.cache.admin.ClusterInfo;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.console.ConsoleApi;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.EnglishText;
import io.easykit.console.Input;
import io.easykit.console.Refusal;
import java.time.Instant;
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
    private final String node;

    /** @param node name of this process */
    public CacheApi(EasyCacheAdmin admin, String node) {
        this.admin = admin;
        this.node = node;
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
        } catch (EasyCacheException failure) {
            HttpProblem problem = CacheProblem.of(failure);
            throw new Refusal(problem.status(), problem.detail(), problem.action());
        }
    }

    private Map<String, Object> caches() {
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("clusters", admin.clusters().stream().map(CacheApi::cluster).toList());
        reply.put("caches", admin.caches().stream().map(CacheApi::cache).toList());
        return reply;
    }

    private static Map<String, @Nullable Object> cluster(ClusterInfo info) {
        Map<String, @Nullable Object> cluster = new LinkedHashMap<>();
        cluster.put("cluster", info.id());
        cluster.put("state", EnumWords.of(info.state()));
        cluster.put("forced", info.forced() != null);
        Map<String, String> masters = new LinkedHashMap<>();
        info.masters().forEach((name, state) -> masters.put(name, EnumWords.of(state)));
        cluster.put("masters", masters);
        cluster.put("problems", info.problems());
        cluster.put("undelivered", info.undelivered());
        OutboxBacklog outbox = info.outbox();
        cluster.put(
                "outbox",
                outbox == null
                        ? null
                        : Map.of(
                                "waiting", outbox.waiting(),
                                "delivered", outbox.delivered(),
                                "oldestSeconds", DurationTexts.seconds(outbox.oldest())));
        return cluster;
    }

    private static Map<String, Object> cache(CacheInfo info) {
        Map<String, Object> cache = new LinkedHashMap<>();
        cache.put("prefix", info.prefix());
        cache.put("cluster", info.clusterId());
        cache.put("consistency", EnumWords.of(info.consistency()));
        cache.put("worstStalenessSeconds", DurationTexts.seconds(info.worstStaleness()));
        CacheNumbers numbers = info.numbers();
        cache.put("overSeconds", DurationTexts.seconds(numbers.over()));
        cache.put(
                "reads",
                Map.of(
                        "hit", numbers.hits(),
                        "near", numbers.near(),
                        "stale", numbers.stale(),
                        "local", numbers.local(),
                        "expired", numbers.expired(),
                        "miss", numbers.misses()));
        Map<String, Long> loads = new LinkedHashMap<>();
        numbers.loads().forEach((load, count) -> loads.put(EnumWords.of(load), count));
        cache.put("loads", loads);
        cache.put(
                "declarations",
                info.declarations().stream().map(CacheApi::declaration).toList());
        return cache;
    }

    private static Map<String, Object> declaration(CacheDeclaration declaration) {
        List<String> parts = declaration.keyParts().stream().map(KeyPart::text).toList();
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("source", declaration.source());
        shown.put("type", declaration.spec().type().getTypeName());
        shown.put("key", declaration.spec().keyPattern(parts));
        shown.put("parts", parts);
        shown.put("types", declaration.keyParts().stream().map(CacheApi::type).toList());
        shown.put(
                "settings",
                declaration.settings().stream()
                        .map(one -> Map.of("name", one.name(), "value", one.value(), "source", one.source()))
                        .toList());
        shown.put("staleness", new EnglishText(declaration.staleness()));
        return shown;
    }

    private static String type(KeyPart part) {
        Class<?> type = part.type();
        return type == null ? "" : type.getTypeName();
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
        reply.put("state", EnumWords.of(explanation.state()));
        reply.put("stateText", new EnglishText(explanation.state().name()));
        reply.put("kind", kind(explanation.state()));
        Outcome nextRead = explanation.nextRead();
        reply.put("nextRead", nextRead == null ? null : EnumWords.of(nextRead));
        reply.put(
                "sentences",
                explanation.sentences().stream().map(EnglishText::new).toList());
        reply.put(
                "fields",
                explanation.fields().stream()
                        .map(field -> Map.of("name", field.name(), "meaning", new EnglishText(field.meaning())))
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
        String state = input.required("state").toLowerCase(Locale.ROOT);
        Runnable act =
                switch (state) {
                    case "available" -> () -> admin.force(cluster, State.AVAILABLE);
                    case "unavailable" -> () -> admin.force(cluster, State.UNAVAILABLE);
                    case "auto" -> () -> admin.reset(cluster);
                    default -> throw new Refusal(400, "There is no such state.", "Use available, unavailable or auto.");
                };
        String wanted = input.text("node");
        if (wanted != null && !wanted.equals(node)) {
            throw new Refusal(
                    409,
                    "The request has reached another node, " + node + ", not " + wanted + ".",
                    "Send it again until it reaches that node, or use the endpoint easycache of that node.");
        }
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
                .map(one -> EnumWords.of(one.state()))
                .findFirst()
                .orElse("");
    }
}
