package io.easykit.delayqueue.actuate;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.easykit.boot.AuditKeeper;
import io.easykit.boot.OperatorAudit;
import io.easykit.boot.ShownValues;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
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
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.admin.TopicSummary;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.test.HttpApiPage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import tools.jackson.databind.json.JsonMapper;

/** Compares the tables of {@code docs/http-api.md} with replies of the endpoint that have all fields. */
class HttpApiPageTests {

    private static final String TOPIC = "orders";
    private static final String GROUP = "0123456789abcdef";
    private static final String OF_KEY = "~~account~1";
    private static final Instant NOW = Instant.parse("2026-01-31T14:05:00.123Z");
    private static final ErrorNote ERROR =
            new ErrorNote(NOW, "node", "java.lang.IllegalStateException: closed\n  at Shop");
    private static final Bytes BODY = Bytes.of("{\"id\": 1}".getBytes(UTF_8));

    private final DelayQueueAdmin admin = mock(DelayQueueAdmin.class);
    private final FleetAdmin fleet = mock(FleetAdmin.class);
    private final HttpApiPage page = HttpApiPage.read("endpoint", "Errors", "Objects of the delay queue");
    private final JsonMapper json = JsonMapper.builder().build();
    private final OperatorAudit audit = new OperatorAudit("node", () -> 0, AuditKeeper.NONE, event -> {});
    private final StringBuilder replies = new StringBuilder();

    @BeforeEach
    void fill() {
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
        Rates rates = new Rates(1, 2, 3, 4, 5);
        when(fleet.snapshot())
                .thenReturn(new FleetSnapshot(
                        NOW, 1, List.of(new TopicSummary(TOPIC, 2, 1, shard, rates, 16, "Shard 1 is a list."))));
        when(fleet.nodes())
                .thenReturn(List.of(new NodeInfo(
                        "node",
                        "shop",
                        "host",
                        Map.of("java", "21"),
                        NOW,
                        NOW,
                        List.of(new NodeInfo.Listener(
                                "close", TOPIC, 1, 16, Duration.ofSeconds(1), new NodeInfo.Pause(NOW, "ada"))))));
        when(fleet.pause(anyString(), anyString())).thenReturn(1);
        when(admin.stats(TOPIC))
                .thenReturn(new TopicStats(TOPIC, new TreeMap<>(Map.of(0, shard)), List.of("Shard 1 is a list.")));
        when(admin.messages(anyString(), any()))
                .thenReturn(new MessagePage(
                        3,
                        0,
                        0,
                        Stream.of(State.values()).map(HttpApiPageTests::summary).toList(),
                        "next",
                        List.of("Shard 1 is a list.")));
        MessageInfo message = new MessageInfo(
                TOPIC, "1", State.DEAD, NOW, 1, 0, 0, "node", ERROR, ERROR, Map.of("tenant", "a"), BODY, "damaged");
        RetryPolicy retry = RetryPolicy.exponential(5, Duration.ofSeconds(1), Duration.ofMinutes(1));
        when(admin.find(TOPIC, "1"))
                .thenReturn(Optional.of(new MessageDetail(
                        message, "ab", 0, NOW, NOW, retry, BODY.length(), ErrorGroup.of(ERROR.text()))));
        DeadLetterRef death = new DeadLetterRef("1", NOW);
        ErrorGroups.Count count = new ErrorGroups.Count(ErrorGroup.of(ERROR.text()), 1, NOW, NOW, death);
        when(admin.groups(TOPIC))
                .thenReturn(new ErrorGroups(TOPIC, 1, 1, List.of(count), List.of("Shard 1 is a list.")));
        when(admin.stoppedKeys(TOPIC)).thenReturn(List.of(new StoppedKey("account", "1", NOW, 2)));
        JobRequest request = JobRequest.redrive(TOPIC)
                .filter(new JobRequest.Filter(GROUP, Duration.ofDays(1), "text", NOW))
                .stopAt(20)
                .by("ada", "note");
        Job job = new Job(
                "7", request, Job.State.FAILED, NOW, NOW, "node", 9, 9, 9, 8, 1, 0, "refused", List.of(), List.of());
        when(admin.jobs()).thenReturn(List.of(job));
        when(admin.job("7")).thenReturn(Optional.of(job));
        when(admin.start(any())).thenReturn(job);
        when(admin.stopJob("7")).thenReturn(true);
        when(admin.purge(anyString(), any())).thenReturn(List.of(true));
        when(admin.freeKey(anyString(), anyString(), anyString())).thenReturn(true);
        when(admin.growShards(anyString(), anyInt())).thenReturn(1);
    }

    private static MessageSummary summary(State state) {
        return new MessageSummary(
                "1",
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

    private DelayQueueEndpoint endpoint(boolean shown) {
        return DelayQueueEndpoint.of(admin, fleet, new ShownValues(null), caller -> shown, audit);
    }

    private void add(String object, WebEndpointResponse<Object> reply) {
        String text = json.writeValueAsString(reply.getBody());
        replies.append(text);
        page.add(object, text);
    }

    private static WebEndpointResponse<Object> view(DelayQueueEndpoint endpoint, String view, @Nullable String id) {
        return endpoint.view(SecurityContext.NONE, view, TOPIC, id, null, null, null, null, null);
    }

    private static WebEndpointResponse<Object> change(
            DelayQueueEndpoint endpoint, String action, @Nullable String id, @Nullable String shards) {
        return endpoint.change(
                SecurityContext.NONE, action, TOPIC, id, NOW.toString(), null, null, null, null, shards, null);
    }

    @Test
    void eachFieldHasARowAndEachRowAField() {
        for (boolean shown : List.of(true, false)) {
            DelayQueueEndpoint endpoint = endpoint(shown);
            add("Page", view(endpoint, "messages", null));
            add("Message", view(endpoint, "message", "1"));
        }
        DelayQueueEndpoint endpoint = endpoint(true);
        add("Overview", endpoint.overview());
        add("Topic", view(endpoint, "topic", null));
        add("Groups", view(endpoint, "groups", null));
        add("Stopped key", view(endpoint, "stopped-keys", null));
        add("Node", view(endpoint, "nodes", null));
        add("Job", view(endpoint, "jobs", null));
        add("Job", change(endpoint, "redrive-all", null, null));
        add("Problem", view(endpoint, "nonsense", null));
        add("Outcome", change(endpoint, "purge", "1", null));
        add("Outcome", change(endpoint, "free-key", OF_KEY, null));
        add("Outcome", change(endpoint, "stop-job", "7", null));
        add("Outcome", change(endpoint, "pause", null, null));
        add("Outcome", change(endpoint, "grow", null, "4"));

        page.requireComplete();
        assertThat(replies)
                .contains(
                        "\"lateSeconds\":3.0",
                        "{\"kind\":\"lateness\",\"value\":3.0}",
                        "\"oldestRunSeconds\":1.0",
                        "\"olderThanSeconds\":86400.0",
                        "\"firstDelaySeconds\":1.0",
                        "\"maxDelaySeconds\":60.0",
                        "\"rates\":{\"sent\":1.0,\"acknowledged\":2.0,\"failed\":3.0,\"leaseExpirations\":4.0,\"died\":5.0}");
    }

    @Test
    void eachAddressHasARowAndEachRowAnAddress() {
        QueueViews views = new QueueViews(Instant::toString);
        MessageViews messages = new MessageViews(new ShownValues(null), Instant::toString);

        page.requireAddresses("Endpoint delayqueue", "GET", new QueueReads(admin, fleet, views, messages).names());
        page.requireAddresses("Endpoint delayqueue", "POST", new QueueWrites(admin, fleet, views, audit).names());
    }
}
