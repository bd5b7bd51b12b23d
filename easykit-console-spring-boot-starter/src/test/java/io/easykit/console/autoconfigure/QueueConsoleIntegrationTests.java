package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.boot.AuditKeeper;
import io.easykit.console.Audit;
import io.easykit.console.autoconfigure.Http.Reply;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The API of the console on a real queue, with texts that try to be markup. */
class QueueConsoleIntegrationTests {

    private static final RedisServer SERVER = RedisServer.start();
    private static final JsonMapper JSON = new JsonMapper();

    /** The overview of all topics is kept for up to 30 s, if the machine is slow. */
    private static final Duration OVERVIEW_AGE = Duration.ofSeconds(45);

    private static ConfigurableApplicationContext context;
    private static int port;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        private final CountDownLatch answered = new CountDownLatch(1);
        private volatile boolean failing = true;

        @DelayListener(topic = "orders", maxAttempts = "1")
        void on(Map<String, Object> order) {
            if (failing) {
                throw new IllegalStateException("order <b>" + order.get("id") + "</b> is closed");
            }
        }

        @DelayListener(topic = "partner-call", concurrency = "4")
        void call(String order) throws InterruptedException {
            answered.await();
        }

        @Bean
        SanitizingFunction passwords() {
            return data -> data.getLowerCaseKey().contains("password") ? data.withSanitizedValue() : data;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Other {}

    @BeforeAll
    static void start() {
        context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "spring.autoconfigure.exclude=" + String.join(",", ConsoleSecurityContract.ofSpringSecurity()),
                        "easykit.console.open-to=loopback",
                        "easykit.console.edit=true",
                        "delay-queue.heartbeat-interval=1s",
                        "delay-queue.topics.orders.alerts.dead=0",
                        "delay-queue.topics.orders.concurrency=2",
                        "delay-queue.topics.foreign.shards=2",
                        "delay-queue.topics.by-code.concurrency=8",
                        "delay-queue.topics.partner-call.rate=600/min",
                        "delay-queue.topics.partner-call.burst=3",
                        "delay-queue.topics.partner-call.max-in-flight=1",
                        "delay-queue.command-timeout=10s",
                        "spring.data.redis.url=redis://" + SERVER.host() + ":" + SERVER.port())
                .run();
        port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    @AfterAll
    static void stop() {
        context.close();
        SERVER.close();
    }

    @BeforeEach
    void failAgain() {
        context.getBean(Application.class).failing = true;
    }

    private static JsonNode get(String call) {
        Reply reply = Http.to(port).get("/easykit/api/" + call);
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        return JSON.readTree(reply.body());
    }

    private static Reply tryPost(String call, Object body) {
        return Http.to(port).json(JSON.writeValueAsString(body)).post("/easykit/api/" + call);
    }

    private static JsonNode post(String call, Object body) {
        Reply reply = tryPost(call, body);
        assertThat(reply.status()).as(reply.body()).isIn(200, 202);
        return JSON.readTree(reply.body());
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static void send(String id, Map<String, Object> order, Duration delay) {
        context.getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of("orders", order)
                        .id(id)
                        .header("Password", "h1dden")
                        .header("<img onerror>", "\"><script>")
                        .after(delay));
    }

    private static JsonNode dead(String id) {
        await().until(() -> Http.to(port)
                .get("/easykit/api/message?topic=orders&id=" + encoded(id))
                .body()
                .contains("\"state\":\"dead\""));
        return get("message?topic=orders&id=" + encoded(id)).get("message");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "سلام", "订单-𠮷-😀", "a,b&c=d/e"})
    void showsADeadLetterAndSendsItBack(String id) {
        send(id, Map.of("id", 9007199254740993L, "password", "s3cret", "price", 1.5), Duration.ZERO);

        JsonNode message = dead(id);
        assertThat(message.get("id").asString()).isEqualTo(id);
        assertThat(message.get("lastError").get("text").asString()).contains("order <b>9007199254740993</b> is closed");
        assertThat(message.get("body").get("text").asString())
                .contains("9007199254740993", "\"******\"")
                .doesNotContain("s3cret");
        assertThat(message.get("headers").toString()).contains("******").doesNotContain("h1dden");
        String list = get("messages?topic=orders&state=dead&order=newest").toString();
        assertThat(list).contains("9007199254740993").doesNotContain("s3cret");

        long diedAt = message.get("diedAt").asLong();
        JsonNode wrong =
                post("redrive", Map.of("topic", "orders", "deaths", List.of(Map.of("id", id, "diedAt", diedAt - 1))));
        assertThat(wrong.get("moved").asInt()).isZero();
        assertThat(wrong.get("leftOut").get(0).get("id").asString()).isEqualTo(id);
        context.getBean(Application.class).failing = false;
        JsonNode right =
                post("redrive", Map.of("topic", "orders", "deaths", List.of(Map.of("id", id, "diedAt", diedAt))));
        assertThat(right.get("moved").asInt()).isEqualTo(1);
        await().until(() -> Http.to(port)
                        .get("/easykit/api/message?topic=orders&id=" + encoded(id))
                        .status()
                == 404);
        JsonNode audit = get("audit");
        assertThat(audit.get("shared").asBoolean()).isTrue();
        assertThat(audit.get("entries").get(0).get("ids").get(0).asString()).isEqualTo(id);
        assertThat(audit.get("entries").get(0).get("outcome").asString()).isEqualTo("done");
        assertThat(audit.get("entries").get(0).get("moved").asInt()).isEqualTo(1);
        assertThat(audit.get("entries").get(1).get("moved").asInt()).isZero();
    }

    /** Its topic has more shards than the settings here say. The page asks every two seconds. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void showsATopicOfAnApplicationWithOtherSettings(CapturedOutput output) {
        try (ConfigurableApplicationContext other = new SpringApplicationBuilder(Other.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "delay-queue.topics.foreign.shards=4",
                        "spring.data.redis.url=redis://" + SERVER.host() + ":" + SERVER.port())
                .run()) {
            DelayQueueTemplate template = other.getBean(DelayQueueTemplate.class);
            template.send(OutgoingMessage.of("foreign", "x").after(Duration.ofHours(1)));
        }

        for (int i = 0; i < 2; i++) {
            assertThat(get("topic?topic=foreign").get("shardList")).hasSize(4);
            assertThat(get("messages?topic=foreign&state=waiting").get("messages"))
                    .hasSize(1);
        }
        assertThat(post("pause", Map.of("topic", "foreign"))
                        .get("changedShards")
                        .asInt())
                .isEqualTo(4);
        assertThat(output).doesNotContain("A request of the console failed");
    }

    /** So that its page shows changes through the actuator, too. */
    @Test
    void keepsTheAuditOfTheEndpoints() {
        assertThat(context.getBeanProvider(AuditKeeper.class).orderedStream().findFirst())
                .containsInstanceOf(Audit.class);
    }

    @Test
    void groupsDeadLettersAndPagesThroughOneGroup() {
        for (int i = 0; i < 5; i++) {
            send("group-" + i, Map.of("id", 100 + i), Duration.ZERO);
        }
        for (int i = 0; i < 5; i++) {
            dead("group-" + i);
        }

        JsonNode groups = get("groups?topic=orders").get("groups");
        assertThat(groups).hasSize(1);
        assertThat(groups.get(0).get("title").asString()).isEqualTo("IllegalStateException: order <b>#</b> is closed");
        String group = groups.get(0).get("group").asString();
        JsonNode page = get("messages?topic=orders&state=dead&size=3&group=" + group);
        assertThat(page.get("messages")).hasSize(3);
        JsonNode next = get("messages?topic=orders&state=dead&size=3&group=" + group + "&after="
                + encoded(page.get("next").asString()));
        assertThat(next.get("messages")).hasSize(2);
        assertThat(get("messages?topic=orders&state=dead&group=none").get("messages"))
                .isEmpty();
    }

    @Test
    void cancelsAndReschedulesTheMessageThatWasSeen() {
        send("waits", Map.of("id", 1), Duration.ofHours(1));
        JsonNode row = get("message?topic=orders&id=waits").get("message");
        Map<String, Object> target =
                Map.of("id", "waits", "incarnation", row.get("incarnation").asString());

        JsonNode moved = post("reschedule", Map.of("topic", "orders", "targets", List.of(target), "delay", "2h"));
        assertThat(moved.get("moved").asInt()).isEqualTo(1);
        assertThat(get("message?topic=orders&id=waits")
                        .get("message")
                        .get("due")
                        .asLong())
                .isGreaterThan(row.get("due").asLong());
        assertThat(get("messages?topic=orders&state=waiting").get("messages").toString())
                .contains("\"waits\"");

        Map<String, Object> other = Map.of("id", "waits", "incarnation", "ff".repeat(8));
        assertThat(post("cancel", Map.of("topic", "orders", "targets", List.of(other)))
                        .get("moved")
                        .asInt())
                .isZero();
        assertThat(post("cancel", Map.of("topic", "orders", "targets", List.of(target)))
                        .get("moved")
                        .asInt())
                .isEqualTo(1);
    }

    @Test
    void showsAndFreesAnOrderingKeyThatADeadLetterHasStopped() {
        DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
        OutgoingMessage message = OutgoingMessage.of("orders", Map.of("id", 1)).orderingKey("account <7>");
        String id = template.send(message).id();
        dead(id);
        template.send(message);

        JsonNode stopped = await().until(
                        () -> get("stopped-keys?topic=orders").get("keys"),
                        keys -> keys.get(0).get("parked").asInt() == 1)
                .get(0);
        assertThat(stopped.get("key").asString()).isEqualTo("account <7>");
        assertThat(stopped.get("id").asString()).isEqualTo(id);
        await().untilAsserted(() -> {
            JsonNode topic = get("topic?topic=orders");
            assertThat(topic.get("stoppedKeys").asInt()).isEqualTo(1);
            assertThat(topic.get("parked").asInt()).isEqualTo(1);
            assertThat(topic.get("shardList").get(0).get("parked").asInt()).isEqualTo(1);
        });
        assertThat(get("message?topic=orders&id=" + encoded(id))
                        .get("message")
                        .get("key")
                        .asString())
                .isEqualTo("account <7>");

        context.getBean(Application.class).failing = false;
        Map<String, Object> change = Map.of("topic", "orders", "id", id, "note", "looked at");
        assertThat(post("free-key", change).get("moved").asInt()).isEqualTo(1);
        await().until(() -> get("topic?topic=orders").get("parked").asInt() == 0);
        assertThat(get("stopped-keys?topic=orders").get("keys")).isEmpty();
        assertThat(post("free-key", change).get("leftOut").get(0).get("why").asString())
                .isEqualTo("it stops no key any more");
        JsonNode entry = get("audit").get("entries").get(1);
        assertThat(entry.get("action").asString()).isEqualTo("free-key");
        assertThat(entry.get("filter").asString()).isEqualTo("key account <7>");
        assertThat(entry.get("note").asString()).isEqualTo("looked at");
        assertThat(tryPost("free-key", Map.of("topic", "orders", "id", "7")).status())
                .isEqualTo(400);
        purge(id);
    }

    @Test
    void purgesOnlyWithTheNameOfTheTopic() {
        send("purged", Map.of("id", 2), Duration.ZERO);
        JsonNode message = dead("purged");
        Map<String, Object> death =
                Map.of("id", "purged", "diedAt", message.get("diedAt").asLong());

        assertThat(Http.to(port)
                        .json(JSON.writeValueAsString(
                                Map.of("topic", "orders", "deaths", List.of(death), "confirm", "order")))
                        .post("/easykit/api/purge")
                        .status())
                .isEqualTo(400);
        assertThat(post("purge", Map.of("topic", "orders", "deaths", List.of(death), "confirm", "orders"))
                        .get("moved")
                        .asInt())
                .isEqualTo(1);
    }

    @Test
    void showsTopicsAndNodesAndPauses() {
        await().atMost(OVERVIEW_AGE).untilAsserted(() -> {
            JsonNode topic = ofTopic("orders");
            assertThat(topic.get("listeningNodes").asInt()).isEqualTo(1);
        });
        JsonNode redis = await().until(() -> get("topics").get("redis"), Objects::nonNull);
        assertThat(redis.get("server").asString()).matches("\\d+\\.\\d+[^,]*, [a-z-]+, .+");
        assertThat(redis.get("warnings").isArray()).isTrue();
        assertThat(get("nodes")
                        .get("nodes")
                        .get(0)
                        .get("listeners")
                        .get(0)
                        .get("topic")
                        .asString())
                .isEqualTo("orders");

        post("pause", Map.of("topic", "orders", "note", "deploy"));
        JsonNode paused = get("topic?topic=orders");
        assertThat(paused.get("pausedShards").asInt()).isEqualTo(1);
        assertThat(paused.get("pause").get("by").asString()).isEqualTo("anonymous");
        post("resume", Map.of("topic", "orders"));
        assertThat(get("topic?topic=orders").get("pausedShards").asInt()).isZero();
    }

    @Test
    void showsTheLimitsOfATopicAndHowMuchOfThemIsUsed() {
        DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
        for (int i = 0; i < 3; i++) {
            template.send("partner-call", "x", Duration.ZERO);
        }

        await().untilAsserted(() -> {
            JsonNode topic = get("topic?topic=partner-call");
            assertThat(topic.get("inFlight").asInt()).isEqualTo(1);
            JsonNode limits = topic.path("limits");
            assertThat(limits.isObject()).isTrue();
            assertThat(limits.path("perSecond").asDouble()).isEqualTo(10.0);
            assertThat(limits.path("burst").asInt()).isEqualTo(3);
            assertThat(limits.path("permits").isInt()).isTrue();
            assertThat(limits.path("maxInFlight").asInt()).isEqualTo(1);
            assertThat(limits.path("limited").asBoolean()).isTrue();
            assertThat(limits.path("held").asInt()).isEqualTo(2);
        });
        await().atMost(OVERVIEW_AGE).untilAsserted(() -> {
            JsonNode limits = ofTopic("partner-call").path("limits");
            assertThat(limits.isObject()).isTrue();
            assertThat(limits.path("limited").asBoolean()).isTrue();
            assertThat(limits.path("held").asInt()).isEqualTo(2);
        });
        context.getBean(Application.class).answered.countDown();
        await().untilAsserted(() -> {
            JsonNode limits = get("topic?topic=partner-call").path("limits");
            assertThat(limits.path("limited").asBoolean()).isFalse();
            assertThat(limits.path("held").asInt()).isZero();
        });
        send("unlimited", Map.of("id", 1), Duration.ofHours(1));
        assertThat(get("topic?topic=orders").has("limits")).isFalse();
    }

    private static JsonNode ofTopic(String name) {
        for (JsonNode row : get("topics").get("topics")) {
            if (row.get("topic").asString().equals(name)) {
                return row;
            }
        }
        throw new AssertionError("no topic " + name);
    }

    @Test
    void numbersTheShardsAlthoughOneIsRefused() {
        context.getBean(DelayQueueTemplate.class).send("damaged", "x", Duration.ofHours(1));
        post("grow", Map.of("topic", "damaged", "shards", 3, "confirm", "damaged"));
        try (RawRedis redis = SERVER.connect()) {
            redis.command("SET", "dq:{damaged:1}:dead", "no sorted set");

            JsonNode topic = get("topic?topic=damaged");
            assertThat(topic.get("refused")).hasSize(1);
            assertThat(topic.get("shardList").findValues("shard"))
                    .extracting(JsonNode::asInt)
                    .containsExactly(0, 2);
            redis.command("DEL", "dq:{damaged:1}:dead");
        }
    }

    @Test
    void addsShardsToATopicAndNotesIt() {
        context.getBean(DelayQueueTemplate.class).send("growing", "x", Duration.ofHours(1));

        JsonNode grown = post("grow", Map.of("topic", "growing", "shards", 4, "confirm", "growing", "note", "for May"));
        assertThat(grown.get("shardsBefore").asInt()).isEqualTo(1);
        assertThat(grown.get("shards").asInt()).isEqualTo(4);
        assertThat(get("topic?topic=growing").get("shardList")).hasSize(4);
        JsonNode entry = get("audit").get("entries").get(0);
        assertThat(entry.get("action").asString()).isEqualTo("grow");
        assertThat(entry.get("topic").asString()).isEqualTo("growing");
        assertThat(entry.get("filter").asString()).isEqualTo("to 4 shards");
        assertThat(entry.get("note").asString()).isEqualTo("for May");
        assertThat(entry.get("outcome").asString()).isEqualTo("done");

        Reply fewer = Http.to(port)
                .with("Accept-Language", "zh-CN")
                .json(JSON.writeValueAsString(Map.of("topic", "growing", "shards", 2, "confirm", "growing")))
                .post("/easykit/api/grow");
        assertThat(fewer.status()).isEqualTo(409);
        assertThat(JSON.readTree(fewer.body()).get("detail").asString()).isEqualTo("主题 growing 在存储中有 4 个分片,不能改为 2 个。");
        assertThat(JSON.readTree(fewer.body()).get("action").asString()).isEqualTo("请设为 4 或更多,或不设置:否则其他分片的消息将无法找到。");
        assertThat(get("audit").get("entries").get(0).get("outcome").asString()).isEqualTo("refused");
        assertThat(tryPost("grow", Map.of("topic", "mistyped", "shards", 2, "confirm", "mistyped"))
                        .body())
                .contains("Topic 'mistyped' was never used, so no shards can be added to it.");
        assertThat(tryPost("grow", Map.of("topic", "growing", "shards", 8)).status())
                .isEqualTo(400);
        assertThat(tryPost("grow", Map.of("topic", "growing", "confirm", "growing"))
                        .body())
                .contains("The number of shards is missing.");
        assertThat(tryPost("grow", Map.of("topic", "growing", "shards", 1025, "confirm", "growing"))
                        .body())
                .contains("a whole number from 1 to 1024");
    }

    @Test
    void refusesATopicThatWasNeverUsed() {
        send("named", Map.of("id", 3), Duration.ofHours(1));

        for (String read :
                List.of("topic?", "stopped-keys?", "groups?", "messages?state=dead&", "export?state=dead&")) {
            Reply reply = Http.to(port).get("/easykit/api/" + read + "topic=mistyped");
            assertThat(reply.status()).as(read).isEqualTo(404);
            assertThat(reply.body()).contains("Topic 'mistyped' was never used.", "Check the name.");
        }
        for (Reply reply : List.of(
                tryPost("pause", Map.of("topic", "mistyped")),
                tryPost("resume", Map.of("topic", "mistyped")),
                tryPost("jobs", Map.of("topic", "mistyped", "action", "redrive", "select", Map.of("all", true))))) {
            assertThat(reply.status()).as(reply.body()).isEqualTo(404);
            assertThat(get("audit").get("entries").get(0).get("outcome").asString())
                    .isEqualTo("refused");
        }
    }

    @Test
    void findsAnIdInAllTopics() {
        send("needle", Map.of("id", 3), Duration.ofHours(1));

        assertThat(get("find?id=needle").get("messages").get(0).get("topic").asString())
                .isEqualTo("orders");
        assertThat(get("find?id=nothing").get("messages")).isEmpty();
        assertThat(get("find?id=" + "x".repeat(256)).get("messages")).isEmpty();
        assertThat(Http.to(port).get("/easykit/api/find?id=" + "x".repeat(257)).status())
                .isEqualTo(400);
        JsonNode row = get("message?topic=orders&id=needle").get("message");
        post(
                "cancel",
                Map.of(
                        "topic",
                        "orders",
                        "targets",
                        List.of(Map.of(
                                "id",
                                "needle",
                                "incarnation",
                                row.get("incarnation").asString()))));
    }

    @Test
    void savesTheWholeBodyAndRecordsIt() {
        send("raw", Map.of("password", "s3cret"), Duration.ofHours(1));

        Reply reply = Http.to(port).get("/easykit/api/body?topic=orders&id=raw");

        assertThat(reply.header("Content-Disposition")).startsWith("attachment");
        assertThat(reply.body()).isEqualTo("{\"password\":\"s3cret\"}");
        assertThat(get("audit").get("entries").get(0).get("action").asString()).isEqualTo("body");
    }

    /** Sends messages that die, and waits for that. */
    private static void sendDead(String prefix, int count) {
        for (int i = 0; i < count; i++) {
            send(prefix + i, Map.of("id", i), Duration.ZERO);
        }
        for (int i = 0; i < count; i++) {
            dead(prefix + i);
        }
    }

    private static JsonNode job(JsonNode started, String state) {
        String id = started.get("job").get("id").asString();
        await().until(() ->
                get("job?id=" + id).get("job").get("state").asString().equals(state));
        return get("job?id=" + id).get("job");
    }

    @Test
    void purgesThroughAJobThatSelectsByText() {
        sendDead("job-purged-", 3);

        assertThat(tryPost(
                                "jobs",
                                Map.of(
                                        "topic", "orders",
                                        "action", "purge",
                                        "select", Map.of("text", "JOB-PURGED-"),
                                        "confirm", "other"))
                        .status())
                .isEqualTo(400);
        JsonNode started = post(
                "jobs",
                Map.of(
                        "topic", "orders",
                        "action", "purge",
                        "select", Map.of("text", "JOB-PURGED-"),
                        "perSecond", 100,
                        "note", "ticket 12",
                        "confirm", "orders"));
        JsonNode done = job(started, "done");

        assertThat(done.get("done").asInt()).isEqualTo(3);
        assertThat(done.get("perSecond").asInt()).isEqualTo(100);
        assertThat(done.has("stopAt")).isFalse();
        assertThat(done.get("by").asString()).isEqualTo("anonymous");
        assertThat(done.get("note").asString()).isEqualTo("ticket 12");
        assertThat(done.has("endedAt")).isTrue();
        assertThat(get("jobs?topic=orders").get("jobs").toString())
                .contains(started.get("job").get("id").asString());
        assertThat(get("jobs?topic=other").get("jobs")).isEmpty();
        assertThat(tryPost(
                                "jobs/stop",
                                Map.of("id", started.get("job").get("id").asString()))
                        .status())
                .isEqualTo(409);
        assertThat(Http.to(port).get("/easykit/api/job?id=none").status()).isEqualTo(404);
        assertThat(context.getBean(MeterRegistry.class)
                        .get("easykit.console.jobs")
                        .tags("action", "purge", "outcome", "started")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void sendsBackAtFiftyASecondUnlessAnotherRateOrNoneIsGiven() {
        send("rated", Map.of("id", 1), Duration.ofHours(1));
        Map<String, Object> redrive =
                Map.of("topic", "orders", "action", "redrive", "select", Map.of("text", "no-such-message"));
        Map<String, Object> unlimited = new HashMap<>(redrive);
        unlimited.put("perSecond", "unlimited");

        assertThat(post("jobs", redrive).get("job").get("perSecond").asInt()).isEqualTo(50);
        assertThat(post("jobs", unlimited).get("job").has("perSecond")).isFalse();
        assertThat(tryPost("jobs", Map.of("topic", "orders", "action", "group", "select", Map.of("olderThan", 5)))
                        .status())
                .isEqualTo(400);
    }

    @Test
    void stopsAndContinuesASlowJob() {
        sendDead("slow-", 4);
        context.getBean(Application.class).failing = false;
        JsonNode started = post(
                "jobs",
                Map.of("topic", "orders", "action", "redrive", "select", Map.of("text", "slow-"), "perSecond", 1));
        String id = started.get("job").get("id").asString();
        await().until(() -> get("job?id=" + id).get("job").get("done").asInt() > 0);

        post("jobs/stop", Map.of("id", id));
        job(started, "stopped");
        int moved = get("job?id=" + id).get("job").get("done").asInt();
        assertThat(moved).isLessThan(4);
        post("jobs/continue", Map.of("id", id));
        assertThat(job(started, "done").get("done").asInt()).isEqualTo(4);
        assertThat(get("audit").get("entries").get(0).get("action").asString()).isEqualTo("jobs/continue");
        assertThat(get("audit").get("entries").get(0).get("jobId").asString()).isEqualTo(id);
    }

    @Test
    void searchesAndGroupsInTheBackground() {
        sendDead("searched-", 2);

        JsonNode found = job(post("jobs", Map.of("topic", "orders", "action", "search", "text", "searched-")), "done");
        JsonNode groups = job(post("jobs", Map.of("topic", "orders", "action", "group")), "done");

        assertThat(found.get("matches")).hasSize(2);
        assertThat(found.get("matches").get(0).get("id").asString()).startsWith("searched-");
        assertThat(groups.get("groups").get(0).get("type").asString()).isEqualTo("java.lang.IllegalStateException");
        purge("searched-0", "searched-1");
    }

    private static void purge(String... ids) {
        List<Map<String, Object>> deaths = Stream.of(ids)
                .<Map<String, Object>>map(
                        id -> Map.of("id", id, "diedAt", dead(id).get("diedAt").asLong()))
                .toList();
        assertThat(post("purge", Map.of("topic", "orders", "deaths", deaths, "confirm", "orders"))
                        .get("moved")
                        .asInt())
                .isEqualTo(ids.length);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"topic\":\"orders\",\"action\":\"redrive\"}",
                "{\"topic\":\"orders\",\"action\":\"redrive\",\"select\":{}}",
                "{\"topic\":\"orders\",\"action\":\"redrive\",\"select\":{\"all\":true,\"text\":\"a\"}}",
                "{\"topic\":\"orders\",\"action\":\"redrive\",\"select\":{\"all\":true},\"perSecond\":0}",
                "{\"topic\":\"orders\",\"action\":\"redrive\",\"select\":{\"group\":\"x\"}}",
                "{\"topic\":\"orders\",\"action\":\"search\"}",
                "{\"topic\":\"orders\",\"action\":\"other\",\"select\":{\"all\":true}}",
                "null"
            })
    void refusesAJobThatDoesNotSayWhatItSelects(String body) {
        Reply reply = Http.to(port).json(body).post("/easykit/api/jobs");

        assertThat(reply.status()).as(reply.body()).isEqualTo(400);
        assertThat(JSON.readTree(reply.body()).get("action").asString()).isNotBlank();
    }

    @Test
    void editsADeadLetterAndKeepsTheOldOneInTheAudit() {
        context.getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of("orders", Map.of("id", 9007199254740993L))
                        .id("edited")
                        .header("tenant", "a")
                        .after(Duration.ZERO));
        JsonNode message = dead("edited");
        assertThat(message.get("editable").asBoolean()).as(message.toString()).isTrue();
        assertThat(message.get("readable").get("ok").asBoolean()).isTrue();
        context.getBean(Application.class).failing = false;
        Map<String, Object> change = Map.of(
                "topic",
                "orders",
                "id",
                "edited",
                "diedAt",
                message.get("diedAt").asLong(),
                "incarnation",
                message.get("incarnation").asString(),
                "headers",
                Map.of("tenant", "b"),
                "body",
                "{\"id\": 9007199254740995}");

        assertThat(post("replace", change).get("moved").asInt()).isEqualTo(1);
        assertThat(tryPost("replace", change).status()).isIn(404, 409);

        await().until(() ->
                Http.to(port).get("/easykit/api/message?topic=orders&id=edited").status() == 404);
        JsonNode entries = get("audit").get("entries");
        assertThat(entries.get(0).get("action").asString()).isEqualTo("replace");
        assertThat(entries.get(0).get("outcome").asString()).isEqualTo("refused");
        assertThat(entries.get(0).get("why").asString()).isNotBlank();
        JsonNode audited = entries.get(1);
        assertThat(audited.get("action").asString()).isEqualTo("replace");
        assertThat(audited.get("old").get("body").asString()).isEqualTo("{\"id\":9007199254740993}");
        assertThat(audited.get("old").get("headers").get("tenant").asString()).isEqualTo("a");
    }

    /** The page shows JSON indented. */
    @Test
    void keepsTheBytesOfABodyThatIsNotEdited() {
        context.getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of("orders", Map.of("id", 6))
                        .id("kept-body")
                        .header("tenant", "a")
                        .after(Duration.ZERO));
        JsonNode message = dead("kept-body");
        assertThat(message.get("body").get("text").asString()).contains("\n");
        Map<String, Object> change = Map.of(
                "topic",
                "orders",
                "id",
                "kept-body",
                "diedAt",
                message.get("diedAt").asLong(),
                "headers",
                Map.of("tenant", "b"));

        assertThat(post("replace", change).get("moved").asInt()).isEqualTo(1);

        await().until(() -> dead("kept-body").get("headers").get("tenant").asString(), "b"::equals);
        assertThat(Http.to(port)
                        .get("/easykit/api/body?topic=orders&id=kept-body")
                        .body())
                .isEqualTo("{\"id\":6}");
        purge("kept-body");
    }

    @Test
    void doesNotEditAMaskedMessage() {
        send("masked", Map.of("id", 4), Duration.ZERO);
        JsonNode message = dead("masked");
        assertThat(message.get("editable").asBoolean()).isFalse();
        assertThat(message.get("uneditable").asString()).contains("masked");

        Reply reply = tryPost(
                "replace",
                Map.of(
                        "topic", "orders",
                        "id", "masked",
                        "diedAt", message.get("diedAt").asLong(),
                        "headers", Map.of(),
                        "body", "{}"));

        assertThat(reply.status()).isEqualTo(409);
        assertThat(dead("masked").get("diedAt").asLong())
                .isEqualTo(message.get("diedAt").asLong());
        purge("masked");
    }

    /** Sees the messages of the other application. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Onlooker {}

    @Test
    void doesNotEditAMessageWhoseValuesAreNotShown() {
        context.getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of("orders", Map.of("id", 5))
                        .id("unseen")
                        .header("tenant", "a")
                        .after(Duration.ZERO));
        JsonNode message = dead("unseen");
        assertThat(message.get("editable").asBoolean()).isTrue();
        Map<String, Object> change = Map.of(
                "topic", "orders",
                "id", "unseen",
                "diedAt", message.get("diedAt").asLong(),
                "headers", Map.of("tenant", ""),
                "body", "");
        try (ConfigurableApplicationContext blind = new SpringApplicationBuilder(Onlooker.class)
                .web(WebApplicationType.SERVLET)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "spring.autoconfigure.exclude=" + String.join(",", ConsoleSecurityContract.ofSpringSecurity()),
                        "easykit.console.open-to=loopback",
                        "easykit.console.edit=true",
                        "easykit.console.show-values=never",
                        "delay-queue.command-timeout=10s",
                        "spring.data.redis.url=redis://" + SERVER.host() + ":" + SERVER.port())
                .run()) {
            Http there = Http.to(blind.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
            JsonNode shown = JSON.readTree(there.get("/easykit/api/message?topic=orders&id=unseen")
                            .body())
                    .get("message");
            assertThat(shown.get("editable").asBoolean()).isFalse();
            assertThat(shown.get("uneditable").asString()).contains("not shown to you");

            Reply reply = there.json(JSON.writeValueAsString(change)).post("/easykit/api/replace");

            assertThat(reply.status()).as(reply.body()).isEqualTo(409);
        }
        assertThat(dead("unseen").get("headers").get("tenant").asString()).isEqualTo("a");
        purge("unseen");
    }

    @Test
    void exportsAListAsLines() {
        sendDead("exported-", 3);

        JsonNode before = get("audit").get("entries").path(0);
        assertThat(Http.to(port)
                        .with("Sec-Fetch-Site", "cross-site")
                        .get("/easykit/api/export?topic=orders&state=dead")
                        .status())
                .isEqualTo(403);
        assertThat(get("audit").get("entries").path(0)).isEqualTo(before);
        Reply reply = Http.to(port).get("/easykit/api/export?topic=orders&state=dead");

        assertThat(reply.header("Content-Disposition")).contains("orders-dead.ndjson");
        List<JsonNode> lines = reply.body()
                .lines()
                .map(JSON::readTree)
                .filter(line -> line.get("id").asString().startsWith("exported-"))
                .toList();
        assertThat(lines).hasSize(3);
        // They may die in any order.
        assertThat(lines)
                .extracting(line -> line.get("body").asString())
                .containsExactlyInAnyOrder("{\"id\":0}", "{\"id\":1}", "{\"id\":2}");
        assertThat(lines.get(0).get("headers").get("Password").asString()).isEqualTo("h1dden");
        assertThat(lines.get(0).get("error").asString()).contains("is closed");
        assertThat(get("audit").get("entries").get(0).get("action").asString()).isEqualTo("export");
        assertThat(Http.to(port)
                        .get("/easykit/api/export?topic=orders&state=dead&group=none")
                        .body())
                .isEmpty();
        purge("exported-0", "exported-1", "exported-2");
    }

    /** The settings of its topic do not apply to it. */
    @Test
    void namesNoSourceOfASettingOfAListenerByCode() {
        ListenerEndpoint endpoint = ListenerEndpoint.builder("by-code", "by-code", String.class)
                .concurrency(4)
                .build();
        ListenerContainer container =
                context.getBean(DelayQueueEngine.class).container(endpoint, (DelayMessage<String> message) -> {});
        context.getBean(DelayListenerRegistry.class).register(container);

        assertThat(get("topic?topic=by-code").get("settings").toString())
                .contains("\"name\":\"concurrency\",\"value\":\"4\",\"source\":null");
        container.stop();
    }

    @Test
    void showsThePastTheSettingsAndTheAlertsOfATopic() {
        sendDead("alerted-", 1);
        await().atMost(OVERVIEW_AGE).untilAsserted(() -> {
            JsonNode row = ofTopic("orders");
            assertThat(row.get("alerts").toString()).contains("\"dead\"");
            assertThat(row.get("series").get("waiting")).hasSize(60);
        });

        // The topics may be older, with the alert of another test that has been resolved since.
        JsonNode hour = await().atMost(Duration.ofSeconds(30))
                .until(() -> get("topic?topic=orders&range=1h"), topic -> !topic.get("alerts")
                        .isEmpty());
        assertThat(hour.get("alerts").get(0).get("limit").asInt()).isZero();
        assertThat(hour.get("series").get("waiting")).hasSize(60);
        assertThat(hour.get("series").get("stepSeconds").asInt()).isEqualTo(60);
        assertThat(get("topic?topic=orders&range=24h").get("series").get("acknowledged"))
                .hasSize(288);
        assertThat(hour.get("settings").toString())
                .contains(
                        "\"name\":\"concurrency\",\"value\":\"2\",\"source\":\"delay-queue.topics[orders].concurrency\"")
                .contains("\"name\":\"lease\",\"value\":\"30s\",\"source\":null");
        assertThat(hour.get("counters").get("sent").asLong()).isPositive();
        assertThat(get("nodes").get("nodes").get(0).get("self").asBoolean()).isTrue();
        purge("alerted-0");
    }
}
