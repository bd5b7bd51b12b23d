package io.easykit.delayqueue;

import io.easykit.delayqueue.PayloadCodec.PayloadType;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.DurationText;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.support.NameRules;
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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A message to send. Start with {@link #of}; each further method returns a changed copy.
 *
 * <pre>{@code
 * OutgoingMessage.of("order-close", new CloseOrder(id)).after(Duration.ofMinutes(30)).id("close-" + id)
 * }</pre>
 */
public final class OutgoingMessage {

    private static final Duration LONGEST_SEND_TIMEOUT = Duration.ofHours(1);

    private final Values values;

    private OutgoingMessage(Draft draft) {
        draft.headers.forEach((name, value) -> NameRules.requireHeader(draft.topic, name, value));
        this.values = new Values(
                draft.topic,
                draft.payload,
                draft.due,
                draft.id,
                Collections.unmodifiableMap(new LinkedHashMap<>(draft.headers)),
                draft.retry,
                draft.phase,
                draft.payloadType,
                draft.sendTimeout,
                draft.replicaWait,
                draft.orderingKey);
    }

    /** Not the message itself, whose constructor would change with each further value. */
    private record Values(
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
            @Nullable String orderingKey) {}

    /** The values of the next copy. */
    private static final class Draft {

        private final String topic;
        private final Object payload;
        private DueTime due = DueTime.after(Duration.ZERO);
        private @Nullable String id;
        private Map<String, String> headers = Map.of();
        private @Nullable RetryPolicy retry;
        private @Nullable SendPhase phase;
        private @Nullable Type payloadType;
        private @Nullable Duration sendTimeout;
        private @Nullable ReplicaWait replicaWait;
        private @Nullable String orderingKey;

        Draft(String topic, Object payload) {
            this.topic = topic;
            this.payload = payload;
        }
    }

    private OutgoingMessage with(Consumer<Draft> change) {
        Draft draft = new Draft(values.topic, values.payload);
        draft.due = values.due;
        draft.id = values.id;
        draft.headers = values.headers;
        draft.retry = values.retry;
        draft.phase = values.phase;
        draft.payloadType = values.payloadType;
        draft.sendTimeout = values.sendTimeout;
        draft.replicaWait = values.replicaWait;
        draft.orderingKey = values.orderingKey;
        change.accept(draft);
        return new OutgoingMessage(draft);
    }

    /** Whether this is a possible send timeout: zero to an hour. */
    public static boolean isPossible(Duration sendTimeout) {
        return !sendTimeout.isNegative() && sendTimeout.compareTo(LONGEST_SEND_TIMEOUT) <= 0;
    }

    public static OutgoingMessage of(String topic, Object payload) {
        Objects.requireNonNull(topic, "A message without a topic: give the topic that its listener names.");
        if (payload == null) {
            throw new IllegalArgumentException("A message to topic '" + LogText.of(topic)
                    + "' has no payload, which no listener could be given: send a value, such as the id of"
                    + " what it is about.");
        }
        return new OutgoingMessage(new Draft(topic, payload));
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
        return with(draft -> draft.due = DueTime.after(delay));
    }

    /** Due at an instant, by the store's clock. One that has passed is due at once. */
    public OutgoingMessage at(Instant instant) {
        return with(draft -> draft.due = DueTime.at(instant));
    }

    /** Due at the instant of a date, by the store's clock. It stays that instant if the rules of the zone change later. */
    public OutgoingMessage at(ZonedDateTime date) {
        return with(draft -> draft.due = DueTime.at(date));
    }

    /**
     * Due at a local date in a time zone. A time that a change of the clocks skips is later by the length of the gap; of two equal
     * times the earlier one counts.
     */
    public OutgoingMessage at(LocalDateTime date, ZoneId zone) {
        return with(draft -> draft.due = DueTime.at(date, zone));
    }

    /** An own id, 1 to 256 bytes: while a message with this id is live, another one with it is not stored. Null for a generated one. */
    public OutgoingMessage id(@Nullable String ownId) {
        return with(draft -> draft.id = ownId == null ? null : NameRules.requireOwnId(ownId));
    }

    /**
     * Messages of one key of a topic run one after the other, in the order of their due times, also over retries. Messages of other
     * keys, and those without one, do not wait for them. The key is a part of the id under which the message is stored
     * ({@link DelayQueueTemplate#orderedId}), so an own id is compared with those of the same key only.
     *
     * @param key 1 to 128 bytes, without {@code ~}
     */
    public OutgoingMessage orderingKey(String key) {
        return with(draft -> draft.orderingKey = NameRules.requireOrderingKey(key));
    }

    public OutgoingMessage header(String name, String value) {
        return headers(Collections.singletonMap(name, value));
    }

    /** Adds headers. One of the same name is replaced. */
    public OutgoingMessage headers(Map<String, String> others) {
        Objects.requireNonNull(others, "A message with null for its headers: give an empty map, or leave them out.");
        Map<String, String> more = new LinkedHashMap<>(values.headers);
        more.putAll(others);
        return with(draft -> draft.headers = more);
    }

    public OutgoingMessage retry(RetryPolicy policy) {
        return with(draft -> draft.retry = policy);
    }

    public OutgoingMessage phase(SendPhase sendPhase) {
        return with(draft -> draft.phase = sendPhase);
    }

    /**
     * Encodes the payload as this type. Needed for a generic payload with polymorphic elements, because a list does not carry
     * the type of its elements: {@code new ParameterizedTypeReference<List<Animal>>() {}.getType()}, or
     * {@link #of(String, Object, PayloadType)}.
     */
    public OutgoingMessage payloadType(Type type) {
        return with(draft -> draft.payloadType = type);
    }

    /**
     * How long the send may wait for a store that is away, such as during a fail-over, before it throws
     * {@link StoreUnavailableException}. Zero throws after the first attempt. In a list and in a transaction the longest
     * timeout of the messages holds for all of them. Null for that of the template.
     */
    public OutgoingMessage sendTimeout(@Nullable Duration timeout) {
        if (timeout != null && !isPossible(timeout)) {
            throw new IllegalArgumentException("A send timeout of " + DurationText.of(timeout)
                    + " of a message to topic '" + LogText.of(values.topic) + "' is not possible: give zero to "
                    + DurationText.of(LONGEST_SEND_TIMEOUT) + ".");
        }
        return with(draft -> draft.sendTimeout = timeout);
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
        return with(draft -> draft.replicaWait = wait);
    }

    public String topic() {
        return values.topic;
    }

    /** Any object that the codec encodes. */
    public Object payload() {
        return values.payload;
    }

    /** At once by default. */
    public DueTime due() {
        return values.due;
    }

    /** Chosen by the sender; null for a generated one. */
    public @Nullable String id() {
        return values.id;
    }

    /** Names and values. The map cannot be changed. */
    public Map<String, String> headers() {
        return values.headers;
    }

    /** The message's own retry policy; null for that of its listener. */
    public @Nullable RetryPolicy retry() {
        return values.retry;
    }

    /** When it is stored in a transaction; null for the template's phase. */
    public @Nullable SendPhase phase() {
        return values.phase;
    }

    /** The type to encode the payload as; null for its class. */
    public @Nullable Type payloadType() {
        return values.payloadType;
    }

    /** Maximum time to wait for a store that is away; null for the template's. */
    public @Nullable Duration sendTimeout() {
        return values.sendTimeout;
    }

    /** Replicas that have to confirm the message; null for the topic's. */
    public @Nullable ReplicaWait replicaWait() {
        return values.replicaWait;
    }

    /** Key of messages that run one after the other; null for none. */
    public @Nullable String orderingKey() {
        return values.orderingKey;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof OutgoingMessage message && values.equals(message.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    /** Without payload and header values: they do not belong in logs. */
    @Override
    public String toString() {
        return "OutgoingMessage[topic=" + LogText.of(values.topic) + ", payload="
                + values.payload.getClass().getName() + ", due=" + values.due
                + ", id=" + (values.id == null ? null : LogText.of(values.id)) + ", headers="
                + LogText.list(List.copyOf(values.headers.keySet())) + ", retry=" + values.retry + ", phase="
                + values.phase + ", sendTimeout=" + values.sendTimeout + ", replicaWait=" + values.replicaWait
                + ", orderingKey=" + (values.orderingKey == null ? null : LogText.of(values.orderingKey)) + "]";
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
}
