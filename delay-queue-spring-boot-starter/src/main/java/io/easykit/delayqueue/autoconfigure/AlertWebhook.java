package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.LogText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Posts alerts to a webhook. One node of the fleet publishes an alert, and only that node posts it. A post that fails is
 * repeated a few times; then the alert is lost here, and a WARN names it. The address is never logged, because it often contains
 * a secret.
 */
final class AlertWebhook implements DelayQueueListener {

    static final int MOST_ATTEMPTS = 5;
    static final int MOST_WAITING = 100;

    private static final Logger log = LoggerFactory.getLogger("delay-queue");
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final int FIRST_FAILURE_STATUS = 400;
    private static final int FIRST_SERVER_FAILURE_STATUS = 500;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final JsonMapper JSON = JsonMapper.shared();

    private final URI address;
    private final String template;
    private final Duration timeout;
    private final String application;
    private final ScheduledExecutorService thread;
    private final HttpClient client;
    private final AtomicInteger waiting = new AtomicInteger();

    /**
     * Creates a listener that posts nothing yet.
     *
     * @param thread runs the posts; ended by {@link #close}
     */
    AlertWebhook(
            String address, String template, Duration timeout, String application, ScheduledExecutorService thread) {
        this.address = URI.create(address);
        this.template = template;
        this.timeout = timeout;
        this.application = application;
        this.thread = thread;
        this.client = HttpClient.newBuilder().connectTimeout(timeout).build();
    }

    /** A thread for the posts of one webhook. */
    static ScheduledExecutorService thread() {
        return Executors.newSingleThreadScheduledExecutor(task -> {
            Thread created = new Thread(task, "delay-queue-webhook");
            created.setDaemon(true);
            return created;
        });
    }

    /** Whether the template is JSON, with any text for its placeholders. */
    static boolean isJson(String template) {
        try {
            return !JSON.readTree(fill(template, placeholders("a \" b", "t", "k", "s", 1, 1, "app")))
                    .isMissingNode();
        } catch (JacksonException e) {
            return false;
        }
    }

    @Override
    public void onAlertRaised(DelayQueueEvent.AlertRaised event) {
        String text = event.topic() + ": " + name(event.kind()) + " is " + amount(event.kind(), event.value())
                + ", over the limit of " + amount(event.kind(), event.limit());
        post(event.topic(), text, event.kind(), "raised", event.value(), event.limit());
    }

    @Override
    public void onAlertResolved(DelayQueueEvent.AlertResolved event) {
        String text = event.topic() + ": " + name(event.kind()) + " is within its limit again";
        post(event.topic(), text, event.kind(), "resolved", 0, 0);
    }

    private static String name(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    private static String amount(Kind kind, long value) {
        return switch (kind) {
            case LATENESS, NO_CONSUMER -> value / 1000 + " s";
            case FAILING -> value + " %";
            case DUE, DEAD, WAITING -> Long.toString(value);
        };
    }

    private void post(String topic, String text, Kind kind, String state, long value, long limit) {
        String from = application.isEmpty() ? text : "[" + application + "] " + text;
        String body = fill(template, placeholders(from, topic, name(kind), state, value, limit, application));
        if (waiting.incrementAndGet() > MOST_WAITING) {
            lost(text, "too many alerts wait for it");
            return;
        }
        later(() -> attempt(text, body, 1), Duration.ZERO);
    }

    private static Map<String, String> placeholders(
            String text, String topic, String kind, String state, long value, long limit, String application) {
        Map<String, String> placeholders = new LinkedHashMap<>();
        placeholders.put("topic", topic);
        placeholders.put("kind", kind);
        placeholders.put("state", state);
        placeholders.put("value", Long.toString(value));
        placeholders.put("limit", Long.toString(limit));
        placeholders.put("application", application);
        placeholders.put("text", text);
        return placeholders;
    }

    private static String fill(String template, Map<String, String> placeholders) {
        String filled = template;
        for (Map.Entry<String, String> placeholder : placeholders.entrySet()) {
            String quoted = JSON.writeValueAsString(placeholder.getValue());
            filled = filled.replace("{" + placeholder.getKey() + "}", quoted.substring(1, quoted.length() - 1));
        }
        return filled;
    }

    private void attempt(String text, String body, int attempt) {
        String failure;
        try {
            int status = send(body);
            if (status < FIRST_FAILURE_STATUS) {
                waiting.decrementAndGet();
                return;
            }
            failure = "it answered with status " + status;
            if (status < FIRST_SERVER_FAILURE_STATUS && status != TOO_MANY_REQUESTS) {
                lost(text, failure);
                return;
            }
        } catch (IOException e) {
            failure = e.getClass().getSimpleName();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            lost(text, "the application stops");
            return;
        }
        if (attempt == MOST_ATTEMPTS) {
            lost(text, failure);
        } else {
            later(() -> attempt(text, body, attempt + 1), FIRST_PAUSE.multipliedBy(1L << (attempt - 1)));
        }
    }

    private void later(Runnable task, Duration pause) {
        try {
            var unused = thread.schedule(task, pause.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("An alert is not posted, because the application stops");
        }
    }

    private int send(String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(address)
                .timeout(timeout)
                .header("Content-Type", "application/json; charset=utf-8")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }

    /** Ends without posting what waits. */
    void close() {
        thread.shutdownNow();
    }

    private void lost(String text, String failure) {
        waiting.decrementAndGet();
        log.warn("The webhook of alerts did not get '{}': {}", LogText.of(text), failure);
    }
}
