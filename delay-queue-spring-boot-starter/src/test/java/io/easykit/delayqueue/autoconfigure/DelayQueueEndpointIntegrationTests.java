package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The actuator endpoint over HTTP, on a real Redis. */
class DelayQueueEndpointIntegrationTests {

    private static final String UNRESTRICTED = "management.endpoint.delayqueue.access=unrestricted";

    /** The overview of all topics is kept for up to 30 s, if the machine is slow. */
    private static final Duration OVERVIEW_AGE = Duration.ofSeconds(45);

    private final RedisServer server = RedisServer.shared();
    private final JsonMapper json = JsonMapper.builder().build();
    private final HttpClient http = HttpClient.newHttpClient();
    private static @Nullable ConfigurableApplicationContext shared;
    private @Nullable ConfigurableApplicationContext context;

    @BeforeEach
    void flush() {
        server.flush();
    }

    @AfterEach
    void close() {
        if (context != null) {
            context.close();
        }
    }

    private ConfigurableApplicationContext start(String... settings) {
        SpringApplication starting = new SpringApplication(Application.class);
        starting.setDefaultProperties(Map.of(
                "spring.data.redis.url",
                "redis://" + server.host() + ":" + server.port(),
                "delay-queue.command-timeout",
                "10s",
                "delay-queue.heartbeat-interval",
                "1s",
                "management.endpoints.web.exposure.include",
                "delayqueue"));
        List<String> arguments =
                new ArrayList<>(List.of("--spring.main.web-application-type=servlet", "--server.port=0"));
        Stream.of(settings).map(setting -> "--" + setting).forEach(arguments::add);
        ConfigurableApplicationContext started = starting.run(arguments.toArray(String[]::new));
        context = started;
        return started;
    }

    private record Reply(int status, String type, JsonNode body, String text) {}

    private HttpRequest.Builder request(ConfigurableApplicationContext application, String path) {
        String port = application.getEnvironment().getProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator/delayqueue" + path))
                .timeout(Duration.ofSeconds(30));
    }

    private Reply send(HttpRequest request) {
        try {
            HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
            String body = response.body();
            String type = response.headers().firstValue("Content-Type").orElse("");
            return new Reply(response.statusCode(), type, body.isEmpty() ? json.nullNode() : json.readTree(body), body);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private Reply get(ConfigurableApplicationContext application, String path) {
        return send(request(application, path).build());
    }

    private Reply post(ConfigurableApplicationContext application, String action, Map<String, String> fields) {
        return send(request(application, "/" + action)
                .header("Content-Type", "application/json")
                .header("X-User", "ada")
                .POST(BodyPublishers.ofString(json.writeValueAsString(fields)))
                .build());
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static void sendAndLetDie(ConfigurableApplicationContext application, String id) {
        application
                .getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of("mail/urgent", new Mail("Lovelace", "s3cret"))
                        .id(id)
                        .header("token", "t0ken"));
        await().until(() -> application.getBean(Mails.class).failed.contains(id));
    }

    private JsonNode awaitDead(ConfigurableApplicationContext application, String id) {
        String path = "/message?topic=mail/urgent&id=" + encoded(id);
        return await().until(
                        () -> get(application, path),
                        reply -> reply.status() == 200
                                && reply.body().get("state").asString().equals("dead"))
                .body();
    }

    private static void later(ConfigurableApplicationContext application, String id) {
        application
                .getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of("mail/urgent", new Mail("Lovelace", "s3cret"))
                        .id(id)
                        .after(Duration.ofHours(1)));
    }

    @Test
    void showsTopicsMessagesGroupsAndNodes() {
        ConfigurableApplicationContext application = start();
        sendAndLetDie(application, "close/1 ü");
        JsonNode dead = awaitDead(application, "close/1 ü");
        later(application, "later");

        assertThat(dead.get("lastError").get("text").asString()).contains("No such mailbox");
        assertThat(dead.get("failures").asInt()).isEqualTo(1);
        JsonNode page = get(application, "/messages?topic=mail/urgent").body();
        assertThat(page.get("total").asInt()).isEqualTo(1);
        assertThat(page.get("messages").get(0).get("diedAt")).isEqualTo(dead.get("diedAt"));
        assertThat(page.get("messages").get(0).get("headerNames").get(0).asString())
                .isEqualTo("token");
        JsonNode waiting = get(application, "/messages?topic=mail/urgent&state=waiting&order=newest&size=1")
                .body();
        assertThat(waiting.get("messages").get(0).get("id").asString()).isEqualTo("later");
        JsonNode topic = get(application, "/topic?topic=mail/urgent").body();
        assertThat(topic.get("dead").asInt()).isEqualTo(1);
        assertThat(topic.get("waiting").asInt()).isEqualTo(1);
        JsonNode group = get(application, "/groups?topic=mail/urgent")
                .body()
                .get("groups")
                .get(0);
        assertThat(group.get("type").asString()).isEqualTo("java.lang.IllegalStateException");
        assertThat(group.get("title").asString()).isEqualTo("IllegalStateException: No such mailbox");
        assertThat(group.get("sample").get("id").asString()).isEqualTo("close/1 ü");
        assertThat(group.get("sample").get("diedAt")).isEqualTo(dead.get("diedAt"));
        assertThat(get(application, "/message?id=later")
                        .body()
                        .get(0)
                        .get("topic")
                        .asString())
                .isEqualTo("mail/urgent");

        await().until(() -> get(application, "/topics").text().equals("[\"mail/urgent\"]"));
        await().atMost(OVERVIEW_AGE).until(() -> get(application, "").text().contains("\"places\":1"));
        JsonNode overview = get(application, "").body();
        assertThat(overview.get("topics").get(0).get("dead").asInt()).isEqualTo(1);
        JsonNode node = get(application, "/nodes").body().get(0);
        assertThat(node.get("listeners").get(0).get("topic").asString()).isEqualTo("mail/urgent");
    }

    @Test
    void hidesBodiesAndHeaderValuesUnlessASettingShowsThem() {
        ConfigurableApplicationContext application = start();
        sendAndLetDie(application, "1");
        JsonNode dead = awaitDead(application, "1");

        assertThat(dead.get("body").get("hidden").asString()).contains("management.endpoint.delayqueue.show-values");
        assertThat(dead.get("body").get("size").asInt()).isPositive();
        assertThat(dead.get("headerNames").get(0).asString()).isEqualTo("token");
        assertThat(dead.has("headers")).isFalse();
        assertThat(get(application, "/messages?topic=mail/urgent").text()).doesNotContain("Lovelace", "s3cret");
    }

    @Test
    void masksWhatTheApplicationMasks() {
        ConfigurableApplicationContext application = start("management.endpoint.delayqueue.show-values=always");
        sendAndLetDie(application, "1");
        JsonNode dead = awaitDead(application, "1");

        assertThat(dead.get("body").get("text").asString())
                .contains("\"to\": \"Lovelace\"", "\"password\": \"******\"");
        assertThat(dead.get("headers").get("token").asString()).isEqualTo("******");
        assertThat(get(application, "/messages?topic=mail/urgent").text())
                .contains("Lovelace", "******")
                .doesNotContain("s3cret", "t0ken");
    }

    @Test
    void showsValuesToUsersWithTheRole() {
        ConfigurableApplicationContext application = start(
                "management.endpoint.delayqueue.show-values=when-authorized",
                "management.endpoint.delayqueue.roles=OPS");
        sendAndLetDie(application, "1");
        awaitDead(application, "1");
        String path = "/message?topic=mail/urgent&id=1";

        assertThat(get(application, path).text()).doesNotContain("Lovelace");
        assertThat(send(request(application, path).header("X-User", "ada").build())
                        .text())
                .doesNotContain("Lovelace");
        assertThat(send(request(application, path)
                                .header("X-User", "ada")
                                .header("X-Role", "OPS")
                                .build())
                        .text())
                .contains("to\\\": \\\"Lovelace");
    }

    @Test
    void changesNothingUnlessItsAccessIsUnrestricted() {
        ConfigurableApplicationContext application = start();
        later(application, "1");

        assertThat(post(application, "cancel", Map.of("topic", "mail/urgent", "id", "1"))
                        .status())
                .isEqualTo(405);
        assertThat(get(application, "/message?topic=mail/urgent&id=1").status()).isEqualTo(200);
    }

    @Test
    void takesNoChangeThatAFormOrALinkOfAnotherPageCouldSend() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        later(application, "1");
        String query = "/cancel?topic=mail/urgent&id=1";

        assertThat(send(request(application, query)
                                .POST(BodyPublishers.noBody())
                                .build())
                        .status())
                .isEqualTo(415);
        assertThat(send(request(application, "/cancel")
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .POST(BodyPublishers.ofString("topic=mail/urgent&id=1"))
                                .build())
                        .status())
                .isEqualTo(415);
        assertThat(send(request(application, "/cancel")
                                .header("Content-Type", "text/plain")
                                .POST(BodyPublishers.ofString("{\"topic\":\"mail/urgent\",\"id\":\"1\"}"))
                                .build())
                        .status())
                .isEqualTo(415);
        assertThat(get(application, query).status()).isEqualTo(404);
        assertThat(get(application, "/message?topic=mail/urgent&id=1").status()).isEqualTo(200);
    }

    @Test
    void showsTheLimitsOfATopicAndWhetherTheyKeepMessages() {
        ConfigurableApplicationContext application = start(
                "delay-queue.topics[mail/urgent].rate=2/h",
                "delay-queue.topics[mail/urgent].burst=2",
                "delay-queue.topics[mail/urgent].max-in-flight=7");
        Mails mails = application.getBean(Mails.class);
        mails.works = true;
        DelayQueueTemplate template = application.getBean(DelayQueueTemplate.class);
        for (int i = 0; i < 5; i++) {
            template.send(OutgoingMessage.of("mail/urgent", new Mail("Lovelace", "s3cret")));
        }
        await().until(() -> mails.done.size() == 2);

        JsonNode topic = get(application, "/topic?topic=mail/urgent").body();

        assertThat(topic.get("due").asInt()).isEqualTo(3);
        JsonNode limits = topic.get("limits");
        assertThat(limits.get("limited").asBoolean()).isTrue();
        assertThat(limits.get("perSecond").asDouble()).isEqualTo(1 / 1800.0);
        assertThat(limits.get("burst").asInt()).isEqualTo(2);
        assertThat(limits.get("permits").asInt()).isZero();
        assertThat(limits.get("maxInFlight").asInt()).isEqualTo(7);
        assertThat(limits.get("held").asInt()).isEqualTo(3);
        await().atMost(OVERVIEW_AGE).untilAsserted(() -> {
            JsonNode row = get(application, "").body().get("topics").get(0);
            assertThat(row.get("limits").get("limited").asBoolean()).isTrue();
            assertThat(row.get("limits").get("burst").asInt()).isEqualTo(2);
        });
    }

    @Test
    void showsAndFreesOrderingKeysThatADeadLetterHasStopped() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        Mails mails = application.getBean(Mails.class);
        OutgoingMessage message = OutgoingMessage.of("mail/urgent", new Mail("Lovelace", "s3cret"))
                .orderingKey("ada");
        DelayQueueTemplate template = application.getBean(DelayQueueTemplate.class);
        String id = template.send(message).id();
        awaitDead(application, id);
        mails.works = true;
        String behind = template.send(message).id();
        JsonNode stopped = await().until(
                        () -> get(application, "/stopped-keys?topic=mail/urgent")
                                .body(),
                        keys -> keys.get(0).get("parked").asInt() == 1)
                .get(0);

        assertThat(stopped.get("key").asString()).isEqualTo("ada");
        assertThat(stopped.get("id").asString()).isEqualTo(id);
        JsonNode topic = get(application, "/topic?topic=mail/urgent").body();
        assertThat(topic.get("stoppedKeys").asInt()).isEqualTo(1);
        assertThat(topic.get("parked").asInt()).isEqualTo(1);
        assertThat(mails.done).isEmpty();

        Map<String, String> fields = Map.of("topic", "mail/urgent", "id", id);
        assertThat(post(application, "free-key", fields).body().get("outcome").asString())
                .isEqualTo("freed");
        await().until(() -> mails.done.equals(List.of(behind)));
        assertThat(post(application, "free-key", fields).status()).isEqualTo(409);
    }

    @Test
    void addsShardsToATopic() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        application.getBean(DelayQueueTemplate.class).send("plain", "x", Duration.ofHours(1));

        JsonNode grown = post(application, "grow", Map.of("topic", "plain", "shards", "4"))
                .body();
        assertThat(grown.get("outcome").asString()).isEqualTo("grown");
        assertThat(grown.get("shards").asInt()).isEqualTo(4);
        assertThat(grown.get("shardsBefore").asInt()).isEqualTo(1);
        JsonNode again = post(application, "grow", Map.of("topic", "plain", "shards", "4"))
                .body();
        assertThat(again.get("outcome").asString()).isEqualTo("unchanged");

        assertThat(get(application, "/topic?topic=plain").body().get("shardList"))
                .hasSize(4);
        Reply fewer = post(application, "grow", Map.of("topic", "plain", "shards", "2"));
        assertThat(fewer.status()).isEqualTo(409);
        assertThat(fewer.body().get("action").asString()).contains("4 or more");
    }

    @Test
    void numbersTheShardsAlthoughOneIsRefused() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        application.getBean(DelayQueueTemplate.class).send("damaged", "x", Duration.ofHours(1));
        post(application, "grow", Map.of("topic", "damaged", "shards", "3"));
        try (RawRedis redis = server.connect()) {
            redis.command("SET", "dq:{damaged:1}:dead", "no sorted set");
        }

        JsonNode topic = get(application, "/topic?topic=damaged").body();
        assertThat(topic.get("refused")).hasSize(1);
        assertThat(topic.get("shards").asInt()).isEqualTo(3);
        assertThat(topic.get("shardList").findValues("shard"))
                .extracting(JsonNode::asInt)
                .containsExactly(0, 2);
    }

    @Test
    void sendsBackAndPurgesTheDeathThatIsMeant() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        Mails mails = application.getBean(Mails.class);
        sendAndLetDie(application, "1");
        sendAndLetDie(application, "2");
        String diedAt = awaitDead(application, "1").get("diedAt").asString();
        awaitDead(application, "2");

        Reply other = post(
                application, "redrive", Map.of("topic", "mail/urgent", "id", "1", "diedAt", "2020-01-01T00:00:00Z"));
        assertThat(other.status()).isEqualTo(409);
        assertThat(other.body().get("action").asString()).contains("diedAt");

        mails.works = true;
        Reply redriven = post(
                application, "redrive", Map.of("topic", "mail/urgent", "id", "1", "diedAt", diedAt, "note", "mended"));
        assertThat(redriven.status()).isEqualTo(200);
        assertThat(redriven.body().get("outcome").asString()).isEqualTo("redriven");
        await().until(() -> mails.done.equals(List.of("1")));

        assertThat(post(application, "purge", Map.of("topic", "mail/urgent", "id", "2"))
                        .body()
                        .get("outcome")
                        .asString())
                .isEqualTo("purged");
        Reply gone = post(application, "purge", Map.of("topic", "mail/urgent", "id", "2"));
        assertThat(gone.status()).isEqualTo(404);
        assertThat(application.getBean(Audit.class).events)
                .filteredOn(event -> event.getType().equals("EASYKIT_REDRIVE"))
                .last()
                .satisfies(event -> {
                    assertThat(event.getPrincipal()).isEqualTo("ada");
                    assertThat(event.getData())
                            .containsEntry("topic", "mail/urgent")
                            .containsEntry("ids", List.of("1"))
                            .containsEntry("from", "actuator")
                            .containsEntry("note", "mended")
                            .containsEntry("outcome", "done");
                });
        assertThat(application.getBean(Audit.class).events).last().satisfies(event -> assertThat(event.getData())
                .containsEntry("action", "purge")
                .containsEntry("outcome", "refused"));
        // The latest first: the outcome of a change is in front of the change.
        assertThat(application.getBean(ActionLog.class).read(0, 2))
                .satisfiesExactly(
                        outcome -> assertThat(outcome).contains("\"outcome\":\"refused\"", "There is no message '2'"),
                        begun -> assertThat(begun)
                                .contains("\"who\":\"ada\"", "\"from\":\"actuator\"", "\"topic\":\"mail/urgent\"")
                                .contains("\"action\":\"purge\"", "\"ids\":[\"2\"]", "\"outcome\":\"begun\""));
    }

    @Test
    void reschedulesAndCancelsWaitingMessages() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        Mails mails = application.getBean(Mails.class);
        mails.works = true;
        later(application, "1");
        later(application, "2");

        assertThat(post(application, "reschedule", Map.of("topic", "mail/urgent", "id", "1", "delay", "0s"))
                        .status())
                .isEqualTo(200);
        await().until(() -> mails.done.equals(List.of("1")));

        assertThat(post(application, "cancel", Map.of("topic", "mail/urgent", "id", "2", "incarnation", "00"))
                        .status())
                .isEqualTo(409);
        assertThat(post(application, "cancel", Map.of("topic", "mail/urgent", "id", "2"))
                        .body()
                        .get("outcome")
                        .asString())
                .isEqualTo("cancelled");
        assertThat(post(application, "cancel", Map.of("topic", "mail/urgent", "id", "2"))
                        .status())
                .isEqualTo(404);
    }

    @Test
    void sendsBackAllAtARateAndStopsIt() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        for (int i = 0; i < 5; i++) {
            sendAndLetDie(application, "m" + i);
            awaitDead(application, "m" + i);
        }
        application.getBean(Mails.class).works = true;

        Reply started = post(application, "redrive-all", Map.of("topic", "mail/urgent", "perSecond", "1"));
        assertThat(started.status()).isEqualTo(200);
        String job = started.body().get("id").asString();
        assertThat(started.body().get("perSecond").asInt()).isEqualTo(1);
        assertThat(started.body().get("by").asString()).isEqualTo("ada");
        Reply stopped = post(application, "stop-job", Map.of("topic", "mail/urgent", "id", job));
        assertThat(stopped.body().get("outcome").asString()).isEqualTo("stopping");
        await().until(() ->
                get(application, "/jobs").body().get(0).get("state").asString().equals("stopped"));
        assertThat(get(application, "/jobs").body().get(0).get("id").asString()).isEqualTo(job);
        assertThat(post(application, "stop-job", Map.of("topic", "mail/urgent", "id", job))
                        .status())
                .isEqualTo(409);
        assertThat(get(application, "/topic?topic=mail/urgent")
                        .body()
                        .get("dead")
                        .asInt())
                .isPositive();
        assertThat(post(application, "stop-job", Map.of("topic", "other", "id", job))
                        .status())
                .isEqualTo(404);
    }

    @Test
    void sendsBackAllAtFiftyASecondUnlessAnotherRateOrNoneIsGiven() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        later(application, "1");

        JsonNode usual =
                post(application, "redrive-all", Map.of("topic", "mail/urgent")).body();
        JsonNode unlimited = post(application, "redrive-all", Map.of("topic", "mail/urgent", "perSecond", "unlimited"))
                .body();

        assertThat(usual.get("perSecond").asInt()).isEqualTo(50);
        assertThat(unlimited.get("state").asString()).isNotBlank();
        assertThat(unlimited.has("perSecond")).isFalse();
    }

    @Test
    void pausesATopicAndShowsWhoDidIt() {
        ConfigurableApplicationContext application = start(UNRESTRICTED);
        later(application, "1");

        assertThat(post(application, "pause", Map.of("topic", "mail/urgent"))
                        .body()
                        .get("changedShards")
                        .asInt())
                .isEqualTo(1);
        JsonNode pause = get(application, "/topic?topic=mail/urgent").body().get("pause");
        assertThat(pause.get("by").asString()).isEqualTo("ada");
        assertThat(post(application, "resume", Map.of("topic", "mail/urgent"))
                        .body()
                        .get("outcome")
                        .asString())
                .isEqualTo("resumed");
        assertThat(get(application, "/topic?topic=mail/urgent").body().has("pause"))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/nonsense                                   | 404 | topics, topic, messages",
                "/topic                                      | 400 | order-close",
                "/topic?topic=no%20spaces                    | 400 | Correct",
                "/messages?topic=t&state=alive               | 400 | waiting or in-flight",
                "/messages?topic=t&order=random              | 400 | newest",
                "/messages?topic=t&size=1000                 | 400 | 1 to 100",
                "/messages?topic=t&size=many                 | 400 | whole number",
                "/messages?topic=t&after=nonsense            | 400 | Correct",
                "/topic?topic=mistyped                       | 404 | Check the name. Topics that were used: [",
                "/messages?topic=mistyped                    | 404 | Check the name",
                "/groups?topic=mistyped                      | 404 | Check the name",
                "/stopped-keys?topic=mistyped                | 404 | Check the name",
                "/message?topic=t                            | 400 | path messages",
                "/message?topic=t&id=none                    | 404 | path messages",
            })
    void refusesAReadWithTheRemedy(String path, int status, String remedy) {
        Reply reply = get(running(), path);

        assertThat(reply.status()).as(reply.text()).isEqualTo(status);
        assertThat(reply.type()).isEqualTo("application/problem+json");
        assertThat(reply.body().get("status").asInt()).isEqualTo(status);
        assertThat(reply.body().get("detail").asString()).isNotBlank();
        assertThat(reply.body().get("action").asString()).contains(remedy);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "explode     | topic=t                      | 404 | redrive, redrive-all",
                "pause       |                              | 400 | order-close",
                "redrive     | topic=t                      | 400 | path messages",
                "redrive     | topic=t,id=1,diedAt=yesterday | 400 | 2026-01-31T14:05",
                "reschedule  | topic=t,id=1                 | 400 | delay 5m",
                "reschedule  | topic=t,id=1,delay=soon      | 400 | 30s, 5m or 2h",
                "reschedule  | topic=t,id=1,delay=-5s       | 400 | Correct",
                "cancel      | topic=t,id=1,incarnation=x   | 400 | Correct",
                "cancel      | topic=t,id=1,incarnation=abc | 400 | Correct",
                "redrive-all | topic=t,perSecond=0          | 400 | whole number",
                "redrive-all | topic=t,perSecond=1000001    | 400 | to 1000000, or unlimited",
                "stop-job    | topic=t,id=none              | 409 | path jobs",
                "grow        | topic=t                      | 400 | for example 8",
                "grow        | topic=t,shards=1025          | 400 | 1 to 1024",
                "grow        | topic=mistyped,shards=8      | 409 | Check the name",
                "redrive-all | topic=mistyped               | 404 | Check the name. Topics that were used: [",
                "pause       | topic=mistyped               | 404 | Check the name",
                "resume      | topic=mistyped               | 404 | Check the name",
            })
    void refusesAChangeWithTheRemedy(String action, @Nullable String given, int status, String remedy) {
        Map<String, String> fields = new HashMap<>();
        if (given != null) {
            for (String field : given.split(",", -1)) {
                String[] parts = field.split("=", 2);
                fields.put(parts[0], parts[1]);
            }
        }
        Reply reply = post(running(), action, fields);

        assertThat(reply.status()).as(reply.text()).isEqualTo(status);
        assertThat(reply.type()).isEqualTo("application/problem+json");
        assertThat(reply.body().get("status").asInt()).isEqualTo(status);
        assertThat(reply.body().get("detail").asString()).isNotBlank();
        assertThat(reply.body().get("action").asString()).contains(remedy);
    }

    /** One application for all tests that change nothing. */
    private ConfigurableApplicationContext running() {
        ConfigurableApplicationContext known = shared;
        if (known == null) {
            // The other applications' messages are not for its listener.
            known = start(UNRESTRICTED, "delay-queue.key-prefix=shared:");
            shared = known;
            context = null;
        }
        return known;
    }

    @AfterAll
    static void closeShared() {
        if (shared != null) {
            shared.close();
            shared = null;
        }
    }

    @Test
    void saysThatTheQueueIsDisabled() {
        ConfigurableApplicationContext application = start("delay-queue.enabled=false", UNRESTRICTED);

        Reply read = get(application, "/topic?topic=t");
        Reply change = post(application, "pause", Map.of("topic", "t"));

        assertThat(List.of(read, change)).allSatisfy(reply -> {
            assertThat(reply.status()).isEqualTo(503);
            assertThat(reply.body().get("action").asString()).contains("delay-queue.enabled=true");
        });
    }

    @Test
    void saysThatRedisIsAway() {
        ConfigurableApplicationContext application =
                start("spring.data.redis.url=redis://localhost:1", "delay-queue.auto-startup=false");

        assertThat(List.of(
                        get(application, ""),
                        get(application, "/topic?topic=t"),
                        get(application, "/messages?topic=t")))
                .allSatisfy(reply -> {
                    assertThat(reply.status()).isEqualTo(503);
                    assertThat(reply.body().get("action").asString()).contains("Check Redis");
                });
    }

    record Mail(String to, String password) {}

    @SpringBootConfiguration
    @EnableQueueOverHttp
    static class Application {

        @Bean
        Mails mails() {
            return new Mails();
        }

        @Bean
        Audit audit() {
            return new Audit();
        }

        @Bean
        SanitizingFunction passwords() {
            return data -> List.of("password", "token").contains(data.getKey()) ? data.withSanitizedValue() : data;
        }

        /** A login. */
        @Bean
        Filter login() {
            return (request, response, chain) -> chain.doFilter(new User((HttpServletRequest) request), response);
        }
    }

    private static final class User extends HttpServletRequestWrapper {

        User(HttpServletRequest request) {
            super(request);
        }

        @Override
        public @Nullable Principal getUserPrincipal() {
            String user = getHeader("X-User");
            return user == null ? null : () -> user;
        }

        @Override
        public boolean isUserInRole(String role) {
            return role.equals(getHeader("X-Role"));
        }
    }

    static class Audit {

        private final List<AuditEvent> events = new CopyOnWriteArrayList<>();

        @EventListener
        void on(AuditApplicationEvent event) {
            events.add(event.getAuditEvent());
        }
    }

    static class Mails {

        private final List<String> failed = new CopyOnWriteArrayList<>();
        private final List<String> done = new CopyOnWriteArrayList<>();
        private volatile boolean works;

        @DelayListener(topic = "mail/urgent", maxAttempts = "1")
        void on(DelayMessage<Mail> message) {
            if (!works) {
                failed.add(message.id());
                throw new IllegalStateException("No such mailbox");
            }
            done.add(message.id());
        }
    }
}
