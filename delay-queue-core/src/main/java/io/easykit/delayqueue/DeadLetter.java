package io.easykit.delayqueue;

import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.support.NameRules;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter, as a listener of dead letters receives it. The message itself stays a dead letter of its topic, until it is
 * redriven or purged.
 *
 * @param topic            of the message
 * @param id               of the message
 * @param payload          decoded payload, or null if it cannot be read or was deleted
 * @param headers          as sent
 * @param diedAt           by the store's clock. With the id it names one dead letter for redrive and purge
 * @param failures         runs that failed since the send or the last redrive
 * @param leaseExpirations leases that expired since the send or the last redrive
 * @param firstError       first failure: an exception, or one of the reasons of {@link MessageInfo.ErrorNote}; empty if unknown
 * @param lastError        latest failure, in the same form
 */
public record DeadLetter<T>(
        String topic,
        String id,
        @Nullable T payload,
        Map<String, String> headers,
        Instant diedAt,
        int failures,
        int leaseExpirations,
        String firstError,
        String lastError) {

    private static final String SUFFIX = ".dead-letters";

    public DeadLetter {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** The topic to which the dead letters of a topic are announced. */
    public static String topicOf(String topic) {
        return topic + SUFFIX;
    }

    /** Whether dead letters are announced to this topic. */
    static boolean isAnnouncement(String topic) {
        return topic.endsWith(SUFFIX);
    }

    /** Without payload, header values and errors: they do not belong in logs. */
    @Override
    public String toString() {
        return "DeadLetter[topic=" + LogText.of(topic) + ", id=" + LogText.of(id) + ", diedAt=" + diedAt + ", failures="
                + failures + ", leaseExpirations=" + leaseExpirations + "]";
    }

    /** @throws IllegalArgumentException if dead letters of this topic cannot be announced to a listener */
    static void requireAnnounceable(String listener, String topic) {
        NameRules.requireTopic(topic);
        String complaint = topicOf(topic).length() > 128
                ? "' is too long for the topic of its announcements: give at most 115 characters."
                : "' is that of announced dead letters, and dead letters of it are not announced: give another topic.";
        if (topicOf(topic).length() > 128 || isAnnouncement(topic)) {
            throw new IllegalArgumentException("Listener '" + listener + "': topic '" + topic + complaint);
        }
    }
}
