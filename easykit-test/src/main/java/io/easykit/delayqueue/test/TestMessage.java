package io.easykit.delayqueue.test;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayMessage;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes a message, or a dead letter, for a test that calls the method of a listener itself. Without a further call it is due at the
 * begin of 2026, has the id {@code test}, no headers, and is in its first run.
 *
 * <pre>{@code
 * mails.send(TestMessage.of("mail", new Mail("ada")).header("tenant", "blue").delivered());
 * }</pre>
 *
 * @param <T> the payload
 */
public final class TestMessage<T> {

    private final String topic;
    private final @Nullable T payload;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private String id = "test";
    private Instant at = Instant.parse("2026-01-01T00:00:00Z");
    private int failures;
    private int leaseExpirations;
    private @Nullable Acknowledgment acknowledgment;

    private TestMessage(String topic, @Nullable T payload) {
        this.topic = topic;
        this.payload = payload;
    }

    /**
     * Begins a message.
     *
     * @param payload null for a dead letter whose payload cannot be read or was deleted
     */
    public static <T> TestMessage<T> of(String topic, @Nullable T payload) {
        return new TestMessage<>(topic, payload);
    }

    /** Sets its id, and with it its {@link DelayMessage#uniqueId}. */
    public TestMessage<T> id(String value) {
        this.id = value;
        return this;
    }

    public TestMessage<T> header(String name, String value) {
        headers.put(name, value);
        return this;
    }

    /** Sets when it was due, or died. */
    public TestMessage<T> at(Instant value) {
        this.at = value;
        return this;
    }

    /** Sets how many runs have failed before. */
    public TestMessage<T> failures(int value) {
        this.failures = value;
        return this;
    }

    /** Sets how many leases have expired before. */
    public TestMessage<T> leaseExpirations(int value) {
        this.leaseExpirations = value;
        return this;
    }

    /** Sets what its listener settles it with; by default a {@link RecordingAcknowledgment} of its own. */
    public TestMessage<T> acknowledgment(Acknowledgment value) {
        this.acknowledgment = value;
        return this;
    }

    /** The message as a listener gets it. */
    public DelayMessage<T> delivered() {
        return new DelayMessage<>(
                topic,
                id,
                Objects.requireNonNull(payload, "A message that is delivered has a payload."),
                headers,
                at,
                topic + ":" + id,
                failures,
                leaseExpirations,
                0,
                acknowledgment != null ? acknowledgment : new RecordingAcknowledgment());
    }

    /**
     * The message as a listener of dead letters gets it.
     *
     * @param error of its last run
     */
    public DeadLetter<T> dead(String error) {
        return new DeadLetter<>(topic, id, payload, headers, at, failures, leaseExpirations, error, error);
    }
}
