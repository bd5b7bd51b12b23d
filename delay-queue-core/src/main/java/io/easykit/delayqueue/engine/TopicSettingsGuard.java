package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Refuses to start a listener whose topic settings differ from those of a running listener of the same topic. Otherwise chance
 * would decide which settings apply to a message.
 */
final class TopicSettingsGuard {

    private final Function<String, FlowLimits> limitsOfTopics;
    private final List<ListenerEndpoint> running = new ArrayList<>();

    TopicSettingsGuard(Function<String, FlowLimits> limitsOfTopics) {
        this.limitsOfTopics = limitsOfTopics;
    }

    /**
     * Returns the listener with the limits of its topic, if it has none itself.
     *
     * @throws TopicConflictException if it has other ones
     */
    ListenerEndpoint completed(ListenerEndpoint listener) {
        FlowLimits ofTopic = limitsOfTopics.apply(listener.topic());
        if (ofTopic.isNone() || ofTopic.equals(listener.limits())) {
            return listener;
        }
        if (!listener.limits().isNone()) {
            throw new TopicConflictException(
                    "Listener '" + listener.id() + "' has limits of " + listener.limits() + ", and its topic '"
                            + listener.topic() + "' has " + ofTopic + ".",
                    "Remove the limits from the listener, because they belong to the topic.");
        }
        return listener.withLimits(ofTopic);
    }

    /**
     * Takes in a listener that starts.
     *
     * @throws TopicConflictException if it contradicts one that runs
     */
    synchronized void add(ListenerEndpoint newcomer) {
        running.stream()
                .filter(other -> other.topic().equals(newcomer.topic()))
                .forEach(other -> requireAgreement(newcomer, other));
        running.add(newcomer);
    }

    /**
     * Checks a listener at each start by the application. If its topic grows meanwhile, each shard keeps one place ({@link FlowShare}).
     *
     * @throws TopicConflictException if its limits leave a shard of its topic without a place
     */
    static void requirePlaces(ListenerEndpoint endpoint, Topics topics) {
        Integer places = endpoint.limits().maxInFlight();
        if (places != null) {
            // First, because the store keeps a count that is declared once.
            requirePlaces(endpoint, places, topics.configured(endpoint.topic()));
            requirePlaces(
                    endpoint, places, topics.shardsOrAssumed(endpoint.topic()).all());
        }
    }

    private static void requirePlaces(ListenerEndpoint endpoint, int places, int shards) {
        if (places < shards) {
            throw new TopicConflictException(
                    "Listener '" + endpoint.id() + "' has maxInFlight " + places + ", and its topic '"
                            + endpoint.topic() + "' has " + shards + " shards, so some shards could run nothing.",
                    "Give max-in-flight a value of " + shards + " or more.");
        }
    }

    synchronized void remove(ListenerEndpoint endpoint) {
        running.remove(endpoint);
    }

    private static void requireAgreement(ListenerEndpoint one, ListenerEndpoint other) {
        requireSame("maxLeaseExpirations", ListenerEndpoint::maxLeaseExpirations, one, other);
        requireSame("deadKeyPolicy", ListenerEndpoint::deadKeyPolicy, one, other);
        requireSame("leaseExpiredDelay", ListenerEndpoint::leaseExpiredDelay, one, other);
        requireSame("deadLetterRetention", ListenerEndpoint::deadLetterRetention, one, other);
        // A listener that omits the limits would take no permits, so all must declare the same ones.
        requireSame("limits", ListenerEndpoint::limits, one, other);
        requireSame("alerts", TopicSettingsGuard::alerts, one, other);
        requireSameIdempotency(one, other);
    }

    /** A message may come to each of them in turn, for example after a lost acknowledgement. */
    private static void requireSameIdempotency(ListenerEndpoint one, ListenerEndpoint other) {
        boolean isIdempotent = one.idempotencyStore() != null;
        if (isIdempotent != (other.idempotencyStore() != null)) {
            throw new TopicConflictException(
                    "Of the listeners '" + one.id() + "' and '" + other.id() + "' of topic '" + one.topic() + "' only '"
                            + (isIdempotent ? one : other).id()
                            + "' is idempotent, so a message that one of them has handled could run again in the other.",
                    "Make both idempotent, or neither: give both listeners the same.");
        }
    }

    private static @Nullable AlertLimits alerts(ListenerEndpoint endpoint) {
        return endpoint.alerts().equals(AlertLimits.NONE) ? null : endpoint.alerts();
    }

    /** A listener may leave the setting out; then its value is null. */
    private static void requireSame(
            String setting,
            Function<ListenerEndpoint, @Nullable Object> value,
            ListenerEndpoint one,
            ListenerEndpoint other) {
        Object ofOne = value.apply(one);
        Object ofOther = value.apply(other);
        if (ofOne != null && ofOther != null && !ofOne.equals(ofOther)) {
            throw new TopicConflictException(
                    "Listener '" + one.id() + "' of topic '" + one.topic() + "' has " + setting + " " + text(ofOne)
                            + ", and '" + other.id() + "' has " + text(ofOther) + ".",
                    "It belongs to the topic: give both listeners the same.");
        }
    }

    private static String text(Object value) {
        return value instanceof Duration duration ? DurationText.of(duration) : value.toString();
    }
}
