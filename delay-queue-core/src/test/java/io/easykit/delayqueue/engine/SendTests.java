package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.awaitLatch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.BatchSendException;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SendTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private final TestQueue queue = new TestQueue(builder -> builder.shards(topic -> 3));
    private final DelayQueueTemplate template = queue.engine.template();

    @Test
    void tellsWhetherTheIdWasLiveAlready() {
        assertThat(queue.send("a", HOUR).outcome()).isEqualTo(SendOutcome.STORED);
        assertThat(queue.send("a", HOUR).isDuplicate()).isTrue();
        assertThat(queue.events(DelayQueueEvent.Sent.class))
                .extracting(DelayQueueEvent.Sent::outcome)
                .containsExactly(SendOutcome.STORED, SendOutcome.DUPLICATE);
    }

    @Test
    void findsReschedulesAndCancelsByOwnAndByGeneratedId() {
        String generated = template.send(TOPIC, "x", HOUR).id();
        queue.send("own", HOUR);
        Instant later = Instant.ofEpochMilli(1_800_000_000_000L);

        for (String id : List.of(generated, "own")) {
            assertThat(template.reschedule(TOPIC, id, later)).isEqualTo(ChangeOutcome.APPLIED);
            assertThat(template.find(TOPIC, id))
                    .get()
                    .extracting(MessageInfo::at)
                    .isEqualTo(later);
            assertThat(template.reschedule(TOPIC, id, Duration.ZERO)).isEqualTo(ChangeOutcome.APPLIED);
            assertThat(template.cancel(TOPIC, id)).isEqualTo(ChangeOutcome.APPLIED);
            assertThat(template.cancel(TOPIC, id)).isEqualTo(ChangeOutcome.GONE);
            assertThat(template.find(TOPIC, id)).isEmpty();
        }
    }

    @Test
    @SuppressWarnings("NullAway") // what callers without a null checker do
    void saysWhatIsMissing() {
        DelayQueueAdmin dead = queue.engine.admin();
        Map<String, ThrowingCallable> mistakes = Map.ofEntries(
                Map.entry("without a delay", () -> template.send(TOPIC, "x", (Duration) null)),
                Map.entry("without a due time", () -> template.send(TOPIC, "x", (Instant) null)),
                Map.entry("without a topic", () -> template.send(null, "x", HOUR)),
                Map.entry("send(null)", () -> template.send(null)),
                Map.entry("sendAll(null)", () -> template.sendAll(null)),
                Map.entry("null in its list", () -> template.sendAll(Collections.singletonList(null))),
                Map.entry("topic that is null", () -> template.find(null, "a")),
                Map.entry("id that is null", () -> template.cancel(TOPIC, null)),
                Map.entry("Topic '{'", () -> template.cancelAfterCommit("{", "a")),
                Map.entry("1 to 512 characters", () -> template.cancelAfterCommit(TOPIC, "")),
                Map.entry("without an age", () -> dead.purgeOlderThan(TOPIC, null)),
                Map.entry("No message died at null", () -> dead.redrive(TOPIC, "a", null)),
                Map.entry("No message died at -1", () -> dead.purge(TOPIC, "a", Instant.MIN)));

        mistakes.forEach((says, mistake) -> assertThatThrownBy(mistake)
                .isInstanceOfAny(IllegalArgumentException.class, NullPointerException.class)
                .hasMessageContaining(says));
        assertThat(queue.line.takeCalls()).allMatch("declared"::equals);
    }

    @Test
    void failsWhenTheStoreDoesNotAnswer() {
        queue.send("warm", HOUR);
        queue.line.away();

        assertThatThrownBy(() -> queue.send("a", HOUR)).isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(() -> template.cancel(TOPIC, "warm")).isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(() -> template.find(TOPIC, "warm")).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void sendsManyInFewCallsAndSpreadsThem() {
        queue.send("warm", HOUR);
        queue.line.takeCalls();

        List<SendResult> results = template.sendAll(
                Collections.nCopies(600, OutgoingMessage.of(TOPIC, "x").after(HOUR)));

        assertThat(results).hasSize(600).allMatch(result -> result.outcome() == SendOutcome.STORED);
        assertThat(queue.line.takeCalls()).hasSize(6);
        assertThat(queue.engine.stats(TOPIC).shards()).allMatch(shard -> shard.waiting() >= 200);
    }

    @Test
    void sendsTogetherWhatThreadsSendWhileACallIsOnItsWay() throws Exception {
        TestQueue single = new TestQueue(builder -> builder.commandTimeout(Duration.ofMinutes(1)));
        single.send("warm", HOUR);
        single.line.takeCalls();
        CountDownLatch onItsWay = new CountDownLatch(1);
        CountDownLatch mayGo = new CountDownLatch(1);
        single.line.plan(method -> {
            onItsWay.countDown();
            awaitLatch(mayGo);
            return Fault.NONE;
        });
        Thread first = new Thread(() -> single.send("first", HOUR));
        first.start();
        onItsWay.await();
        List<Thread> others = IntStream.range(0, 4)
                .mapToObj(i -> new Thread(() -> single.send("m" + i, HOUR)))
                .toList();
        others.forEach(Thread::start);
        await().until(() -> others.stream().allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
        mayGo.countDown();
        first.join();
        for (Thread other : others) {
            other.join();
        }

        assertThat(single.line.takeCalls()).containsExactly("send", "send");
        assertThat(single.stats().waiting()).isEqualTo(6);
    }

    @Test
    void answersInTheOrderOfTheCall() {
        List<OutgoingMessage> messages = IntStream.range(0, 50)
                .mapToObj(i -> OutgoingMessage.of(TOPIC, "x").id("m" + i).after(HOUR))
                .toList();

        assertThat(template.sendAll(messages))
                .extracting(SendResult::id)
                .startsWith("m0", "m1", "m2")
                .endsWith("m49");
    }

    @Test
    void saysWhichOfManyMayNotBeStored() {
        queue.send("warm", HOUR);
        queue.line.once("send", Fault.LOST_REQUEST);

        assertThatThrownBy(() -> template.sendAll(
                        Collections.nCopies(300, OutgoingMessage.of(TOPIC, "x").after(HOUR))))
                .isInstanceOfSatisfying(BatchSendException.class, e -> {
                    assertThat(e.results()).hasSize(300);
                    assertThat(e.results().stream().filter(SendResult::isPending))
                            .hasSize(100);
                    assertThat(e.unknown()).hasSize(100);
                })
                .hasMessageContaining("100 of 300");
    }

    /** A store that lets each call wait in vain costs the caller two of them, however many messages and shards there are. */
    @Test
    void waitsForASilentStoreTwiceAtMostHoweverMuchIsSent() {
        queue.send("warm", HOUR);
        queue.line.hang(queue.time, Duration.ofMillis(250));
        Instant begin = queue.time.now();

        assertThatThrownBy(() -> template.sendAll(Collections.nCopies(
                        5_000, OutgoingMessage.of(TOPIC, "x").after(HOUR))))
                .isInstanceOfSatisfying(
                        BatchSendException.class,
                        e -> assertThat(e.results()).hasSize(5_000).allMatch(SendResult::isPending));

        assertThat(Duration.between(begin, queue.time.now())).isLessThanOrEqualTo(Duration.ofMillis(501));
    }

    @Test
    void storesInOtherShardsWhatOneShardRefusesToAnswerFor() {
        queue.send("warm", HOUR);
        queue.line.planByShard(shard -> shard.shard() == 0 ? Fault.LOST_REQUEST : Fault.NONE);

        assertThatThrownBy(() -> template.sendAll(Collections.nCopies(
                        3_000, OutgoingMessage.of(TOPIC, "x").after(HOUR))))
                .isInstanceOfSatisfying(BatchSendException.class, e -> assertThat(
                                e.results().stream().filter(SendResult::isPending))
                        .hasSize(1_000));
    }

    @Test
    void sendsAtOnceWithHeadersAndByDates() {
        ZoneId zone = ZoneId.of("Europe/Berlin");
        Map<String, String> headers = Map.of("tenant", "a", "locale", "de");

        String now = template.send(TOPIC, "x").id();
        String withHeaders = template.send(TOPIC, "x", HOUR, headers).id();
        String byDate = template.send(TOPIC, "x", ZonedDateTime.of(2030, 7, 1, 12, 0, 0, 0, zone))
                .id();

        // Due times are rounded up to whole milliseconds.
        Instant sent = queue.time.now();
        assertThat(dueOf(now)).isBetween(sent, sent.plusMillis(1));
        assertThat(dueOf(withHeaders))
                .isBetween(sent.plus(HOUR), sent.plus(HOUR).plusMillis(1));
        assertThat(template.find(TOPIC, withHeaders).orElseThrow().headers()).containsAllEntriesOf(headers);
        assertThat(dueOf(byDate)).isEqualTo(Instant.parse("2030-07-01T10:00:00Z"));
    }

    /** At 2 o'clock the clocks of Berlin go forward on 31 March 2030, and at 3 o'clock back on 27 October. */
    @Test
    void aLocalDateIsOneInstantAlsoIfTheClocksChange() {
        ZoneId zone = ZoneId.of("Europe/Berlin");
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "x");

        assertThat(message.at(LocalDateTime.parse("2030-03-31T02:30"), zone).due())
                .isEqualTo(DueTime.at(Instant.parse("2030-03-31T01:30:00Z")));
        assertThat(message.at(LocalDateTime.parse("2030-10-27T02:30"), zone).due())
                .isEqualTo(DueTime.at(Instant.parse("2030-10-27T00:30:00Z")));
    }

    private Instant dueOf(String id) {
        return template.find(TOPIC, id).orElseThrow().at();
    }

    @Test
    void keepsHeadersAndPolicy() {
        RetryPolicy policy = RetryPolicy.fixed(7, Duration.ofSeconds(3));
        template.send(OutgoingMessage.of(TOPIC, "x")
                .id("a")
                .after(HOUR)
                .header("k", "v")
                .retry(policy));

        Envelope envelope =
                Envelope.decode(Objects.requireNonNull(queue.find("a").frame()));
        assertThat(envelope.headers()).containsEntry("k", "v");
        assertThat(envelope.retry()).isEqualTo(policy);
    }

    @Test
    void refusesWhatCannotBeSent() {
        assertThatThrownBy(() -> OutgoingMessage.of(TOPIC, "x").id("~mine")).hasMessageContaining("not usable");
        assertThatThrownBy(() -> template.send(TOPIC, unknown(), HOUR))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has no payload");
        assertThatThrownBy(() -> OutgoingMessage.of(TOPIC, "x").header("tenant", unknown()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Header 'tenant'");
        assertThatThrownBy(() -> template.send("no such topic!", "x", HOUR)).hasMessageContaining("not usable");
        assertThatThrownBy(() -> template.send(TOPIC, "x", Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DelayQueueEngine.builder(queue.memory).build()).hasMessageContaining("no codec");
    }

    /** UTF-8 has no form for half a pair, so two such ids would become one, and the second message a duplicate. */
    @ParameterizedTest
    @ValueSource(strings = {"a\uD800", "\uD800b", "\uDC00", "a\uDC00\uD800", "\uD83D\uD83D\uDE00"})
    void refusesHalvesOfCharactersInIdsAndHeaders(String text) {
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> OutgoingMessage.of(TOPIC, "x").id(text),
                () -> OutgoingMessage.of(TOPIC, "x").header(text, "v"),
                () -> OutgoingMessage.of(TOPIC, "x").header("k", text),
                () -> template.find(TOPIC, text),
                () -> template.cancel(TOPIC, text),
                () -> template.cancelAfterCommit(TOPIC, text),
                () -> template.reschedule(TOPIC, text, HOUR),
                () -> queue.engine.admin().redrive(TOPIC, text, Instant.EPOCH),
                () -> queue.engine.admin().purge(TOPIC, text, Instant.EPOCH))) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("unpaired surrogate")
                    .hasMessageNotContaining(text);
        }
        OutgoingMessage.of(TOPIC, "x").id("\uD83D\uDE00").header("\uD83D\uDE00", "\uD83D\uDE00");
    }

    @Test
    void sendsListsOfLargeMessagesInCallsOfBoundedBytes() {
        TestQueue single = new TestQueue();
        single.send("warm", HOUR);
        single.line.takeCalls();
        OutgoingMessage large = OutgoingMessage.of(TOPIC, "x".repeat(100_000)).after(HOUR);
        OutgoingMessage huge = OutgoingMessage.of(TOPIC, "x".repeat(1_000_000)).after(HOUR);

        List<OutgoingMessage> messages = new ArrayList<>(Collections.nCopies(10, large));
        messages.add(huge);
        messages.add(large);
        single.engine.template().sendAll(messages);

        assertThat(single.line.takeCalls()).hasSize(12);
        assertThat(single.stats().waiting()).isEqualTo(13);
    }

    @Test
    void refusesAMessageThatIsTooLargeAndNamesTheRemedy() {
        TestQueue small = new TestQueue(builder -> builder.maxMessageBytes(1_000));
        DelayQueueTemplate limited = small.engine.template();
        limited.send(TOPIC, "x".repeat(990), HOUR);

        for (OutgoingMessage message : List.of(
                OutgoingMessage.of(TOPIC, "x".repeat(991)),
                OutgoingMessage.of(TOPIC, "x").header("h", "x".repeat(1_000)))) {
            assertThatThrownBy(() -> limited.send(message))
                    .isInstanceOf(MessageTooLargeException.class)
                    .hasMessageContaining("limit is 1000")
                    .hasMessageContaining("delay-queue.max-message-size")
                    .hasMessageContaining("object store");
            assertThatThrownBy(() -> limited.sendAll(List.of(OutgoingMessage.of(TOPIC, "x"), message)))
                    .isInstanceOf(MessageTooLargeException.class);
        }
        assertThat(small.stats().waiting()).isEqualTo(1);
    }

    @Test
    void showsNoPayloadAndNoHeaderValueInText() {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "secret").header("token", "secret");

        assertThat(message.toString())
                .contains(TOPIC, "java.lang.String", "token")
                .doesNotContain("secret");
        Envelope envelope = new Envelope(1, Map.of("token", "secret"), null, Bytes.of(new byte[3]));
        assertThat(envelope.toString()).contains("token", "3 bytes").doesNotContain("secret");
    }

    @Test
    void escapesInExceptionsWhatItRefuses() {
        assertThatThrownBy(() -> OutgoingMessage.of(TOPIC, "x").id("~a\nERROR forged"))
                .hasMessageContaining("~a\\nERROR forged")
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> template.send("a\nb", "x", HOUR)).hasMessageContaining("a\\nb");
    }

    @Test
    void leavesNoTraceOfATopicThatIsOnlyLookedAt() {
        assertThat(template.find("oders", "a")).isEmpty();
        assertThat(template.cancel("oders", "a")).isEqualTo(ChangeOutcome.GONE);
        assertThat(template.reschedule("oders", "a", HOUR)).isEqualTo(ChangeOutcome.GONE);
        assertThat(queue.engine.stats("oders").shards()).hasSize(3);
        assertThat(queue.engine.admin().messages("oders", MessageQuery.dead()).total())
                .isZero();
        assertThat(queue.engine.admin().groups("oders").total()).isZero();

        assertThat(queue.memory.declared("oders").all()).isZero();
    }

    @Test
    void findsMessagesOfATopicThatHasOtherShardsAndSendsNone() {
        DelayQueueTemplate other = queue.builder(queue.time.node(), queue.memory)
                .shards(topic -> 4)
                .build()
                .template();
        for (int i = 0; i < 20; i++) {
            other.send(OutgoingMessage.of(TOPIC, "x").id("m" + i).after(HOUR));
        }

        for (int i = 0; i < 20; i++) {
            assertThat(template.find(TOPIC, "m" + i)).isPresent();
            assertThat(template.reschedule(TOPIC, "m" + i, HOUR)).isEqualTo(ChangeOutcome.APPLIED);
            assertThat(template.cancel(TOPIC, "m" + i)).isEqualTo(ChangeOutcome.APPLIED);
        }
        assertThatThrownBy(() -> template.send(TOPIC, "x", HOUR))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has 4 shards");
    }

    /** Null, as code without null annotations may pass it. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T unknown() {
        return (T) null;
    }
}
