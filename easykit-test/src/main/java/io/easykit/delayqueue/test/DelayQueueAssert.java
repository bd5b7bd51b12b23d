package io.easykit.delayqueue.test;

import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * Assertions about the messages of a queue and the runs of its handlers. Failures list the messages and runs of the topic.
 *
 * <pre>{@code
 * assertThat(queue).hasWaiting("order-close").dueIn(Duration.ofMinutes(15)).withPayload(new CloseOrder(42));
 * }</pre>
 */
public final class DelayQueueAssert extends AbstractAssert<DelayQueueAssert, DelayQueueAdmin> {

    /** Due times are rounded up to whole milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(1);

    private static final Duration SINCE_THE_SEND = Duration.ofSeconds(5);

    private final PayloadCodec codec;
    private final Duration elapsed;
    private final @Nullable Supplier<List<HandlerRun>> runs;

    private DelayQueueAssert(
            DelayQueueAdmin admin, PayloadCodec codec, Duration elapsed, @Nullable Supplier<List<HandlerRun>> runs) {
        super(admin, DelayQueueAssert.class);
        this.codec = codec;
        this.elapsed = elapsed;
        this.runs = runs;
    }

    /**
     * The same assertions about a queue in Redis, with tolerance for the time that passes. Runs of handlers are not recorded
     * there.
     *
     * @param codec of the application, which decodes payloads
     */
    public static DelayQueueAssert assertThat(DelayQueueAdmin admin, PayloadCodec codec) {
        return new DelayQueueAssert(admin, codec, SINCE_THE_SEND, null);
    }

    static DelayQueueAssert inVirtualTime(DelayQueueAdmin admin, PayloadCodec codec, Supplier<List<HandlerRun>> runs) {
        return new DelayQueueAssert(admin, codec, Duration.ZERO, runs);
    }

    /** A message waits in the topic: it is not due yet, or no listener has claimed it. */
    public MessagesAssert hasWaiting(String topic) {
        return new MessagesAssert(
                this, topic, "a waiting message in topic '" + topic + "'", found(topic, State.WAITING));
    }

    /** The topic has a dead letter. */
    public MessagesAssert hasDeadLetter(String topic) {
        return new MessagesAssert(this, topic, "a dead letter in topic '" + topic + "'", found(topic, State.DEAD));
    }

    /** No message of the topic waits, is in flight, or is dead. */
    public DelayQueueAssert hasNoMessages(String topic) {
        if (Stream.of(State.values()).anyMatch(state -> !found(topic, state).isEmpty())) {
            throw unlike(topic, "Expected no messages in topic '" + topic + "'");
        }
        return this;
    }

    /** No message of the topic waits. */
    public DelayQueueAssert hasNoWaiting(String topic) {
        if (!found(topic, State.WAITING).isEmpty()) {
            throw unlike(topic, "Expected no waiting message in topic '" + topic + "'");
        }
        return this;
    }

    /** The topic has no dead letter. */
    public DelayQueueAssert hasNoDeadLetters(String topic) {
        if (!found(topic, State.DEAD).isEmpty()) {
            throw unlike(topic, "Expected no dead letters in topic '" + topic + "'");
        }
        return this;
    }

    /** Handlers of the topic have run, failed runs included. */
    public DelayQueueAssert hasRun(String topic) {
        if (runsOf(topic).isEmpty()) {
            throw unlike(topic, "Expected a run of a handler of topic '" + topic + "'");
        }
        return this;
    }

    /** Handlers of the topic have run exactly so many times, failed runs included. */
    public DelayQueueAssert hasRunTimes(String topic, int count) {
        int ran = runsOf(topic).size();
        if (ran != count) {
            throw unlike(
                    topic, "Expected " + count + " runs of handlers of topic '" + topic + "', and there were " + ran);
        }
        return this;
    }

    /** No handler of the topic has run. */
    public DelayQueueAssert hasNotRun(String topic) {
        return hasRunTimes(topic, 0);
    }

    private List<HandlerRun> runsOf(String topic) {
        if (runs == null) {
            throw new UnsupportedOperationException("Runs of handlers are recorded in virtual time only."
                    + " Against Redis, check the effect of the handler.");
        }
        return runs.get().stream().filter(run -> run.topic().equals(topic)).toList();
    }

    boolean isAbout(Duration expected, Duration left) {
        Duration difference = left.minus(expected);
        return difference.compareTo(elapsed.plus(ROUNDING).negated()) > 0 && difference.compareTo(ROUNDING) < 0;
    }

    private List<FoundMessage> found(String topic, State state) {
        List<FoundMessage> found = new ArrayList<>();
        MessageQuery query = MessageQuery.of(state).size(DelayQueueAdmin.MAX_PAGE);
        MessagePage page = actual.messages(topic, query);
        while (true) {
            page.messages().forEach(message -> actual.find(topic, message.id())
                    .filter(detail -> detail.message().state() == state)
                    .ifPresent(detail -> found.add(found(topic, detail))));
            if (page.next() == null) {
                return found;
            }
            page = actual.messages(topic, query.after(page.next()));
        }
    }

    private FoundMessage found(String topic, MessageDetail detail) {
        TopicStats stats = actual.stats(topic);
        Instant now =
                stats.byNumber().getOrDefault(detail.shard(), stats.total()).now();
        return new FoundMessage(detail.message(), body(topic, detail), now, codec);
    }

    private @Nullable Bytes body(String topic, MessageDetail detail) {
        MessageInfo message = detail.message();
        return detail.isCut()
                ? actual.body(topic, new MessageRef(message.id(), detail.incarnation()))
                        .orElse(null)
                : message.body();
    }

    /** An assertion error that lists the messages and runs of the topic. */
    AssertionError unlike(String topic, String expectation) {
        List<String> lines = new ArrayList<>();
        for (State state : State.values()) {
            found(topic, state).forEach(message -> lines.add(message.toString()));
        }
        if (runs != null) {
            runsOf(topic).forEach(run -> lines.add("run: " + run));
        }
        String there = lines.isEmpty()
                ? "but the topic has no messages, and no handler of it has run."
                : lines.stream().collect(Collectors.joining("\n  ", "but there are:\n  ", ""));
        return failure("%s\n%s", expectation, there); // begins with the description of as(…)
    }
}
