package io.easykit.console.queue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.easykit.boot.ShownValues;
import io.easykit.console.Audit;
import io.easykit.console.Caller;
import io.easykit.console.ConsoleApi.Planned;
import io.easykit.console.ConsoleReply;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.admin.TopicSummary;
import io.easykit.delayqueue.support.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The API of the queue for users who may not see values, and with shards that Redis refuses to read. */
class QueueApiTests {

    private static final Caller OPERATOR = new Caller("ada", "10.0.0.1", true, true, true);
    private static final Caller VIEWER = new Caller("eve", "10.0.0.2", false, false, false);

    /** As with {@code easykit.console.show-values=always}. */
    private static final Caller SEEING_VIEWER = new Caller("eve", "10.0.0.2", false, false, true);

    /** As with {@code easykit.console.show-values=never}. */
    private static final Caller BLIND_OPERATOR = new Caller("bob", "10.0.0.3", true, true, false);

    private static final Bytes BODY = Bytes.of("{\"id\":\"x1\",\"password\":\"s3cret\"}".getBytes(UTF_8));

    private final DelayQueueAdmin admin = mock(DelayQueueAdmin.class);
    private final FleetAdmin fleet = mock(FleetAdmin.class);
    private final ShownValues values = new ShownValues((name, value) -> name.equals("password") ? "******" : value);
    private final LocalListeners listeners = new LocalListeners(
            () -> List.of(
                    ListenerEndpoint.builder("listener", "orders", Order.class).build()),
            new QuotingCodec(),
            (topic, setting) -> null);
    private final QueueApi api = new QueueApi(
            admin,
            fleet,
            new ShownMessages(values, listeners, true),
            listeners,
            new Audit("node", null, 10, () -> 5, event -> {}),
            Optional::empty);

    record Order(long id, String password) {}

    /** Its errors quote the body. */
    private static final class QuotingCodec implements PayloadCodec {

        @Override
        public Bytes encode(Object payload) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Object decode(Bytes body, Type type) {
            throw new IllegalArgumentException(new String(body.array(), UTF_8));
        }
    }

    @BeforeEach
    void seed() {
        MessageInfo message = new MessageInfo(
                "orders",
                "1",
                State.DEAD,
                Instant.EPOCH,
                1,
                0,
                0,
                null,
                null,
                null,
                Map.of("token", "t0ken"),
                BODY,
                null);
        when(admin.find("orders", "1"))
                .thenReturn(
                        Optional.of(new MessageDetail(message, "ab", 0, null, null, null, BODY.array().length, null)));
        when(admin.body(anyString(), any())).thenReturn(Optional.of(BODY));
        page(List.of());
    }

    private void page(List<String> refused) {
        MessagePage first = new MessagePage(70, 0, null, List.of(summary("1")), "next", refused);
        MessagePage second = new MessagePage(70, 1, null, List.of(summary("1")), null, List.of());
        when(admin.messages(anyString(), any())).thenReturn(first, second);
    }

    private static MessageSummary summary(String id) {
        return new MessageSummary(
                id,
                "ab",
                0,
                State.DEAD,
                Instant.EPOCH,
                null,
                1,
                0,
                0,
                null,
                null,
                null,
                null,
                List.of("token"),
                30,
                BODY,
                null);
    }

    private Object read(String name, Caller caller, String... parameters) {
        Map<String, List<String>> query = new LinkedHashMap<>();
        for (int i = 0; i < parameters.length; i += 2) {
            query.put(parameters[i], List.of(parameters[i + 1]));
        }
        ConsoleRequest request = new ConsoleRequest(
                "GET",
                "/api/" + name,
                query,
                header -> List.of(),
                caller.from(),
                caller.name(),
                role -> false,
                () -> null,
                most -> new byte[0]);
        return api.reads().get(name).answer(request, caller);
    }

    @ParameterizedTest
    @ValueSource(strings = {"body", "export"})
    void savesBodiesForOperatorsOnly(String call) {
        for (Caller caller : List.of(VIEWER, SEEING_VIEWER, BLIND_OPERATOR)) {
            assertThatThrownBy(() -> read(call, caller, "topic", "orders", "id", "1", "state", "dead"))
                    .isInstanceOfSatisfying(Refusal.class, refusal -> assertThat(refusal.status())
                            .isEqualTo(403));
        }
        assertThat(read(call, OPERATOR, "topic", "orders", "id", "1", "state", "dead"))
                .isInstanceOf(ConsoleReply.class);
    }

    @ParameterizedTest
    @CsvSource({
        "messages, order, newst, 'Use oldest, the default, or newest.'",
        "topic, range, 7d, 'Use 1h, the default, or 24h.'"
    })
    void refusesAnUnknownWordOfAParameter(String call, String name, String word, String action) {
        assertThatThrownBy(() -> read(call, VIEWER, "topic", "orders", "state", "dead", name, word))
                .isInstanceOfSatisfying(Refusal.class, refusal -> {
                    assertThat(refusal.status()).isEqualTo(400);
                    assertThat(refusal).hasMessageContaining("The parameter " + name + " is not possible.");
                    assertThat(refusal.action()).isEqualTo(action);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"oldest", "newest"})
    void takesBothOrders(String order) {
        read("messages", VIEWER, "topic", "orders", "state", "dead", "order", order);

        verify(admin).messages(eq("orders"), argThat(query -> query.isNewestFirst() == order.equals("newest")));
    }

    @Test
    void hidesBodiesAndHeaderValuesFromUsersWhoMayNotSeeThem() {
        for (Caller caller : List.of(VIEWER, BLIND_OPERATOR)) {
            String list =
                    read("messages", caller, "topic", "orders", "state", "dead").toString();
            String message =
                    read("message", caller, "topic", "orders", "id", "1").toString();

            String why = "hidden=" + (caller.operates() ? "never" : "role");
            assertThat(list).contains(why).doesNotContain("x1", "preview");
            assertThat(message).contains("token", why).doesNotContain("x1", "t0ken");
        }
        assertThat(read("messages", SEEING_VIEWER, "topic", "orders", "state", "dead")
                        .toString())
                .contains("x1")
                .doesNotContain("s3cret");
        assertThat(read("message", SEEING_VIEWER, "topic", "orders", "id", "1").toString())
                .contains("x1", "t0ken");
    }

    @Test
    void quotesTheErrorOfAListenerForUsersWhoMaySaveBodies() {
        assertThat(readable(OPERATOR)).contains("ok=false", "x1");
        for (Caller caller : List.of(VIEWER, SEEING_VIEWER, BLIND_OPERATOR)) {
            assertThat(readable(caller)).contains("ok=false", "Order").doesNotContain("x1");
        }
    }

    private String readable(Caller caller) {
        Map<?, ?> reply = (Map<?, ?>) read("message", caller, "topic", "orders", "id", "1");
        return ((Map<?, ?>) reply.get("message")).get("readable").toString();
    }

    @ParameterizedTest
    @CsvSource({"true, 3", "false, 2"})
    void endsAnExportWithTheShardsThatWereNotRead(boolean refused, int lines) throws IOException {
        page(refused ? List.of("Shard 3 is a list.") : List.of());
        ConsoleReply reply = (ConsoleReply) read("export", OPERATOR, "topic", "orders", "state", "dead");
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        reply.content().write(out);

        assertThat(out.toString(UTF_8).lines()).hasSize(lines);
        if (refused) {
            assertThat(out.toString(UTF_8)).endsWith("{\"error\":\"The export is incomplete: Shard 3 is a list.\"}\n");
        }
    }

    /** Shards that are added meanwhile make the cursor of the last page invalid. */
    @ParameterizedTest
    @CsvSource({"true, The cursor belongs to other shards.", "false, The log of this node has the reason."})
    @ExtendWith(OutputCaptureExtension.class)
    void endsAnExportThatFailsOnItsWayWithTheReason(boolean isKnown, String reason, CapturedOutput output)
            throws IOException {
        MessagePage first = new MessagePage(70, 0, null, List.of(summary("1")), "next", List.of());
        when(admin.messages(anyString(), any()))
                .thenReturn(first)
                .thenThrow(
                        isKnown
                                ? new IllegalArgumentException("The cursor belongs to other shards.")
                                : new IllegalStateException("defect"));
        ConsoleReply reply = (ConsoleReply) read("export", OPERATOR, "topic", "orders", "state", "dead");
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        reply.content().write(out);

        assertThat(out.toString(UTF_8).lines()).hasSize(2);
        assertThat(out.toString(UTF_8)).endsWith("{\"error\":\"The export is incomplete: " + reason + "\"}\n");
        assertThat(output.toString().contains("A request of the console failed: GET /api/export"))
                .isEqualTo(!isKnown);
        assertThat(output.toString().contains("IllegalStateException: defect")).isEqualTo(!isKnown);
    }

    private static ShardStats stats(ShardStats.Pause pause, long due, Instant oldest, ShardStats.Flow flow) {
        ShardStats.Counters counters = new ShardStats.Counters(1, 0, 0, 0, 0, 0, 0, 0);
        return new ShardStats(Instant.EPOCH, pause, 1, due, 0, 0, oldest, Set.of(), counters, 0, 0, flow);
    }

    @Test
    void countsANodeOnceHoweverManyListenersOfATopicItHas() {
        when(fleet.nodes()).thenReturn(List.of(node("a", "orders", "orders", "mail"), node("b", "orders"), node("c")));
        when(fleet.snapshot())
                .thenReturn(new FleetSnapshot(
                        Instant.EPOCH, 3, List.of(overview("mail"), overview("orders"), overview("quiet"))));
        when(fleet.series(anyString(), any())).thenReturn(new TopicSeries("orders", Instant.EPOCH, List.of()));

        List<?> topics = (List<?>) ((Map<?, ?>) read("topics", OPERATOR)).get("topics");

        List<Object> counts = new ArrayList<>();
        topics.forEach(topic -> counts.add(((Map<?, ?>) topic).get("listeningNodes")));
        assertThat(counts).containsExactly(1, 2, 0);
    }

    private static TopicSummary overview(String topic) {
        return new TopicSummary(topic, 1, 0, null, null, 0, "not read");
    }

    private static NodeInfo node(String id, String... topics) {
        List<NodeInfo.Listener> listeners = Stream.of(topics)
                .map(topic -> new NodeInfo.Listener("of " + topic, topic, 0, 1, Duration.ZERO, null))
                .toList();
        return new NodeInfo(id, "shop", "host", Map.of(), Instant.EPOCH, Instant.EPOCH, listeners);
    }

    /** The overview may be two seconds older than the numbers of the topic. */
    @Test
    void takesNoNumbersOfATopicFromTheOverview() {
        ShardStats.Flow flow = new ShardStats.Flow(Duration.ofMillis(20), 10, 7, 20, Instant.EPOCH);
        ShardStats before = stats(new ShardStats.Pause(Instant.EPOCH, "ada"), 1, Instant.EPOCH.minusSeconds(3), flow);
        Rates rates = new Rates(1, 2, 3, 4, 5);
        when(fleet.snapshot())
                .thenReturn(new FleetSnapshot(
                        Instant.EPOCH,
                        1,
                        List.of(new TopicSummary("orders", 2, 1, before, rates, 16, "Shard 1 is a list."))));
        when(fleet.series(anyString(), any())).thenReturn(new TopicSeries("orders", Instant.EPOCH, List.of()));
        when(admin.stats("orders")).thenReturn(new TopicStats("orders", List.of(stats(null, 0, null, null))));

        Map<?, ?> topic = (Map<?, ?>) read("topic", OPERATOR, "topic", "orders");

        assertThat(topic.keySet().stream().map(String::valueOf))
                .contains("waiting", "rates", "places", "listeningNodes")
                .doesNotContain("pause", "oldestDue", "lateSeconds", "limits", "refused");
        assertThat(topic.get("due")).isEqualTo(0L);
        assertThat(topic.get("shards")).isEqualTo(1);
        assertThat(topic.get("pausedShards")).isEqualTo(0);
    }

    @Test
    void namesTheShardsThatAreMissingInAGroupAndCountsNoOtherMessages() {
        page(List.of("Shard 3 is a list."));

        Map<?, ?> reply =
                (Map<?, ?>) read("messages", OPERATOR, "topic", "orders", "state", "dead", "group", "0123456789abcdef");

        assertThat(reply.get("refused")).hasToString("[Shard 3 is a list.]");
        assertThat(reply.containsKey("total")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "1, lost, may have been made",
        "1, unsent, Nothing was changed",
        "2, lost, may have been made",
        "2, unsent, may have been made",
        "1, refused, a list",
        "1, full, out of memory",
        "2, full, may have been made",
        "2, refused, may have been made"
    })
    void saysWhetherAChangeMayHaveBeenMade(int count, String failure, String text) {
        RuntimeException thrown =
                switch (failure) {
                    case "lost" -> new StoreUnavailableException("No reply.", new IOException());
                    case "unsent" -> StoreUnavailableException.notCarriedOut("Away.", new IOException());
                    case "full" -> new StoreFullException("Redis is out of memory.", new IOException());
                    default -> new StoreRefusedException("Shard 3 is a list.", null);
                };
        Planned planned = StoreErrors.explained(Map.of("purge", (input, caller) -> {
                    List<String> ids = List.of("1", "2").subList(0, count);
                    return new Planned("orders", ids, "", () -> {
                        throw thrown;
                    });
                }))
                .get("purge")
                .plan(null, OPERATOR);

        assertThatThrownBy(() -> planned.act().run())
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.status()).isEqualTo(503))
                .hasMessageContaining(text);
    }
}
