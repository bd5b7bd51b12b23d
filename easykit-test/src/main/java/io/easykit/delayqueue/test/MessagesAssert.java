package io.easykit.delayqueue.test;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/** Assertions about messages of a topic. Each one selects messages, and fails if none is left. */
public final class MessagesAssert {

    private final DelayQueueAssert queue;
    private final String topic;
    private final String expected;
    private final List<FoundMessage> left;

    MessagesAssert(DelayQueueAssert queue, String topic, String expected, List<FoundMessage> left) {
        this.queue = queue;
        this.topic = topic;
        this.expected = expected;
        this.left = left;
        if (left.isEmpty()) {
            throw queue.unlike(topic, "Expected " + expected);
        }
    }

    private MessagesAssert select(String condition, Predicate<FoundMessage> holds) {
        return new MessagesAssert(
                queue, topic, expected + condition, left.stream().filter(holds).toList());
    }

    /**
     * A message that waits and is due after this time from now: to the millisecond in virtual time. Against a real store it may
     * be up to 5 s less, for the time since the send.
     */
    public MessagesAssert dueIn(Duration delay) {
        return select(
                ", due in " + DurationText.of(delay),
                message -> message.state() == State.WAITING && queue.isAbout(delay, message.left()));
    }

    /** A message that waits and is due at this instant, to the millisecond. */
    public MessagesAssert dueAt(Instant due) {
        return select(
                ", due at " + due,
                message -> message.state() == State.WAITING
                        && message.message().at().toEpochMilli() == due.toEpochMilli());
    }

    public MessagesAssert withId(String id) {
        return select(" with id '" + id + "'", message -> message.message().id().equals(id));
    }

    /**
     * A message whose payload, decoded as the class of this one, equals it, or is written as this one is.
     *
     * @throws IllegalArgumentException if the payload is null: no message has such a payload
     */
    public MessagesAssert withPayload(Object payload) {
        if (payload == null) {
            throw new IllegalArgumentException("The expected payload is null, and no message has a payload of null."
                    + " To accept any payload, leave out withPayload.");
        }
        return select(" with payload " + FoundMessage.cut(payload.toString()), message -> message.hasPayload(payload));
    }

    public MessagesAssert withHeader(String name, String value) {
        return select(
                " with header " + name + "=" + value,
                message -> Objects.equals(message.message().headers().get(name), value));
    }

    /** A message whose latest run failed with this text in its error, such as the name of the exception. */
    public MessagesAssert withError(String text) {
        return select(" with an error that contains '" + text + "'", message -> message.hasErrorContaining(text));
    }

    /** A message of which so many runs have failed since it was sent or redriven. */
    public MessagesAssert withFailures(int failures) {
        return select(
                " with " + failures + " failures", message -> message.message().failures() == failures);
    }

    /** Exactly so many messages fulfil all of the conditions before. */
    public MessagesAssert times(int count) {
        if (left.size() != count) {
            throw queue.unlike(topic, "Expected " + count + " times, and found " + left.size() + " times, " + expected);
        }
        return this;
    }

    /** Continues with the queue. */
    public DelayQueueAssert and() {
        return queue;
    }
}
