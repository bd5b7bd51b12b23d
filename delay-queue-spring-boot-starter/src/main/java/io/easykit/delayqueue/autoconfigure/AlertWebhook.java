package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.time.DetachedThread;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Posts alerts to a webhook, one after the other, so that no resolved alert arrives before it was raised. One node of the fleet
 * publishes an alert, and only that node posts it. A post that fails is repeated a few times; then the alert is lost here, and a
 * WARN names it, as it does with those that wait when the application stops. The address is never logged, because it often
 * contains a secret.
 */
final class AlertWebhook implements DelayQueueListener {

    static final int MOST_ATTEMPTS = 5;
    static final int MOST_WAITING = 100;

    private static final Logger log = LoggerFactory.getLogger("delay-queue");
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final int SECOND = 1000;
    private static final int FIRST_SUCCESS_STATUS = 200;
    private static final int FIRST_OTHER_STATUS = 300;
    private static final int FIRST_SERVER_FAILURE_STATUS = 500;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final String STOPS = "the application stops";
    private static final JsonMapper JSON = JsonMapper.shared();

    private final URI address;
    private final String template;
    private final Duration timeout;
    private final String application;
    private final ScheduledExecutorService thread;
    private final HttpClient client;

    /** The first one is being posted, or waits for its repetition. */
    private final Queue<Post> posts = new ArrayDeque<>();

    // Guarded by posts. Null if no attempt is planned or running, such as because its thread could not be started.
    private @Nullable Object plan;
    private boolean closed;

    private record Post(String text, String body) {}

    /** @param mayPass whether it is worth a repetition */
    private record Failure(String reason, boolean mayPass) {}

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
        return Executors.newSingleThreadScheduledExecutor(task -> DetachedThread.of("delay-queue-webhook", task));
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
            case LATENESS, NO_CONSUMER -> time(value);
            case FAILING -> value + " %";
            case DUE, DEAD, WAITING -> Long.toString(value);
        };
    }

    /** Exact, so that a value over its limit also reads so. */
    private static String time(long millis) {
        return millis < SECOND
                ? millis + " ms"
                : BigDecimal.valueOf(millis, 3).stripTrailingZeros().toPlainString() + " s";
    }

    private void post(String topic, String text, Kind kind, String state, long value, long limit) {
        String from = application.isEmpty() ? text : "[" + application + "] " + text;
        String body = fill(template, placeholders(from, topic, name(kind), state, value, limit, application));
        Post post = new Post(text, body);
        int before;
        boolean refused;
        Post first;
        synchronized (posts) {
            before = posts.size();
            refused = closed;
            if (!refused && before < MOST_WAITING) {
                posts.add(post);
            }
            first = plan == null ? posts.peek() : null;
        }
        if (refused) {
            lost(post, STOPS);
        } else if (before >= MOST_WAITING) {
            lost(post, "too many alerts wait for it");
        }
        if (first != null) {
            later(first, 1, Duration.ZERO);
        }
    }

    private void next() {
        Post next;
        synchronized (posts) {
            posts.poll();
            next = posts.peek();
            if (next == null) {
                plan = null;
            }
        }
        if (next != null) {
            later(next, 1, Duration.ZERO);
        }
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

    private void attempt(Post post, int attempt) {
        Failure failure;
        try {
            failure = send(post);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return; // close() names it
        }
        if (failure != null && failure.mayPass() && attempt < MOST_ATTEMPTS) {
            later(post, attempt + 1, FIRST_PAUSE.multipliedBy(1L << (attempt - 1)));
            return;
        }
        if (failure != null) {
            lost(post, failure.reason());
        }
        next();
    }

    private void later(Post post, int attempt, Duration pause) {
        Object own = new Object();
        synchronized (posts) {
            plan = own;
        }
        Runnable task = () -> {
            if (isPlanned(own)) {
                attempt(post, attempt);
            }
        };
        try {
            var unused = thread.schedule(task, pause.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("An alert is not posted, because the application stops", e);
        } catch (OutOfMemoryError e) {
            log.debug("No thread to post an alert. It is posted with the next one", e);
            forget(own);
        }
    }

    /** A task whose thread could not be started runs when another one has a thread. */
    private boolean isPlanned(Object task) {
        synchronized (posts) {
            return plan == task;
        }
    }

    private void forget(Object task) {
        synchronized (posts) {
            plan = plan == task ? null : plan;
        }
    }

    /** Null if the receiver has accepted it. No exception may go up, because the future of the task would hide it. */
    private @Nullable Failure send(Post post) throws InterruptedException {
        CompletableFuture<HttpResponse<Void>> reply = null;
        try {
            HttpRequest request = HttpRequest.newBuilder(address)
                    .header("Content-Type", "application/json; charset=utf-8")
                    .POST(HttpRequest.BodyPublishers.ofString(post.body()))
                    .build();
            reply = client.sendAsync(request, BodyHandlers.discarding());
            // The timeout of a request ends with the headers of its reply, and a body that stalls would take for ever.
            int status = reply.get(timeout.toNanos(), TimeUnit.NANOSECONDS).statusCode();
            return status >= FIRST_SUCCESS_STATUS && status < FIRST_OTHER_STATUS
                    ? null
                    : new Failure(
                            "it answered with status " + status,
                            status >= FIRST_SERVER_FAILURE_STATUS || status == TOO_MANY_REQUESTS);
        } catch (TimeoutException e) {
            return new Failure("it did not reply within " + timeout.toMillis() + " ms", true);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return new Failure(cause.getClass().getSimpleName(), cause instanceof IOException);
        } catch (RuntimeException | Error e) {
            return new Failure(e.getClass().getSimpleName(), false);
        } finally {
            if (reply != null) {
                reply.cancel(true);
            }
        }
    }

    /** Ends without posting those that wait. */
    void close() {
        thread.shutdownNow();
        try {
            // Waits so that a post that was just answered is not logged as lost. A post under way is given up.
            boolean unused = thread.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        List<Post> left;
        synchronized (posts) {
            closed = true;
            left = List.copyOf(posts);
            posts.clear();
        }
        left.forEach(post -> lost(post, STOPS));
    }

    private static void lost(Post post, String failure) {
        log.warn("The webhook of alerts did not get '{}': {}", LogText.of(post.text()), failure);
    }
}
