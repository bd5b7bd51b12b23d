package io.easykit.delayqueue;

import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.DurationText;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.support.NameRules;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message to send. Start with {@link #of}; each further method returns a changed copy.
 *
 * <pre>{@code
 * OutgoingMessage.of("order-close", new CloseOrder(id)).after(Duration.ofMinutes(30)).id("close-" + id)
 * }</pre>
 *
 * @param topic   topic to send to
 * @param payload any object that the codec encodes
 * @param due     due time; at once by default
 * @param id      id chosen by the sender, or null for a generated one
 * @param headers names and values
 * @param retry   the message's own retry policy, or null for that of its listener
 * @param phase   when to store it in a transaction, or null for the template's phase
 * @param payloadType type to encode the payload as, or null for its class
 * @param sendTimeout maximum time to wait for a store that is away, or null for the template's
 * @param replicaWait replicas that have to confirm the message, or null for the topic's
 * @param orderingKey key of messages that run one after the other, or null
 */
public record OutgoingMessage(
        String topic,
        Object payload,
        DueTime due,
        @Nullable String id,
        Map<String, String> headers,
        @Nullable RetryPolicy retry,
        @Nullable SendPhase phase,
        @Nullable Type payloadType,
        @Nullable Duration sendTimeout,
        @Nullable ReplicaWait replicaWait,
        @Nullable String orderingKey) {

    private static final Duration LONGEST_SEND_TIMEOUT = Duration.ofHours(1);

    public OutgoingMessage {
        Objects.requireNonNull(topic, "A message without a topic: give the topic that its listener names.");
        Objects.requireNonNull(due, "A message without a due time: give one, or send it with a delay.");
        Objects.requireNonNull(headers, "A message with null for its headers: give an empty map, or leave them out.");
        if (payload == null) {
            throw new IllegalArgumentException("A message to topic '" + topic
                    + "' has no payload, which no listener could be given: send a value, such as the id of"
                    + " what it is about.");
        }
        if (id != null) {
            NameRules.requireOwnId(id);
        }
        if (orderingKey != null) {
            NameRules.requireOrderingKey(orderingKey);
        }
        if (sendTimeout != null && !isPossible(sendTimeout)) {
            throw new IllegalArgumentException("A send timeout of " + DurationText.of(sendTimeout)
                    + " of a message to topic '" + LogText.of(topic) + "' is not possible: give zero to "
                    + DurationText.of(LONGEST_SEND_TIMEOUT) + ".");
        }
        headers.forEach((name, value) -> requireHeader(topic, name, value));
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** Whether this is a possible send timeout: zero to an hour. */
    public static boolean isPossible(Duration sendTimeout) {
        return !sendTimeout.isNegative() && sendTimeout.compareTo(LONGEST_SEND_TIMEOUT) <= 0;
    }

    public static OutgoingMessage of(String topic, Object payload) {
        return new OutgoingMessage(
                topic, payload, DueTime.after(Duration.ZERO), null, Map.of(), null, null, null, null, null, null);
    }

    /** A message to a declared topic. */
    public static OutgoingMessage of(DelayTopic topic, Object payload) {
        return of(topic.name(), payload);
    }

    /**
     * A message whose payload is encoded as this type, see {@link #payloadType}:
     *
     * <pre>{@code
     * OutgoingMessage.of("zoo", animals, new PayloadType<List<Animal>>() {})
     * }</pre>
     */
    public static <T> OutgoingMessage of(String topic, T payload, PayloadType<T> type) {
        return of(topic, payload).payloadType(type.type());
    }

    /** Due a while after the store has taken it, by the store's clock. */
    public OutgoingMessage after(Duration delay) {
        return with(DueTime.after(delay));
    }

    /** Due at an instant, by the store's clock. One that has passed is due at once. */
    public OutgoingMessage at(Instant instant) {
        return with(DueTime.at(instant));
    }

    /**
     * Due at the instant of a date with a time zone, by the store's clock. It stays that instant if the rules of the zone
     * change later.
     */
    public OutgoingMessage at(ZonedDateTime date) {
        Objects.requireNonNull(date, "A message without a due time: give one, or send it with a delay.");
        return at(date.toInstant());
    }

    /**
     * Due at a local date in a time zone. A time that a change of the clocks skips is later by the length of the gap; of two equal
     * times the earlier one counts.
     */
    public OutgoingMessage at(LocalDateTime date, ZoneId zone) {
        Objects.requireNonNull(date, "A message without a due time: give one, or send it with a delay.");
        Objects.requireNonNull(
                zone, "A local due time without a zone: give one, such as ZoneId.of(\"Asia/Shanghai\").");
        return at(ZonedDateTime.of(date, zone));
    }

    /** An own id, 1 to 256 bytes: while a message with this id is live, another one with the same id is not stored. */
    public OutgoingMessage id(String ownId) {
        return new OutgoingMessage(
                topic, payload, due, ownId, headers, retry, phase, payloadType, sendTimeout, replicaWait, orderingKey);
    }

    /**
     * Messages of one key of a topic run one after the other, in the order of their due times, also over retries. Messages of other
     * keys, and those without one, do not wait for them. The key is a part of the id under which the message is stored
     * ({@link DelayQueueTemplate#orderedId}), so an own id is compared with those of the same key only.
     *
     * @param key 1 to 128 bytes, without {@code ~}
     */
    public OutgoingMessage orderingKey(String key) {
        return new OutgoingMessage(
                topic,
                payload,
                due,
                id,
                headers,
                retry,
                phase,
                payloadType,
                sendTimeout,
                replicaWait,
                NameRules.requireOrderingKey(key));
    }

    public OutgoingMessage header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new OutgoingMessage(
                topic, payload, due, id, more, retry, phase, payloadType, sendTimeout, replicaWait, orderingKey);
    }

    /** Adds headers. One of the same name is replaced. */
    public OutgoingMessage headers(Map<String, String> others) {
        Objects.requireNonNull(others, "A message with null for its headers: give an empty map, or leave them out.");
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.putAll(others);
        return new OutgoingMessage(
                topic, payload, due, id, more, retry, phase, payloadType, sendTimeout, replicaWait, orderingKey);
    }

    public OutgoingMessage retry(RetryPolicy policy) {
        return new OutgoingMessage(
                topic, payload, due, id, headers, policy, phase, payloadType, sendTimeout, replicaWait, orderingKey);
    }

    public OutgoingMessage phase(SendPhase sendPhase) {
        return new OutgoingMessage(
                topic, payload, due, id, headers, retry, sendPhase, payloadType, sendTimeout, replicaWait, orderingKey);
    }

    /**
     * Encodes the payload as this type. Needed for a generic payload with polymorphic elements, because a list does not carry
     * the type of its elements: {@code new ParameterizedTypeReference<List<Animal>>() {}.getType()}, or
     * {@link #of(String, Object, PayloadType)}.
     */
    public OutgoingMessage payloadType(Type type) {
        return new OutgoingMessage(
                topic, payload, due, id, headers, retry, phase, type, sendTimeout, replicaWait, orderingKey);
    }

    /**
     * How long the send may wait for a store that is away, such as during a fail-over, before it throws
     * {@link StoreUnavailableException}. Zero throws after the first attempt. In a list and in a transaction the longest
     * timeout of the messages holds for all of them.
     */
    public OutgoingMessage sendTimeout(Duration timeout) {
        return new OutgoingMessage(
                topic, payload, due, id, headers, retry, phase, payloadType, timeout, replicaWait, orderingKey);
    }

    /**
     * Waits until so many replicas have confirmed the message, at most for {@link ReplicaWait#DEFAULT_TIMEOUT}. If fewer do,
     * the message is stored all the same: see {@link SendResult#isUnderReplicated()}.
     */
    public OutgoingMessage waitForReplicas(int replicas) {
        return waitForReplicas(ReplicaWait.of(replicas));
    }

    /** As {@link #waitForReplicas(int)}, with a timeout. */
    public OutgoingMessage waitForReplicas(ReplicaWait wait) {
        return new OutgoingMessage(
                topic, payload, due, id, headers, retry, phase, payloadType, sendTimeout, wait, orderingKey);
    }

    private static void requireHeader(String topic, @Nullable String name, @Nullable String value) {
        if (name == null || value == null) {
            throw new IllegalArgumentException("Header '" + (name == null ? null : LogText.of(name))
                    + "' of a message to topic '" + LogText.of(topic) + "' has "
                    + (value == null ? "the value null" : "no name")
                    + ": give it a name and a value, or leave it out.");
        }
        if (!NameRules.isWellFormed(name) || !NameRules.isWellFormed(value)) {
            throw new IllegalArgumentException(
                    "Header '" + LogText.of(name) + "' of a message to topic '" + LogText.of(topic)
                            + "' has an unpaired surrogate in its name or value, which UTF-8 cannot hold: give it"
                            + " whole characters.");
        }
    }

    /** Without payload and header values: they do not belong in logs. */
    @Override
    public String toString() {
        return "OutgoingMessage[topic=" + LogText.of(topic) + ", payload="
                + payload.getClass().getName() + ", due=" + due
                + ", id=" + (id == null ? null : LogText.of(id)) + ", headers="
                + LogText.list(List.copyOf(headers.keySet())) + ", retry=" + retry + ", phase=" + phase
                + ", sendTimeout=" + sendTimeout + ", replicaWait=" + replicaWait + ", orderingKey="
                + (orderingKey == null ? null : LogText.of(orderingKey)) + "]";
    }

    private OutgoingMessage with(DueTime time) {
        return new OutgoingMessage(
                topic, payload, time, id, headers, retry, phase, payloadType, sendTimeout, replicaWait, orderingKey);
    }

    /**
     * How many replicas have to confirm a message that is sent, and for how long the send waits for them. If too few confirm in
     * time, the message is stored all the same; {@link SendResult#isUnderReplicated()} is true then.
     *
     * @param replicas 1 to 100
     * @param timeout  1 ms to 1 minute
     */
    public record ReplicaWait(int replicas, Duration timeout) {

        public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(1);

        private static final int MOST_REPLICAS = 100;
        private static final Duration SHORTEST = Duration.ofMillis(1);
        private static final Duration LONGEST = Duration.ofMinutes(1);

        public ReplicaWait {
            Objects.requireNonNull(timeout, "A wait for replicas without a timeout: give one, such as 1s.");
            if (replicas < 1 || replicas > MOST_REPLICAS) {
                throw new IllegalArgumentException(
                        "A wait for " + replicas + " replicas is not possible: give 1 to " + MOST_REPLICAS + ".");
            }
            if (timeout.compareTo(SHORTEST) < 0 || timeout.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException("A timeout of " + DurationText.of(timeout)
                        + " for replicas is not possible: give 1ms to 1m, for example 1s.");
            }
        }

        /** A wait of at most {@link #DEFAULT_TIMEOUT}. */
        public static ReplicaWait of(int replicas) {
            return new ReplicaWait(replicas, DEFAULT_TIMEOUT);
        }
    }

    /**
     * The type of a generic payload, such as {@code new PayloadType<List<Animal>>() {}}. A list does not carry the type of its
     * elements, so the type has to be written down where the message is made.
     *
     * @param <T> the type
     */
    public abstract static class PayloadType<T> {

        private final Type type;

        /**
         * Reads the type from the subclass.
         *
         * @throws IllegalArgumentException if the subclass names no type
         */
        protected PayloadType() {
            if (!(getClass().getGenericSuperclass() instanceof ParameterizedType parameterized)) {
                throw new IllegalArgumentException(
                        "A payload type without a type: write it down, as in new PayloadType<List<Animal>>() {}.");
            }
            this.type = parameterized.getActualTypeArguments()[0];
        }

        /** The type with its generics. */
        public final Type type() {
            return type;
        }

        @Override
        public final String toString() {
            return type.getTypeName();
        }
    }
}
