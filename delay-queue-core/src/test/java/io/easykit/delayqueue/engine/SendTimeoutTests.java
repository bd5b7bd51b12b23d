package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.awaitLatch;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.BatchSendException;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Sends during an outage: how long they wait, where they go, and which outcome the caller gets. */
class SendTimeoutTests {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration FIVE_SECONDS = Duration.ofSeconds(5);
    private static final int SHARDS = 4;

    private final TestTransactions transactions = new TestTransactions();
    private final TestQueue queue =
            new TestQueue(builder -> builder.shards(topic -> SHARDS).transactions(transactions));
    private final DelayQueueTemplate template = queue.engine.template();

    private static OutgoingMessage message(String id) {
        return OutgoingMessage.of(TOPIC, "x").id(id).after(HOUR).sendTimeout(FIVE_SECONDS);
    }

    private static OutgoingMessage generated() {
        return OutgoingMessage.of(TOPIC, "x").after(HOUR);
    }

    private void healAfter(Duration outage) {
        queue.node.after(outage, queue.line::heal);
    }

    private Duration since(long began) {
        return Duration.ofNanos(queue.node.nanos() - began);
    }

    @ParameterizedTest
    @EnumSource(names = {"REJECTED", "LOST_REQUEST", "LOST_REPLY"})
    void waitsUntilTheStoreIsBack(Fault fault) {
        queue.send("warm", HOUR);
        queue.line.plan(method -> fault);
        healAfter(Duration.ofSeconds(3));
        long began = queue.node.nanos();

        SendResult result = template.send(message("a"));

        assertThat(result.outcome()).isEqualTo(fault == Fault.LOST_REPLY ? SendOutcome.REPLAYED : SendOutcome.STORED);
        assertThat(since(began)).isBetween(Duration.ofSeconds(3), Duration.ofMillis(3_200));
        assertThat(queue.engine.stats(TOPIC).counters().sent()).isEqualTo(2);
    }

    @Test
    void givesUpAfterTheTimeout() {
        queue.line.disconnect();
        long began = queue.node.nanos();

        assertThatThrownBy(() -> template.send(message("a")))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.isOutcomeUnknown())
                        .isFalse())
                .hasMessageContaining("send timeout of 5s")
                .hasMessageContaining("Currently not connected");

        assertThat(since(began)).isBetween(FIVE_SECONDS, Duration.ofMillis(5_200));
        assertThat(queue.line.takeCalls()).hasSizeLessThan(70);
    }

    @Test
    void triesOnceWithoutATimeout() {
        queue.send("warm", HOUR);
        queue.line.takeCalls();
        queue.line.disconnect();
        long began = queue.node.nanos();

        assertThatThrownBy(() -> queue.send("a", HOUR)).isInstanceOf(StoreUnavailableException.class);

        assertThat(queue.line.takeCalls()).containsExactly("send");
        assertThat(since(began)).isZero();
    }

    @Test
    void theTimeoutOfTheTemplateHoldsUnlessTheMessageHasItsOwn() {
        TestQueue patient = new TestQueue(builder -> builder.sendTimeout(FIVE_SECONDS));
        patient.line.disconnect();
        patient.node.after(Duration.ofSeconds(2), patient.line::heal);

        assertThatThrownBy(() -> patient.engine
                        .template()
                        .send(OutgoingMessage.of(TOPIC, "x").after(HOUR).sendTimeout(Duration.ofSeconds(1))))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(patient.send("a", HOUR).outcome()).isEqualTo(SendOutcome.STORED);
    }

    /** It could be stored, run and gone before a repetition stores it again. */
    @Test
    void doesNotRepeatAnUnknownSendOfAMessageThatMayHaveRun() {
        queue.send("warm", HOUR);
        queue.line.plan(method -> Fault.LOST_REPLY);
        queue.line.takeCalls();

        StoreUnavailableException e = catchThrowableOfType(
                StoreUnavailableException.class,
                () -> template.send(message("a").after(Duration.ofSeconds(6))));

        assertThat(e.isOutcomeUnknown()).isTrue();
        assertThat(queue.line.takeCalls()).containsExactly("send");
    }

    /**
     * The first attempt is stored, and its reply is lost. The second one begins in time, and waits for a connection and a reply
     * for 10 s each. Meanwhile the message runs.
     */
    @ParameterizedTest
    @ValueSource(longs = {7_500, 54_999})
    void doesNotRepeatAnUnknownSendThatTheCommandTimeoutMayDelayUntilTheMessageHasRun(long delay) {
        TestQueue slow = slowQueue();
        slow.start(listener(), message -> {});
        slow.send("warm", HOUR);
        int[] sends = {0};
        slow.line.plan(method -> {
            if (!method.equals("send")) {
                return Fault.NONE;
            }
            sends[0]++;
            slow.time.advance(sends[0] == 1 ? Duration.ZERO : Duration.ofSeconds(50));
            return sends[0] == 1 ? Fault.LOST_REPLY : Fault.NONE;
        });

        StoreUnavailableException e = catchThrowableOfType(
                StoreUnavailableException.class,
                () -> slow.engine.template().send(message("a").after(Duration.ofMillis(delay))));
        slow.line.heal();
        slow.time.advance(Duration.ofSeconds(60));

        assertThat(slow.runIds()).containsExactly("a");
        assertThat(e.isOutcomeUnknown()).isTrue();
        assertThat(sends[0]).isEqualTo(1);
    }

    /** The first calls store both messages. Each call of the last attempt takes almost as long as a call may. */
    @Test
    void doesNotRepeatAnUnknownSendThatTheCallForAnotherShardMayDelayUntilTheMessageHasRun() {
        TestQueue slow =
                new TestQueue(builder -> builder.shards(topic -> SHARDS).commandTimeout(Duration.ofSeconds(10)));
        slow.start(listener(), message -> {});
        slow.send("warm", HOUR);
        List<OutgoingMessage> messages = List.of(
                message(idIn(0)).after(Duration.ofSeconds(55)), message(idIn(1)).after(Duration.ofSeconds(55)));
        long began = slow.node.nanos();
        List<ShardKey> lastCalls = new ArrayList<>();
        slow.line.planCall((method, shard) -> {
            if (!method.equals("send")) {
                return Fault.NONE;
            }
            Duration since = Duration.ofNanos(slow.node.nanos() - began);
            if (since.compareTo(FIVE_SECONDS) < 0) {
                return since.isZero() ? Fault.LOST_REPLY : Fault.REJECTED;
            }
            lastCalls.add(shard);
            slow.time.advance(Duration.ofSeconds(49));
            return lastCalls.size() == 1 ? Fault.LOST_REPLY : Fault.NONE;
        });

        BatchSendException e = catchThrowableOfType(
                BatchSendException.class, () -> slow.engine.template().sendAll(messages));
        slow.time.advance(Duration.ofSeconds(60));

        assertThat(slow.runIds()).containsExactlyInAnyOrder(idIn(0), idIn(1));
        assertThat(lastCalls).hasSize(1);
        assertThat(e.unknown()).hasSize(2);
    }

    private static String idIn(int shard) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "m" + i)
                .filter(id -> MessageIds.shardOf(id, SHARDS, SHARDS) == shard)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void repeatsAnUnknownSendOfAMessageThatOutlastsTheTimeouts() {
        TestQueue slow = slowQueue();
        slow.send("warm", HOUR);
        slow.line.once("send", Fault.LOST_REPLY);

        SendResult result = slow.engine.template().send(message("a").after(Duration.ofSeconds(55)));

        assertThat(result.outcome()).isEqualTo(SendOutcome.REPLAYED);
    }

    /** Before it is stored, it may have to wait for replicas of the messages before it. */
    @Test
    void addsTheWaitForReplicas() {
        OutgoingMessage message = message("a").waitForReplicas(new ReplicaWait(1, Duration.ofSeconds(2)));
        queue.send("warm", HOUR);
        queue.line.once("sendReplicated", Fault.LOST_REPLY);

        assertThatThrownBy(() -> template.send(message.after(Duration.ofSeconds(16))))
                .isInstanceOf(StoreUnavailableException.class);

        queue.line.once("sendReplicated", Fault.LOST_REPLY);
        assertThat(template.send(message.id("b").after(Duration.ofSeconds(17))).outcome())
                .isEqualTo(SendOutcome.REPLAYED);
    }

    /** The calls for the others may take longer than its delay. */
    @Test
    void repeatsAnUnknownSendOfAListBeforeTheOthers() {
        queue.send("warm", HOUR);
        List<OutgoingMessage> messages = new ArrayList<>();
        IntStream.range(0, 2_000)
                .mapToObj(i -> message("m" + i))
                .sorted(Comparator.comparing(message -> MessageIds.shardOf(message.id(), SHARDS, SHARDS) == 1))
                .forEach(messages::add);
        List<ShardKey> calls = new ArrayList<>();
        queue.line.planByShard(shard -> {
            calls.add(shard);
            return shard.shard() == 1 ? Fault.LOST_REPLY : Fault.REJECTED;
        });
        queue.node.after(Duration.ofMillis(1), () -> {
            calls.clear();
            queue.line.planByShard(shard -> {
                calls.add(shard);
                return Fault.NONE;
            });
        });

        assertThat(template.sendAll(messages)).hasSize(2_000);

        assertThat(calls.get(0).shard()).isEqualTo(1);
    }

    /** That call may take as long as any, and its own call as long again. */
    @Test
    void repeatsAnUnknownSendWithoutWaitingForTheCallOfAnother() throws Exception {
        TestQueue single = new TestQueue();
        single.send("warm", HOUR);
        CountDownLatch onItsWay = new CountDownLatch(1);
        CountDownLatch mayGo = new CountDownLatch(1);
        AtomicInteger sends = new AtomicInteger();
        single.line.plan(method -> switch (method.equals("send") ? sends.incrementAndGet() : 0) {
            case 1 -> Fault.LOST_REPLY;
            case 2 -> {
                onItsWay.countDown();
                awaitLatch(mayGo);
                yield Fault.NONE;
            }
            default -> Fault.NONE;
        });
        FutureTask<SendResult> held = new FutureTask<>(() -> single.send("held", HOUR));
        single.node.after(Duration.ofMillis(1), () -> {
            new Thread(held).start();
            awaitLatch(onItsWay);
        });
        FutureTask<SendResult> repeated =
                new FutureTask<>(() -> single.engine.template().send(message("a")));
        new Thread(repeated).start();

        try {
            assertThat(repeated.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(SendOutcome.REPLAYED);
            assertThat(held).isNotDone();
        } finally {
            mayGo.countDown();
        }
        assertThat(held.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(SendOutcome.STORED);
    }

    private static TestQueue slowQueue() {
        return new TestQueue(builder -> builder.commandTimeout(Duration.ofSeconds(10)));
    }

    @Test
    void repeatsASendOfSuchAMessageThatWasRejected() {
        queue.line.disconnect();
        healAfter(Duration.ofSeconds(1));

        assertThat(template.send(message("a").after(Duration.ZERO)).outcome()).isEqualTo(SendOutcome.STORED);
    }

    @Test
    void endsWhenTheThreadIsInterrupted() {
        queue.line.disconnect();
        queue.node.after(Duration.ofSeconds(1), Thread.currentThread()::interrupt);
        long began = queue.node.nanos();

        assertThatThrownBy(() -> template.send(message("a")))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("Interrupted");

        assertThat(Thread.interrupted()).isTrue();
        assertThat(since(began)).isLessThan(Duration.ofSeconds(2));
    }

    @Test
    void sendsGeneratedIdsToShardsThatAreNotAway() {
        queue.send("warm", HOUR);
        queue.line.planByShard(shard -> shard.shard() < 2 ? Fault.REJECTED : Fault.NONE);
        queue.line.takeCalls();
        int failed = 0;
        for (int i = 0; i < 200; i++) {
            try {
                template.send(generated());
            } catch (StoreUnavailableException away) {
                failed++;
            }
        }

        assertThat(failed).isBetween(0, 2);
        queue.line.planByShard(shard -> Fault.NONE);
        queue.time.advance(Duration.ofSeconds(2));
        Set<String> shards = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            shards.add(template.send(generated()).id().substring(0, 3));
        }
        assertThat(shards).hasSize(SHARDS);
    }

    /** Once a second one message may try a shard that was away. One with an id of its own has no choice of its shard. */
    @Test
    void aShardThatIsBackGetsGeneratedIdsAgainBesideManyOwnIds() {
        queue.send("warm", HOUR);
        queue.line.planByShard(shard -> shard.shard() == 1 ? Fault.REJECTED : Fault.NONE);
        OutgoingMessage refused = generated().id(ownId(1)).sendTimeout(Duration.ZERO);
        assertThatThrownBy(() -> template.send(refused)).isInstanceOf(StoreUnavailableException.class);
        queue.line.planByShard(shard -> Fault.NONE);
        String other = ownId(0);
        Set<String> shards = new HashSet<>();

        for (int second = 0; second < 60; second++) {
            queue.time.advance(Duration.ofSeconds(2));
            for (int i = 0; i < 50; i++) {
                template.send(message(other));
            }
            shards.add(template.send(generated()).id().substring(0, 3));
        }

        assertThat(shards).hasSize(SHARDS);
    }

    private static String ownId(int shard) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "own-" + i)
                .filter(id -> MessageIds.shardOf(id, SHARDS, SHARDS) == shard)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void sendsAGeneratedIdToAnotherShardIfItsShardIsAway() {
        queue.send("warm", HOUR);
        queue.line.planByShard(shard -> shard.shard() == 3 ? Fault.NONE : Fault.REJECTED);

        for (int i = 0; i < 20; i++) {
            SendResult result = template.send(generated().sendTimeout(FIVE_SECONDS));
            assertThat(result.outcome()).isEqualTo(SendOutcome.STORED);
            assertThat(template.find(TOPIC, result.id())).isPresent();
        }
    }

    @Test
    void keepsAMessageThatMayBeStoredInItsShard() {
        queue.send("warm", HOUR);
        queue.line.planByShard(shard -> Fault.LOST_REPLY);
        queue.node.after(Duration.ofSeconds(1), () -> queue.line.planByShard(shard -> Fault.NONE));

        SendResult result = template.send(generated().sendTimeout(FIVE_SECONDS));

        assertThat(result.outcome()).isEqualTo(SendOutcome.REPLAYED);
        assertThat(queue.engine.stats(TOPIC).counters().sent()).isEqualTo(2);
    }

    @Test
    void storesAListDuringAPartialOutage() {
        queue.send("warm", HOUR);
        queue.line.planByShard(shard -> shard.shard() == 1 ? Fault.REJECTED : Fault.NONE);
        List<OutgoingMessage> messages = new ArrayList<>();
        IntStream.range(0, 20).forEach(i -> messages.add(message("own-" + i)));
        IntStream.range(0, 500).forEach(i -> messages.add(generated()));
        queue.node.after(Duration.ofSeconds(2), () -> queue.line.planByShard(shard -> Fault.NONE));

        List<SendResult> results = template.sendAll(messages);

        assertThat(results).hasSize(520).allMatch(result -> result.outcome() == SendOutcome.STORED);
        assertThat(queue.engine.stats(TOPIC).waiting()).isEqualTo(521);
    }

    @Test
    void aListSaysWhichMessagesAreSurelyNotStored() {
        queue.send("warm", HOUR);
        queue.line.planByShard(shard -> switch (shard.shard()) {
            case 0 -> Fault.REJECTED;
            case 1 -> Fault.LOST_REPLY;
            default -> Fault.NONE;
        });
        List<OutgoingMessage> messages = IntStream.range(0, 40)
                .mapToObj(i -> OutgoingMessage.of(TOPIC, "x").id("own-" + i).after(HOUR))
                .toList();

        BatchSendException e = catchThrowableOfType(BatchSendException.class, () -> template.sendAll(messages));

        assertThat(e.unknown()).allMatch(result -> MessageIds.shardOf(result.id(), SHARDS, SHARDS) == 1);
        assertThat(e.results().stream().filter(result -> result.outcome() == null))
                .allMatch(result -> MessageIds.shardOf(result.id(), SHARDS, SHARDS) <= 1)
                .anyMatch(result -> MessageIds.shardOf(result.id(), SHARDS, SHARDS) == 0);
    }

    @Test
    void aCommitWaitsToo() {
        queue.send("warm", HOUR);
        transactions.begin();
        SendResult kept = template.send(generated().sendTimeout(FIVE_SECONDS));
        template.send(message("own"));
        queue.line.disconnect();
        healAfter(Duration.ofSeconds(2));

        transactions.commit();

        assertThat(template.find(TOPIC, kept.id())).isPresent();
        assertThat(template.find(TOPIC, "own")).isPresent();
    }

    @Test
    void undoSaysNothingOfMessagesThatWereNeverSent() {
        Logger logger = (Logger) LoggerFactory.getLogger(RolledBackSends.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try {
            queue.send("warm", HOUR);
            transactions.begin();
            queue.send("a", HOUR);
            queue.line.disconnect();
            queue.line.takeCalls();
            assertThatThrownBy(transactions::commit).isInstanceOf(StoreUnavailableException.class);
            transactions.rollback();
            queue.engine.close();

            assertThat(queue.line.takeCalls()).doesNotContain("cancel");
            assertThat(log.list).isEmpty();
        } finally {
            logger.detachAppender(log);
        }
    }

    @Test
    void refusesImpossibleTimeouts() {
        assertThatThrownBy(() -> new TestQueue(builder -> builder.commandTimeout(Duration.ZERO)))
                .hasMessageContaining("more than zero");
        assertThatThrownBy(() -> message("a").sendTimeout(Duration.ofSeconds(-1)))
                .hasMessageContaining("zero to 1h");
        assertThatThrownBy(() -> DelayQueueEngine.builder(queue.memory).sendTimeout(Duration.ofDays(1)))
                .hasMessageContaining("an hour");
    }
}
