package io.easykit.delayqueue.listener;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.listener.InvalidTopicSettingsException.Complaint;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * Checks each setting of a topic separately, so that all errors are found at once, including those of topics without a
 * listener here. The engine decides which values are valid. Combinations are checked with the listener.
 */
final class TopicSettingsCheck {

    private static final RetryPolicy RETRY =
            ListenerEndpoint.builder("check", "check", String.class).build().retry();

    /** A delay that fits every maximum. */
    private static final Duration NO_DELAY = Duration.ZERO;

    private final List<Complaint> complaints = new ArrayList<>();

    /** @throws InvalidTopicSettingsException if a setting is invalid */
    static void of(TopicSettings settings) {
        TopicSettingsCheck check = new TopicSettingsCheck();
        check.all(settings);
        if (!check.complaints.isEmpty()) {
            throw new InvalidTopicSettingsException(check.complaints);
        }
    }

    private void all(TopicSettings settings) {
        shards(settings.shards());
        listener("concurrency", settings.concurrency(), (endpoint, value) -> endpoint.concurrency(value));
        listener("lease", settings.lease(), (endpoint, value) -> endpoint.lease(value));
        listener(
                "max-lease-expirations",
                settings.maxLeaseExpirations(),
                (endpoint, value) -> endpoint.maxLeaseExpirations(value));
        listener(
                "lease-expired-delay",
                settings.leaseExpiredDelay(),
                (endpoint, value) -> endpoint.leaseExpiredDelay(value));
        listener(
                "dead-letter-retention",
                settings.deadLetterRetention(),
                (endpoint, value) -> endpoint.deadLetterRetention(value));
        attempt("max-attempts", settings.maxAttempts(), value -> RetryPolicy.fixed(value, NO_DELAY));
        if (settings.waitForReplicas() != null && settings.waitForReplicas() != 0) {
            attempt("wait-for-replicas", settings.waitForReplicas(), ReplicaWait::of);
        }
        attempt("replica-timeout", settings.replicaTimeout(), value -> new ReplicaWait(1, value));
        if (settings.backOff() != null) {
            backOff(settings.backOff());
        }
        if (settings.alerts() != null) {
            alerts(settings.alerts());
        }
        limits(settings);
        if (settings.noRetryFor() != null) {
            settings.noRetryFor().forEach(this::exception);
        }
    }

    private void backOff(TopicSettings.BackOff backOff) {
        attempt("back-off.delay", backOff.delay(), value -> RetryPolicy.fixed(1, value));
        attempt("back-off.max-delay", backOff.maxDelay(), value -> RetryPolicy.exponential(1, NO_DELAY, value));
        attempt(
                "back-off.multiplier",
                backOff.multiplier(),
                value -> new RetryPolicy(1, RETRY.firstDelay(), value, RETRY.maxDelay(), 0));
        attempt(
                "back-off.jitter",
                backOff.jitter(),
                value -> new RetryPolicy(1, RETRY.firstDelay(), 1, RETRY.maxDelay(), value));
        if (backOff.delay() != null
                && backOff.maxDelay() != null
                && backOff.maxDelay().compareTo(backOff.delay()) < 0) {
            complaints.add(new Complaint(
                    "back-off.max-delay",
                    text(backOff.maxDelay()),
                    "It is less than back-off.delay, which is " + text(backOff.delay()) + ". Give as much or more."));
        }
    }

    private void alerts(TopicSettings.Alerts alerts) {
        attempt("alerts.max-lateness", alerts.maxLateness(), value -> new AlertLimits(value, null, null, null));
        attempt("alerts.due", alerts.due(), value -> new AlertLimits(null, value, null, null));
        attempt("alerts.dead", alerts.dead(), value -> new AlertLimits(null, null, value, null));
        attempt("alerts.waiting", alerts.waiting(), value -> new AlertLimits(null, null, null, value));
        attempt("alerts.failing", alerts.failing(), value -> new AlertLimits(null, null, null, null, value));
        attempt("alerts.no-consumer", alerts.noConsumer(), value -> new AlertLimits(value, null, null, null));
    }

    private void limits(TopicSettings settings) {
        Integer shards = settings.shards();
        Integer places = settings.maxInFlight();
        attempt("rate", settings.rate(), FlowLimits.Rate::parse);
        attempt("burst", settings.burst(), value -> FlowLimits.Rate.of(1, Duration.ofSeconds(1))
                .withBurst(value));
        attempt("max-in-flight", places, FlowLimits::maxInFlight);
        if (places != null && shards != null && places > 0 && places < shards) {
            complaints.add(new Complaint(
                    "max-in-flight",
                    places.toString(),
                    "Each of the " + shards + " shards needs a place. Give " + shards + " or more, or fewer shards."));
        }
    }

    private void shards(@Nullable Integer shards) {
        if (shards != null && (shards < 1 || shards > ShardKey.MAX_SHARDS)) {
            complaints.add(new Complaint("shards", shards.toString(), "Give 1 to " + ShardKey.MAX_SHARDS + "."));
        }
    }

    private void exception(Class<?> type) {
        if (!Throwable.class.isAssignableFrom(type)) {
            complaints.add(new Complaint(
                    "no-retry-for", type.getName() + ", which is no exception", "Give classes of exceptions."));
        }
    }

    private <T> void listener(String name, @Nullable T value, Setter<T> setter) {
        attempt(name, value, some -> setter.set(ListenerEndpoint.builder("check", "check", String.class), some)
                .build());
    }

    private <T> void attempt(String name, @Nullable T value, Maker<T> maker) {
        if (value != null) {
            try {
                maker.make(value);
            } catch (IllegalArgumentException refused) {
                complaints.add(new Complaint(name, text(value), remedy(String.valueOf(refused.getMessage()))));
            }
        }
    }

    /** Messages of the engine have the form "problem: remedy". */
    private static String remedy(String message) {
        return StringUtils.capitalize(
                message.substring(message.lastIndexOf(": ") + 1).strip());
    }

    private static String text(Object value) {
        return value instanceof Duration duration ? DurationTexts.text(duration) : value.toString();
    }

    @FunctionalInterface
    private interface Maker<T> {
        Object make(T value);
    }

    @FunctionalInterface
    private interface Setter<T> {
        ListenerEndpoint.Builder set(ListenerEndpoint.Builder endpoint, T value);
    }
}
