package io.easykit.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.easykit.boot.ShownValues;
import io.easykit.cache.Availability;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.Outcome;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.CacheNumbers;
import io.easykit.cache.admin.ClusterInfo;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.console.cache.CacheApi;
import io.easykit.console.queue.FleetApi;
import io.easykit.console.queue.JobApi;
import io.easykit.console.queue.LocalListeners;
import io.easykit.console.queue.QueueApi;
import io.easykit.console.queue.ShownMessages;
import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.admin.TopicSeries.Point;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.admin.TopicSummary;
import io.easykit.delayqueue.redis.ServerCheck.Report;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.test.HttpApiPage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** Compares the tables of {@code docs/http-api.md} with replies of the console that have all fields. */
class HttpApiPageTests {

    private static final String TOPIC = "orders";
    private static final String OF_KEY = "~~account~1";
    private static final Instant NOW = Instant.parse("2026-01-31T14:05:00.123Z");
    private static final ErrorNote ERROR =
            new ErrorNote(NOW, "node", "java.lang.IllegalStateException: closed\n  at Shop");
    private static final String GROUP = ErrorGroup.of(ERROR.text()).key();
    private static final Bytes BODY = Bytes.of("{\"id\": 1}".getBytes(UTF_8));
    private static final Bytes BINARY = Bytes.of(new byte[] {0, 1});
    private static final List<String> REFUSED = List.of("Shard 1 is a list.");

    private final DelayQueueAdmin admin = mock(DelayQueueAdmin.class);
    private final FleetAdmin fleet = mock(FleetAdmin.class);
    private final EasyCacheAdmin caches = mock(EasyCacheAdmin.class);
    private final PayloadCodec codec = mock(PayloadCodec.class);
    private final HttpApiPage page = HttpApiPage.read(
            "console", "Errors", "Objects of the delay queue", "Objects of the cache", "Objects of the console");
    private final JsonMapper json = JsonMapper.builder().build();
    private final StringBuilder replies = new StringBuilder();

    private List<ConsoleApi> apis(Audit audit) {
        ListenerEndpoint listener = ListenerEndpoint.builder("close", TOPIC, Map.class)
                .alerts(new AlertLimits(Duration.ofSeconds(1), 1L, 1L, 1L, 0.5))
                .build();
        LocalListeners listeners = new LocalListeners(() -> List.of(listener), codec, (topic, setting) -> "a file");
        Map<String, String> redis = Map.of("version", "7", "evictionPolicy", "noeviction", "persistence", "aof");
        return List.of(
                new QueueApi(
                        admin,
                        fleet,
                        new ShownMessages(new ShownValues(null), listeners, true),
                        listeners,
                        audit,
                        () -> Optional.of(new Report(redis, List.of("Set it.")))),
                new JobApi(admin, fleet, ConsoleMeters.NONE),
                new FleetApi(fleet),
                new CacheApi(caches, "node"));
    }

    private Console console(ConsoleAccess.ShowValues values) {
        return console(values, null);
    }

    private Console console(ConsoleAccess.ShowValues values, @Nullable AuditStore store) {
        ConsoleAccess access =
                new ConsoleAccess(ConsoleAccess.Mode.EVERYONE, "VIEW", "OPERATE", false, values, List.of());
        Audit audit = new Audit("node", store, 50, () -> 5, event -> {});
        ConsoleInfo info = new ConsoleInfo(
                "/easykit",
                "node",
                Map.of("Java", "21"),
                "PROD",
                "red",
                List.of(new ConsoleInfo.Link("Test", "/test")));
        return new Console(access, info, apis(audit), audit, ConsoleMeters.NONE);
    }

    @BeforeEach
    void fillQueue() {
        ShardStats shard = new ShardStats(
                NOW,
                new ShardStats.Pause(NOW, "ada"),
                5,
                2,
                1,
                41,
                NOW.minusSeconds(3),
                Set.of(Kind.values()),
                new ShardStats.Counters(9, 8, 7, 6, 5, 4, 3, 2),
                1,
                1,
                new ShardStats.Flow(Duration.ofMillis(20), 10, 7, 20, NOW));
        when(fleet.snapshot())
                .thenReturn(new FleetSnapshot(
                        NOW,
                        1,
                        List.of(new TopicSummary(TOPIC, 2, 1, shard, new Rates(1, 2, 3, 4, 5), 16, REFUSED.get(0)))));
        NodeInfo.Listener listener =
                new NodeInfo.Listener("close", TOPIC, 1, 16, Duration.ofSeconds(1), new NodeInfo.Pause(NOW, "ada"));
        when(fleet.nodes())
                .thenReturn(List.of(
                        new NodeInfo("node", "shop", "host", Map.of("java", "21"), NOW, NOW, List.of(listener))));
        when(fleet.thisNode()).thenReturn("node");
        when(fleet.pause(anyString(), anyString())).thenReturn(1);
        when(fleet.series(anyString(), any())).thenReturn(new TopicSeries(TOPIC, NOW, points()));
        when(admin.stats(TOPIC)).thenReturn(new TopicStats(TOPIC, new TreeMap<>(Map.of(0, shard)), REFUSED));
        when(admin.messages(anyString(), any())).thenAnswer(call -> messages(call.getArgument(1, MessageQuery.class)));
        when(admin.growShards(anyString(), anyInt())).thenReturn(1);
        DeadLetterRef death = new DeadLetterRef("1", NOW);
        ErrorGroups.Count count = new ErrorGroups.Count(ErrorGroup.of(ERROR.text()), 1, NOW, NOW, death);
        when(admin.groups(TOPIC)).thenReturn(new ErrorGroups(TOPIC, 1, 1, List.of(count), REFUSED));
        when(admin.stoppedKeys(TOPIC)).thenReturn(List.of(new StoppedKey("account", "1", NOW, 2)));
        JobRequest.Filter filter = new JobRequest.Filter(GROUP, Duration.ofDays(1), "text", NOW);
        Job grouped = job("1", JobRequest.group(TOPIC).filter(filter), List.of(count), List.of());
        Job searched = job("2", JobRequest.search(TOPIC, "a"), List.of(), List.of(death));
        when(admin.jobs()).thenReturn(List.of(grouped, searched));
        when(admin.job("1")).thenReturn(Optional.of(grouped));
        when(admin.job("2")).thenReturn(Optional.of(searched));
        when(admin.start(any())).thenReturn(grouped);
        when(admin.redrive(anyString(), any())).thenReturn(List.of(true, false));
        when(admin.replace(anyString(), any(), any(), any(), any()))
                .thenReturn(new Replacement(Replacement.Outcome.REPLACED, "ab", 9, BODY, Map.of("tenant", "a")));
    }

    private static MessagePage messages(MessageQuery query) {
        List<MessageSummary> all =
                Stream.of(State.values()).map(HttpApiPageTests::summary).toList();
        return new MessagePage(3, 0, 0, all, query.after() == null ? "next" : null, REFUSED);
    }

    private static List<Point> points() {
        List<Point> points = new ArrayList<>();
        for (int minute = 0; minute < 3; minute++) {
            Instant at = NOW.minus(Duration.ofMinutes(minute));
            long age = 3L - minute;
            Duration late = Duration.ofSeconds(2);
            points.add(0, new Point(at, 1, 2, 3, 4, late, 60 * age, 120 * age, 180 * age, 240 * age, 300 * age));
        }
        return points;
    }

    private static Job job(String id, JobRequest request, List<ErrorGroups.Count> groups, List<DeadLetterRef> matches) {
        JobRequest asked = request.perSecond(7).stopAt(20).by("ada", "note");
        return new Job(id, asked, Job.State.FAILED, NOW, NOW, "node", 9, 9, 9, 8, 1, 0, "refused", groups, matches);
    }

    private static MessageSummary summary(State state) {
        return new MessageSummary(
                state.name(),
                "ab",
                0,
                state,
                NOW,
                NOW,
                1,
                0,
                0,
                "node",
                NOW,
                ERROR,
                ErrorGroup.of(ERROR.text()),
                List.of("tenant"),
                30,
                BODY,
                "damaged");
    }

    private void message(String id, State state, Bytes body) {
        MessageInfo message = new MessageInfo(
                TOPIC, id, state, NOW, 1, 0, 0, "node", ERROR, ERROR, Map.of("tenant", "a"), body, "damaged");
        RetryPolicy retry = RetryPolicy.exponential(5, Duration.ofSeconds(1), Duration.ofMinutes(1));
        MessageDetail detail =
                new MessageDetail(message, "ab", 0, NOW, NOW, retry, body.length(), ErrorGroup.of(ERROR.text()));
        when(admin.find(TOPIC, id)).thenReturn(Optional.of(detail));
        when(admin.find(id)).thenReturn(List.of(detail));
    }

    @BeforeEach
    void fillCache() {
        CacheSpec<String> spec = CacheSpec.of("price", String.class);
        CacheDeclaration declaration = new CacheDeclaration(
                "@Cacheable Prices.find(long)",
                spec,
                List.of(new CacheDeclaration.KeyPart("#id", long.class)),
                List.of(new CacheDeclaration.Setting("ttl", "10m", "default")),
                "worst staleness 1500ms");
        when(caches.caches())
                .thenReturn(List.of(new CacheInfo(
                        "price",
                        "default",
                        Consistency.AP,
                        Duration.ofMillis(1500),
                        List.of(declaration),
                        CacheNumbers.none(Duration.ofDays(1)))));
        when(caches.clusters())
                .thenReturn(List.of(new ClusterInfo(
                        "default",
                        Availability.State.AVAILABLE,
                        null,
                        0,
                        new OutboxBacklog(1, 12, Duration.ofSeconds(1)),
                        List.of("It is full."),
                        Map.of("slots 0-5460", Availability.State.UNAVAILABLE))));
        doReturn(spec.key(7)).when(caches).key(any(), any(), any());
        when(caches.explain(any()))
                .thenReturn(new EntryExplanation(
                        "price::7",
                        NOW,
                        EntryExplanation.State.REFRESH_DUE,
                        Outcome.SUCCESS_NEED_QUERY,
                        List.of("There is no entry."),
                        List.of(new EntryExplanation.Field("value", "12 bytes, damaged"))));
    }

    private ConsoleReply send(Console console, String method, String path, Map<String, String> query, String body) {
        Map<String, List<String>> parameters = new LinkedHashMap<>();
        query.forEach((name, value) -> parameters.put(name, List.of(value)));
        Map<String, String> headers =
                Map.of("Host", "ops.internal", "Content-Type", "application/json", "X-Easykit-Console", "1");
        return console.handle(new ConsoleRequest(
                method,
                "/api/" + path,
                parameters,
                name -> headers.containsKey(name) ? List.of(headers.get(name)) : List.of(),
                "10.0.0.1",
                "ada",
                role -> true,
                () -> new ConsoleRequest.CsrfToken("X-CSRF-TOKEN", "t0ken"),
                most -> body.getBytes(UTF_8)));
    }

    /** The reply without the fields that all have. */
    private void add(String object, ConsoleReply reply, int status) {
        String text = new String(reply.body(), UTF_8);
        replies.append(text);
        assertThat(reply.status()).as(text).isEqualTo(status);
        Map<String, Object> fields = new LinkedHashMap<>();
        Map<?, ?> read = json.readValue(text, Map.class);
        read.forEach((name, value) -> fields.put(String.valueOf(name), value));
        assertThat(fields).containsKey("node");
        if (status < 400) {
            assertThat(fields.remove("now")).isNotNull();
            fields.remove("node");
        }
        page.add(object, json.writeValueAsString(fields));
    }

    private void get(Console console, String object, String path, String... query) {
        Map<String, String> parameters = new LinkedHashMap<>(Map.of("topic", TOPIC));
        for (int i = 0; i < query.length; i += 2) {
            parameters.put(query[i], query[i + 1]);
        }
        add(object, send(console, "GET", path, parameters, ""), 200);
    }

    private void post(Console console, String path, Map<String, ?> change) {
        Map<String, Object> body = new LinkedHashMap<>(Map.of("topic", TOPIC, "confirm", TOPIC));
        body.putAll(change);
        boolean starts = path.equals("jobs");
        ConsoleReply reply = send(console, "POST", path, Map.of(), json.writeValueAsString(body));
        add(starts ? "Reply" : "Change", reply, starts ? 202 : 200);
    }

    private void export(Console console, String state) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ConsoleReply reply = send(console, "GET", "export", Map.of("topic", TOPIC, "state", state), "");
        reply.content().write(out);
        out.toString(UTF_8).lines().forEach(line -> page.add("Exported message", line));
    }

    @Test
    void eachFieldHasARowAndEachRowAField() throws IOException {
        message(OF_KEY, State.DEAD, BODY);
        message("DEAD", State.DEAD, BODY);
        message("WAITING", State.WAITING, BINARY);
        message("IN_FLIGHT", State.IN_FLIGHT, BODY);
        Console blind = console(ConsoleAccess.ShowValues.NEVER);
        get(blind, "Page", "messages", "state", "dead");
        get(blind, "Reply", "message", "id", OF_KEY);
        Console console = console(ConsoleAccess.ShowValues.ALWAYS);
        get(console, "Session", "session");
        get(console, "Overview", "topics");
        get(console, "Topic", "topic");
        get(console, "Page", "messages", "state", "dead", "group", GROUP);
        when(codec.decode(any(), any())).thenThrow(new IllegalArgumentException("no number"));
        get(console, "Reply", "message", "id", OF_KEY);
        get(console, "Reply", "find", "id", "IN_FLIGHT");
        get(console, "Groups", "groups");
        get(console, "Reply", "stopped-keys");
        get(console, "Reply", "jobs");
        get(console, "Reply", "job", "id", "1");
        get(console, "Reply", "job", "id", "2");
        get(console, "Reply", "nodes");
        get(console, "Reply", "caches");
        get(console, "Explanation", "explain", "prefix", "price", "part", "7");
        for (String state : List.of("dead", "waiting", "in-flight")) {
            export(console, state);
        }
        add("Problem", send(console, "GET", "message", Map.of("topic", TOPIC, "id", "none"), ""), 404);
        change(console);
        get(console, "Audit", "audit", "size", "3");
        get(console, "Audit", "audit", "size", "100");
        AuditStore away = mock(AuditStore.class);
        when(away.read(anyLong(), anyInt())).thenThrow(new IllegalStateException("away"));
        get(console(ConsoleAccess.ShowValues.ALWAYS, away), "Audit", "audit");

        page.requireComplete();
        assertThat(replies)
                .contains(
                        "\"lateSeconds\":3.0",
                        "{\"kind\":\"lateness\",\"value\":3.0,\"limit\":1.0,"
                                + "\"text\":\"the oldest due message waits for 3 s (limit 1 s)\"}",
                        "\"drainSeconds\":1.0",
                        "\"oldestRunSeconds\":1.0",
                        "\"olderThanSeconds\":86400.0",
                        "\"maxDelaySeconds\":60.0",
                        "\"worstStalenessSeconds\":1.5",
                        "\"overSeconds\":86400.0",
                        "\"oldestSeconds\":1.0",
                        "\"rates\":{\"sent\":1.0,\"acknowledged\":2.0,\"failed\":3.0,\"leaseExpirations\":4.0,\"died\":5.0}")
                .contains("\"stepSeconds\":60,", ",2.0,2.0,2.0],\"sent\":[", ",null,1.0,1.0],\"acknowledged\":[")
                .contains(",null,2.0,2.0],\"failed\":[", ",null,3.0,3.0],\"died\":[", ",null,5.0,5.0]}");
    }

    @Test
    void eachAddressHasARowAndEachRowAnAddress() {
        Set<String> reads = new TreeSet<>(Set.of("session", "audit"));
        Set<String> changes = new TreeSet<>();
        for (ConsoleApi api : apis(new Audit("node", null, 50, () -> 5, event -> {}))) {
            reads.addAll(api.reads().keySet());
            changes.addAll(api.changes().keySet());
        }

        page.requireAddresses("Console", "GET", reads);
        page.requireAddresses("Console", "POST", changes);
    }

    private void change(Console console) {
        List<Map<String, Object>> deaths = List.of(Map.of("id", "1", "diedAt", 5), Map.of("id", "2", "diedAt", 5));
        post(console, "redrive", Map.of("deaths", deaths));
        post(console, "pause", Map.of());
        post(console, "grow", Map.of("shards", 2));
        post(console, "jobs", Map.of("action", "redrive", "select", Map.of("all", true)));
        post(console, "replace", Map.of("id", "DEAD", "diedAt", 5, "headers", Map.of(), "body", "{}"));
        post(console, "evict", Map.of("prefix", "price", "parts", List.of("7")));
        post(console, "force", Map.of("cluster", "default", "state", "auto"));
        assertThat(send(console, "POST", "purge", Map.of(), "{}").status()).isEqualTo(400);
    }
}
