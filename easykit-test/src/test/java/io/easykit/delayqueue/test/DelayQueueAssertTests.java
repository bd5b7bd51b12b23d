package io.easykit.delayqueue.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.admin.MessageDetail;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DelayQueueAssertTests {

    private static final String TOPIC = "mails";
    private static final Duration HOUR = Duration.ofHours(1);

    record Order(long id, String status) {}

    private final DelayQueueTester queue = DelayQueueTester.create();

    @BeforeEach
    void send() {
        queue.template()
                .send(OutgoingMessage.of(TOPIC, "welcome").id("m1").after(HOUR).header("tenant", "blue"));
        queue.template().send(OutgoingMessage.of(TOPIC, "reminder").id("m2").after(HOUR.multipliedBy(2)));
    }

    @AfterEach
    void close() {
        queue.close();
    }

    private static void fails(ThrowingCallable assertion, String... lines) {
        assertThatThrownBy(assertion).isExactlyInstanceOf(AssertionError.class).hasMessage(String.join("\n", lines));
    }

    @Test
    void acceptsMessagesThatFulfilAllConditions() {
        assertThat(queue).hasWaiting(TOPIC).times(2);
        assertThat(queue)
                .hasWaiting(TOPIC)
                .dueIn(HOUR)
                .dueAt(queue.now().plus(HOUR))
                .withId("m1")
                .withPayload("welcome")
                .withHeader("tenant", "blue")
                .withFailures(0)
                .times(1)
                .and()
                .hasNoDeadLetters(TOPIC)
                .hasNoMessages("others")
                .hasNoWaiting("others")
                .hasNotRun(TOPIC);
    }

    @Test
    void listsTheMessagesIfNoneIsDueAtThatTime() {
        fails(
                () -> assertThat(queue)
                        .hasWaiting(TOPIC)
                        .withPayload("reminder")
                        .dueIn(HOUR),
                "Expected a waiting message in topic 'mails' with payload reminder, due in 1h",
                "but there are:",
                "  waiting: id m1, due in 1h, payload \"welcome\", headers {tenant=blue}",
                "  waiting: id m2, due in 2h, payload \"reminder\"");
    }

    @Test
    void refusesAnotherDueTimeByAMillisecond() {
        assertThatThrownBy(() -> assertThat(queue).hasWaiting(TOPIC).dueIn(HOUR.plusMillis(1)))
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> assertThat(queue).hasWaiting(TOPIC).dueIn(HOUR.minusMillis(1)))
                .isInstanceOf(AssertionError.class);
    }

    @Test
    void listsRunsAndDeadLettersWithTheirErrors() {
        queue.listen(TOPIC, String.class, message -> {
            throw new IllegalArgumentException("no address");
        });
        queue.advance(HOUR.plusMinutes(1));

        fails(
                () -> assertThat(queue).hasDeadLetter(TOPIC).withError("timeout"),
                "Expected a dead letter in topic 'mails' with an error that contains 'timeout'",
                "but there are:",
                "  waiting: id m2, due in 59m, payload \"reminder\"",
                "  dead: id m1, died 58s ago, payload \"welcome\", headers {tenant=blue}, failures 3, error"
                        + " java.lang.IllegalArgumentException: no address",
                run(HOUR, 1),
                run(HOUR.plusSeconds(1), 2),
                run(HOUR.plusSeconds(2), 3));
        assertThatThrownBy(() -> assertThat(queue).hasRunTimes(TOPIC, 1))
                .hasMessageStartingWith(
                        "Expected 1 runs of handlers of topic 'mails', and there were 3\nbut there are:");
    }

    private String run(Duration after, int attempt) {
        return "  run: listener 'mails' at "
                + queue.now().minus(HOUR.plusMinutes(1)).plus(after) + ", attempt " + attempt
                + ", id m1, payload welcome, failed by java.lang.IllegalArgumentException: no address";
    }

    @Test
    void refusesMessagesWhereNoneAreExpected() {
        assertThatThrownBy(() -> assertThat(queue).hasNoMessages(TOPIC))
                .hasMessageStartingWith("Expected no messages in topic 'mails'\nbut there are:\n  waiting: id m1");
        assertThatThrownBy(() -> assertThat(queue).hasNoWaiting(TOPIC))
                .hasMessageStartingWith("Expected no waiting message");
        assertThatThrownBy(() -> assertThat(queue).hasWaiting(TOPIC).times(1))
                .hasMessageStartingWith("Expected 1 times, and found 2 times, a waiting message");
        fails(
                () -> assertThat(queue).hasRun("others"),
                "Expected a run of a handler of topic 'others'",
                "but the topic has no messages, and no handler of it has run.");
    }

    @Test
    void ignoresPayloadsOfAnotherType() {
        assertThatThrownBy(() -> assertThat(queue).hasWaiting(TOPIC).withPayload(42L))
                .hasMessageContaining("with payload 42");
    }

    @Test
    void comparesCollectionsByWhatIsWritten() {
        queue.template().send("lists", List.of(new Order(1, "a"), new Order(2, "b")));

        assertThat(queue).hasWaiting("lists").withPayload(List.of(new Order(1, "a"), new Order(2, "b")));
        assertThatThrownBy(() -> assertThat(queue).hasWaiting("lists").withPayload(List.of(new Order(1, "a"))))
                .isInstanceOf(AssertionError.class);
    }

    @Test
    void comparesMapsWithoutTheirOrder() {
        queue.template().send("maps", new LinkedHashMap<>(Map.of("a", 1)));
        Map<String, Integer> sent = new LinkedHashMap<>();
        sent.put("b", 2);
        sent.put("a", 1);
        queue.template().send("maps", sent);

        assertThat(queue).hasWaiting("maps").withPayload(Map.of("a", 1, "b", 2)).times(1);
    }

    @Test
    void readsTheWholeOfALargePayload() {
        String large = "x".repeat(MessageDetail.MOST_BYTES + 1);
        queue.template().send("large", large + "a");

        assertThat(queue).hasWaiting("large").withPayload(large + "a");
        assertThatThrownBy(() -> assertThat(queue).hasWaiting("large").withPayload(large + "b"))
                .isInstanceOf(AssertionError.class);
    }

    @Test
    @SuppressWarnings("NullAway") // the error of a test that does so
    void refusesNullAsPayload() {
        queue.template().send("nulls", "x");

        assertThatThrownBy(() -> assertThat(queue).hasWaiting("nulls").withPayload(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("leave out withPayload");
    }

    @Test
    void keepsTheDescription() {
        assertThatThrownBy(() -> assertThat(queue).as("after %s", "100%").hasWaiting("none"))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("[after 100%] Expected a waiting message in topic 'none'");
    }
}
