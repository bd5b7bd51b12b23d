package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.easykit.boot.SettingChecks;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent.AlertRaised;
import io.easykit.delayqueue.DelayQueueEvent.AlertResolved;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(OutputCaptureExtension.class)
class AlertWebhookTests {

    private static final String SLACK = "{\"text\": \"{text}\"}";
    private static final AlertRaised RAISED = new AlertRaised("orders", Kind.DEAD, 12, 10);

    private final List<String> bodies = new CopyOnWriteArrayList<>();
    private final List<Integer> statuses = new CopyOnWriteArrayList<>();
    private final List<Long> pauses = new CopyOnWriteArrayList<>();

    /** Runs tasks at once, and notes the pauses. */
    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1) {
        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            pauses.add(unit.toMillis(delay));
            return super.schedule(task, 0, unit);
        }
    };

    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/secret-token", exchange -> {
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(statuses.isEmpty() ? 200 : statuses.remove(0), -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        thread.shutdownNow();
        server.stop(0);
    }

    private AlertWebhook webhook(String template) {
        String address = "http://localhost:" + server.getAddress().getPort() + "/secret-token";
        return new AlertWebhook(address, template, Duration.ofSeconds(5), "shop \"1\"", thread);
    }

    private JsonNode posted(int index) {
        await().until(() -> bodies.size() > index);
        return JsonMapper.shared().readTree(bodies.get(index));
    }

    @Test
    void postsWhatSlackUnderstands() {
        AlertWebhook webhook = webhook(new WebhookSettings(null, null, Duration.ofSeconds(5)).template());
        webhook.onAlertRaised(RAISED);
        assertThat(posted(0).path("text").asString(""))
                .isEqualTo("[shop \"1\"] orders: dead is 12, over the limit of 10");
        webhook.onAlertResolved(new AlertResolved("orders", Kind.DEAD));
        assertThat(posted(1).path("text").asString(""))
                .isEqualTo("[shop \"1\"] orders: dead is within its limit again");
    }

    @Test
    void postsAnAlertWithTheNextOneIfItsThreadCouldNotBeStarted() {
        AtomicInteger errors = new AtomicInteger(1);
        ScheduledThreadPoolExecutor scarce = new ScheduledThreadPoolExecutor(1, task -> {
            if (errors.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task, "posts");
        });
        String address = "http://localhost:" + server.getAddress().getPort() + "/secret-token";
        AlertWebhook webhook = new AlertWebhook(address, SLACK, Duration.ofSeconds(5), "", scarce);
        webhook.onAlertRaised(RAISED);
        webhook.onAlertResolved(new AlertResolved("orders", Kind.DEAD));
        webhook.onAlertRaised(RAISED);

        assertThat(posted(2).path("text").asString("")).contains("over the limit");
        assertThat(posted(1).path("text").asString("")).contains("within its limit again");
        webhook.close();
        assertThat(bodies).hasSize(3);
    }

    @Test
    void postsWhatDingTalkAndWeComUnderstand() {
        webhook("{\"msgtype\": \"text\", \"text\": {\"content\": \"{text}\"}}")
                .onAlertRaised(new AlertRaised("orders", Kind.NO_CONSUMER, 130_000, 120_000));

        assertThat(posted(0).path("msgtype").asString("")).isEqualTo("text");
        assertThat(posted(0).path("text").path("content").asString(""))
                .endsWith("orders: no_consumer is 130 s, over the limit of 120 s");
    }

    @ParameterizedTest
    @CsvSource({
        "5400, 5000, '5.4 s, over the limit of 5 s'",
        "501, 500, '501 ms, over the limit of 500 ms'",
        "1250, 500, '1.25 s, over the limit of 500 ms'",
        "60001, 60000, '60.001 s, over the limit of 60 s'"
    })
    void showsATimeThatIsOverItsLimit(long value, long limit, String text) {
        webhook(SLACK).onAlertRaised(new AlertRaised("orders", Kind.LATENESS, value, limit));

        assertThat(posted(0).path("text").asString("")).endsWith("orders: lateness is " + text);
    }

    @Test
    void fillsInEachPlaceholder() {
        webhook("[\"{topic}\", \"{kind}\", \"{state}\", {value}, {limit}, \"{application}\"]")
                .onAlertRaised(new AlertRaised("orders", Kind.FAILING, 75, 50));

        assertThat(posted(0).toString()).isEqualTo("[\"orders\",\"failing\",\"raised\",75,50,\"shop \\\"1\\\"\"]");
    }

    @Test
    void triesFiveTimesWithGrowingPausesAndNamesTheLostAlertWithoutTheAddress(CapturedOutput output) {
        statuses.addAll(List.of(500, 503, 429, 500, 500));
        AlertWebhook webhook = webhook(SLACK);
        webhook.onAlertRaised(RAISED);
        await().until(() -> output.toString().contains("did not get"));

        assertThat(bodies).hasSize(AlertWebhook.MOST_ATTEMPTS);
        assertThat(pauses).containsExactly(0L, 1000L, 2000L, 4000L, 8000L);
        assertThat(output).contains("orders: dead is 12").contains("status 500").doesNotContain("secret-token");
        webhook.onAlertRaised(RAISED);
        assertThat(posted(5)).as("the next one").isNotNull();
    }

    /** A redirect leads to a page for people mostly, as one to log in. */
    @ParameterizedTest
    @ValueSource(ints = {301, 302, 307, 404})
    void doesNotRepeatAPostThatIsWrong(int status, CapturedOutput output) {
        statuses.add(status);
        webhook(SLACK).onAlertRaised(RAISED);
        await().until(() -> output.toString().contains("status " + status));

        assertThat(bodies).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 201, 204})
    void takesEachStatusOfSuccessForDelivered(int status, CapturedOutput output) {
        statuses.add(status);
        AlertWebhook webhook = webhook(SLACK);
        webhook.onAlertRaised(RAISED);
        webhook.onAlertRaised(RAISED);
        assertThat(posted(1)).isNotNull();

        assertThat(output).doesNotContain("did not get");
    }

    @Test
    void postsInOrderAlthoughTheFirstIsRepeated() {
        statuses.addAll(List.of(500, 503));
        AlertWebhook webhook = webhook("\"{state}\"");
        webhook.onAlertRaised(RAISED);
        webhook.onAlertResolved(new AlertResolved("orders", Kind.DEAD));
        posted(3);

        assertThat(bodies).containsExactly("\"raised\"", "\"raised\"", "\"raised\"", "\"resolved\"");
    }

    /** The client throws no {@link IOException} then. */
    @Test
    void namesEachAlertThatCannotBePostedAtAll(CapturedOutput output) {
        AlertWebhook webhook =
                new AlertWebhook("http://localhost:99999/secret-token", SLACK, Duration.ofSeconds(5), "", thread);
        for (int i = 0; i < AlertWebhook.MOST_WAITING + 3; i++) {
            webhook.onAlertRaised(RAISED);
            int lost = i + 1;
            await().pollInterval(Duration.ofMillis(1))
                    .until(() -> output.toString().split("did not get", -1).length == lost + 1);
        }
        assertThat(output).doesNotContain("too many alerts").doesNotContain("secret-token");
    }

    @Test
    void triesAgainWhereNobodyListens(CapturedOutput output) {
        server.stop(0);
        webhook(SLACK).onAlertRaised(RAISED);
        await().until(() -> output.toString().contains("did not get"));

        assertThat(pauses).hasSize(AlertWebhook.MOST_ATTEMPTS);
    }

    @Test
    void keepsAtMostAHundredAlertsAndNoneAfterItsEnd(CapturedOutput output) {
        List<Runnable> tasks = new ArrayList<>();
        ScheduledThreadPoolExecutor never = new ScheduledThreadPoolExecutor(1) {
            @Override
            public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
                tasks.add(task);
                return super.schedule(task, 1, TimeUnit.DAYS);
            }
        };
        AlertWebhook webhook = new AlertWebhook("http://localhost:1/", SLACK, Duration.ofSeconds(1), "", never);
        for (int i = 0; i < AlertWebhook.MOST_WAITING + 3; i++) {
            webhook.onAlertRaised(RAISED);
        }
        assertThat(tasks).as("one after the other").hasSize(1);
        assertThat(output.toString().split("too many alerts", -1)).hasSize(4);

        webhook.close();
        assertThat(never.isShutdown()).isTrue();
        assertThat(output.toString().split("the application stops", -1)).hasSize(AlertWebhook.MOST_WAITING + 1);
        webhook.onAlertRaised(RAISED);
        assertThat(output.toString().split("the application stops", -1)).hasSize(AlertWebhook.MOST_WAITING + 2);
        assertThat(output.toString().split("did not get", -1)).hasSize(AlertWebhook.MOST_WAITING + 5);
    }

    /** Sends the headers of its reply, and a part of the body. */
    private AlertWebhook webhookThatStalls(Duration timeout) {
        server.createContext("/stalls", exchange -> {
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(200, 10);
            exchange.getResponseBody().write('x');
            exchange.getResponseBody().flush();
        });
        String address = "http://localhost:" + server.getAddress().getPort() + "/stalls";
        return new AlertWebhook(address, "\"{state}\"", timeout, "", thread);
    }

    @Test
    void waitsNoLongerForABodyThatStalls(CapturedOutput output) {
        AlertWebhook webhook = webhookThatStalls(Duration.ofMillis(200));
        webhook.onAlertRaised(RAISED);
        webhook.onAlertResolved(new AlertResolved("orders", Kind.DEAD));
        await().until(() -> output.toString().split("did not get", -1).length == 3);

        assertThat(pauses).hasSize(2 * AlertWebhook.MOST_ATTEMPTS);
    }

    @Test
    void namesTheAlertsThatItDoesNotPostAnyMore(CapturedOutput output) {
        AlertWebhook webhook = webhookThatStalls(Duration.ofMinutes(1));
        webhook.onAlertRaised(RAISED);
        webhook.onAlertResolved(new AlertResolved("orders", Kind.DEAD));
        await().until(() -> bodies.size() == 1);
        webhook.close();

        assertThat(output.toString().split("did not get", -1)).hasSize(3);
        assertThat(output)
                .contains("dead is 12")
                .contains("within its limit again")
                .contains("the application stops");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://localhost:99999/", "ftp://localhost/", "hooks.slack.com/services", "http:// /"})
    void refusesAnAddressThatIsNone(String address) {
        SettingChecks checks = new SettingChecks("delay-queue.");
        new WebhookSettings(address, null, Duration.ofSeconds(5)).check(checks);

        assertThat(checks.problems()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{text}", "{\"text\": {text}}", "{\"text\": \"{text}\""})
    void refusesATemplateThatIsNoJson(String template) {
        assertThat(AlertWebhook.isJson(template)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {SLACK, "{\"a\": {\"b\": \"{topic} {kind}\"}, \"c\": {value}}", "\"{text}\""})
    void takesATemplateThatIsJson(String template) {
        assertThat(AlertWebhook.isJson(template)).isTrue();
    }
}
