package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.BatchSendException;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.NotReplicatedException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Transactions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

class TransactionSendTests {

    private final TestTransactions transactions = new TestTransactions();
    private final TestQueue queue = new TestQueue(builder -> builder.transactions(transactions));
    private final DelayQueueTemplate template = queue.engine.template();

    @AfterEach
    void close() {
        queue.engine.close();
    }

    @Test
    void storesJustBeforeTheCommitInOneCall() {
        transactions.begin();
        IntStream.range(0, 20).forEach(i -> assertThat(
                        queue.send("m" + i, Duration.ofHours(1)).isPending())
                .isTrue());
        assertThat(queue.stats().waiting()).isZero();
        queue.line.takeCalls();

        transactions.commit();

        assertThat(queue.stats().waiting()).isEqualTo(20);
        assertThat(queue.line.takeCalls()).containsExactly("send");
    }

    @Test
    void storesNothingWhenTheTransactionRollsBack() {
        transactions.begin();
        queue.send("a", Duration.ZERO);
        transactions.rollback();

        assertThat(queue.stats().counters().sent()).isZero();
    }

    @Test
    void keepsWhatIsStoredAndNamesEachMessageIfNobodyKnowsTheOutcome() {
        queue.send("old", Duration.ofHours(1));
        queue.send("of another", Duration.ofHours(1));
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(UnknownOutcome.class);
        logger.addAppender(log);
        transactions.begin();
        queue.send("before", Duration.ofHours(1));
        queue.send("of another", Duration.ofHours(1));
        template.send(OutgoingMessage.of(TOPIC, "x").id("after").phase(SendPhase.AFTER_COMMIT));
        template.cancelAfterCommit(TOPIC, "old");
        transactions.beginCommit();

        transactions.loseOutcome();

        logger.detachAppender(log);
        assertThat(queue.stats().waiting()).isEqualTo(3);
        assertThat(queue.find("before").state()).isEqualTo(MessageInfo.State.WAITING);
        assertThat(queue.find("old").state()).isEqualTo(MessageInfo.State.WAITING);
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("1 messages of orders stay stored")
                                .contains("[before]"),
                        line -> assertThat(line)
                                .startsWith("2 messages of orders were not sent")
                                .contains("of another", "after"),
                        line -> assertThat(line)
                                .startsWith("1 messages of orders were not cancelled")
                                .contains("[old]"));
    }

    @Test
    void waitsForASilentStoreTwiceAtMostAfterTheCommit() {
        TestQueue many =
                new TestQueue(builder -> builder.transactions(transactions).shards(topic -> 64));
        many.send("warm", Duration.ofHours(1));
        IntStream.range(0, 64).forEach(i -> many.engine.template().cancel(TOPIC, "m" + i));
        transactions.begin();
        IntStream.range(0, 200).forEach(i -> many.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "x")
                        .phase(SendPhase.AFTER_COMMIT)
                        .after(Duration.ofHours(1))));
        IntStream.range(0, 30).forEach(i -> many.engine.template().cancelAfterCommit(TOPIC, "m" + i));
        many.line.hang(many.time, Duration.ofMillis(250));
        Instant begin = many.time.now();

        assertThatThrownBy(transactions::commit).isInstanceOf(BatchSendException.class);

        assertThat(Duration.between(begin, many.time.now())).isLessThanOrEqualTo(Duration.ofMillis(501));
        many.engine.close();
    }

    @Test
    void waitsForASilentStoreTwiceAtMostToUndo() {
        TestQueue many =
                new TestQueue(builder -> builder.transactions(transactions).shards(topic -> 64));
        many.send("warm", Duration.ofHours(1));
        transactions.begin();
        IntStream.range(0, 200).forEach(i -> many.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "x").after(Duration.ofHours(1))));
        transactions.beginCommit();
        many.line.hang(many.time, Duration.ofMillis(250));
        Instant begin = many.time.now();

        transactions.rollback();

        assertThat(Duration.between(begin, many.time.now())).isLessThanOrEqualTo(Duration.ofMillis(501));
        many.line.heal();
        await().until(() -> many.engine.stats(TOPIC).waiting() == 1);
        many.engine.close();
    }

    @ParameterizedTest
    @EnumSource(value = SendPhase.class, mode = EnumSource.Mode.EXCLUDE, names = "OUTBOX")
    void storesNothingOfAListThatIsRefusedInsideATransaction(SendPhase phase) {
        List<OutgoingMessage> messages = new ArrayList<>();
        IntStream.range(0, 10)
                .forEach(i -> messages.add(OutgoingMessage.of(TOPIC, "x").phase(phase)));
        messages.add(OutgoingMessage.of(TOPIC, "unwritable").phase(phase));
        transactions.begin();

        assertThatThrownBy(() -> template.sendAll(messages)).isInstanceOf(IllegalArgumentException.class);
        transactions.commit();

        assertThat(queue.stats().counters().sent()).isZero();
    }

    @Test
    void storesNothingLaterOfAListWhosePartForNowHasNoAnswer() {
        template.send(TOPIC, "warm", Duration.ofHours(1));
        List<OutgoingMessage> messages = List.of(
                OutgoingMessage.of(TOPIC, "x").phase(SendPhase.BEFORE_COMMIT),
                OutgoingMessage.of(TOPIC, "x").phase(SendPhase.IMMEDIATELY),
                OutgoingMessage.of(TOPIC, "x").phase(SendPhase.AFTER_COMMIT));
        transactions.begin();
        queue.line.once("send", Fault.LOST_REQUEST);

        assertThatThrownBy(() -> template.sendAll(messages)).isInstanceOf(BatchSendException.class);
        transactions.commit();

        assertThat(queue.stats().counters().sent()).isEqualTo(1);
    }

    @Test
    void cancelsWhatWasStoredWhenTheCommitFails() {
        transactions.begin();
        queue.send("a", Duration.ofHours(1));
        transactions.failCommit();

        assertThat(queue.stats().counters().cancelled()).isEqualTo(1);
        assertThat(queue.stats().waiting()).isZero();
    }

    @Test
    void leavesALiveMessageOfTheSameIdAloneWhenTheCommitFails() {
        queue.send("a", Duration.ofHours(1));
        transactions.begin();
        queue.send("a", Duration.ofHours(2));
        transactions.failCommit();

        assertThat(queue.stats().waiting()).isEqualTo(1);
    }

    @Test
    void keepsWhatIsCommittedAlthoughItsIdWasThatOfATransactionThatRollsBackMeanwhile() {
        transactions.begin();
        queue.send("a", Duration.ofHours(1));
        transactions.beginCommit();
        TestTransactions others = new TestTransactions();
        DelayQueueTemplate other = template(others);
        others.begin();
        other.send(OutgoingMessage.of(TOPIC, "of the other").id("a").after(Duration.ofHours(2)));
        others.beginCommit();

        transactions.rollback();
        others.finishCommit();

        assertThat(Envelope.decode(queue.frame("a")).body())
                .isEqualTo(new TestQueue.TextCodec().encode("of the other"));
        assertThat(outcomes()).containsExactly(SendOutcome.STORED, SendOutcome.DUPLICATE, SendOutcome.STORED);
    }

    @Test
    void tellsOfADuplicateOnce() {
        queue.send("a", Duration.ofHours(1));
        transactions.begin();
        queue.send("a", Duration.ofHours(2));
        transactions.commit();

        assertThat(queue.stats().waiting()).isEqualTo(1);
        assertThat(outcomes()).containsExactly(SendOutcome.STORED, SendOutcome.DUPLICATE);
    }

    @Test
    void storesAnIdOfOneTransactionOnceAlthoughItIsDoneBeforeTheCommit() {
        transactions.begin();
        queue.send("a", Duration.ZERO);
        queue.send("a", Duration.ZERO);
        transactions.beginCommit();
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(1));
        transactions.finishCommit();
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.runIds()).containsExactly("a");
    }

    /** A nested transaction has a participant of its own, which stores in a call of its own. */
    @ParameterizedTest
    @EnumSource(names = {"BEFORE_COMMIT", "AFTER_COMMIT"})
    void storesAnIdOfAnOuterAndANestedTransactionOnceAlthoughItIsDoneInBetween(SendPhase phase) {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "x").id("a").phase(phase);
        queue.start(listener(), m -> {});
        Runnable consume = () -> queue.time.advance(Duration.ofSeconds(1));
        transactions.begin();
        template.send(message);
        transactions.savepoint();
        template.send(message);
        transactions.savepoint();
        template.send(message);

        transactions.beginCommit(consume);
        transactions.finishCommit(consume);

        assertThat(queue.runIds()).containsExactly("a");
        assertThat(outcomes()).containsExactly(SendOutcome.STORED, SendOutcome.DUPLICATE, SendOutcome.DUPLICATE);
    }

    /** One call takes 100 messages. */
    @ParameterizedTest
    @EnumSource(names = {"BEFORE_COMMIT", "AFTER_COMMIT"})
    void storesAnIdOfOneListOnceAlthoughItIsDoneBetweenTwoCalls(SendPhase phase) {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "x").id("a").phase(phase);
        queue.start(listener(), m -> {});
        transactions.begin();
        template.send(message);
        IntStream.range(0, 100)
                .forEach(i ->
                        template.send(OutgoingMessage.of(TOPIC, "x").id("m" + i).phase(phase)));
        template.send(message);
        queue.line.plan(call -> {
            if (call.equals("send")) {
                queue.time.advance(Duration.ofSeconds(1));
            }
            return Fault.NONE;
        });

        transactions.commit();
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.runIds()).hasSize(101).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @EnumSource(names = {"BEFORE_COMMIT", "AFTER_COMMIT"})
    void waitsForTheReplicasOfADuplicate(SendPhase phase) {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "x").id("a").phase(phase);
        transactions.begin();
        template.send(message);
        template.send(message.waitForReplicas(1));
        queue.line.takeCalls();

        assertThatThrownBy(transactions::commit).isInstanceOf(NotReplicatedException.class);

        assertThat(queue.line.takeCalls()).contains("sendReplicated").doesNotContain("send");
    }

    @ParameterizedTest
    @EnumSource(names = {"BEFORE_COMMIT", "AFTER_COMMIT"})
    void waitsForTheReplicasOfADuplicateOfANestedTransaction(SendPhase phase) {
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a"));
        transactions.savepoint();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a").phase(phase).waitForReplicas(1));
        queue.line.takeCalls();

        assertThatThrownBy(transactions::beginCommit).isInstanceOf(NotReplicatedException.class);

        assertThat(queue.line.takeCalls()).contains("sendReplicated").doesNotContain("send");
    }

    @Test
    void commitsIfReplicasHaveTheFirstMessageOfADuplicateThatWaitsForThem() {
        queue.memory.replicas(1);
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a"));
        transactions.savepoint();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a").waitForReplicas(1));

        transactions.commit();

        assertThat(outcomes()).containsExactly(SendOutcome.STORED, SendOutcome.DUPLICATE);
    }

    @Test
    void doesNotWaitForTheReplicasOfAMessageThatWasRolledBack() {
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a"));
        transactions.savepoint();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a").waitForReplicas(1));
        transactions.rollBackToSavepoint();
        queue.line.takeCalls();

        transactions.commit();

        assertThat(queue.line.takeCalls()).contains("send").doesNotContain("sendReplicated");
    }

    /** No call waits for its replicas: the first one is stored already. */
    @Test
    void reportsADuplicateThatCannotWaitForReplicas() {
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a"));
        transactions.beginCommit();
        template.send(OutgoingMessage.of(TOPIC, "x")
                .id("a")
                .phase(SendPhase.AFTER_COMMIT)
                .waitForReplicas(1));

        assertThatThrownBy(transactions::finishCommit).isInstanceOf(NotReplicatedException.class);
    }

    /** Otherwise the caller would send it again, although the first one may have run. */
    @Test
    void reportsADuplicateAlthoughALaterMessageFails() {
        TestQueue sharded = new TestQueue(builder -> builder.shards(topic -> 8).transactions(transactions));
        DelayQueueTemplate several = sharded.engine.template();
        ShardKey failing = new ShardKey(TOPIC, MessageIds.shardOf("a", 8, 8) == 0 ? 1 : 0);
        String other = IntStream.range(0, 1_000)
                .mapToObj(i -> "m" + i)
                .filter(id -> MessageIds.shardOf(id, 8, 8) == failing.shard())
                .findFirst()
                .orElseThrow();
        transactions.begin();
        for (String id : List.of("a", "a", other)) {
            several.send(OutgoingMessage.of(TOPIC, "x").id(id).phase(SendPhase.AFTER_COMMIT));
        }
        sharded.line.planByShard(shard -> shard.equals(failing) ? Fault.REFUSED : Fault.NONE);

        assertThatThrownBy(transactions::commit)
                .isInstanceOfSatisfying(BatchSendException.class, failure -> assertThat(failure.results())
                        .extracting(SendResult::outcome)
                        .containsExactly(SendOutcome.STORED, SendOutcome.DUPLICATE, null));
    }

    @Test
    void storesAnIdOfBothPhasesOnceAlthoughItIsDoneInBetween() {
        queue.start(listener(), m -> {});
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a"));
        transactions.savepoint();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a").phase(SendPhase.AFTER_COMMIT));

        transactions.beginCommit(() -> queue.time.advance(Duration.ofSeconds(1)));
        transactions.finishCommit();
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.runIds()).containsExactly("a");
    }

    /** Both met the message of a transaction that rolls back. */
    @Test
    void storesDuplicatesOfAnOuterAndANestedTransactionOnceMore() {
        TestTransactions others = new TestTransactions();
        DelayQueueTemplate other = template(others);
        others.begin();
        other.send(OutgoingMessage.of(TOPIC, "of the other").id("a").after(Duration.ofHours(1)));
        others.beginCommit();
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a"));
        transactions.savepoint();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a"));
        transactions.beginCommit();
        others.rollback();
        queue.start(listener(), m -> {});

        transactions.finishCommit(() -> queue.time.advance(Duration.ofSeconds(1)));

        assertThat(queue.runIds()).containsExactly("a");
    }

    @Test
    void storesWhatANestedTransactionSentWhereTheSameOfAnotherOneWasRolledBack() {
        transactions.begin();
        queue.send("b", Duration.ofHours(1));
        transactions.savepoint();
        queue.send("a", Duration.ofHours(1));
        transactions.rollBackToSavepoint();
        queue.send("a", Duration.ofHours(1));

        transactions.commit();

        assertThat(queue.stats().waiting()).isEqualTo(2);
        assertThat(queue.stats().counters().cancelled()).isZero();
    }

    @Test
    void cancelsAfterTheSendsOfAllNestedTransactions() {
        transactions.begin();
        template.cancelAfterCommit(TOPIC, "a");
        transactions.savepoint();
        template.send(OutgoingMessage.of(TOPIC, "x")
                .id("a")
                .after(Duration.ofHours(1))
                .phase(SendPhase.AFTER_COMMIT));
        template.cancelAfterCommit(TOPIC, "b");
        transactions.savepoint();
        template.send(OutgoingMessage.of(TOPIC, "x")
                .id("b")
                .after(Duration.ofHours(1))
                .phase(SendPhase.AFTER_COMMIT));

        transactions.commit();

        assertThat(queue.stats().waiting()).isZero();
        assertThat(queue.stats().counters().cancelled()).isEqualTo(2);
    }

    @Test
    void cancelsNothingOfANestedTransactionThatWasRolledBack() {
        queue.send("a", Duration.ofHours(1));
        queue.send("b", Duration.ofHours(1));
        transactions.begin();
        template.cancelAfterCommit(TOPIC, "a");
        transactions.savepoint();
        template.cancelAfterCommit(TOPIC, "b");
        transactions.rollBackToSavepoint();

        transactions.commit();

        assertThat(queue.memory.find(new ShardKey(TOPIC, 0), "a")).isEmpty();
        assertThat(queue.memory.find(new ShardKey(TOPIC, 0), "b")).isPresent();
    }

    @Test
    void cancelsAlthoughTheSendsOfTheFirstNestedTransactionFail() {
        queue.send("a", Duration.ofHours(1));
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").phase(SendPhase.AFTER_COMMIT));
        transactions.savepoint();
        template.cancelAfterCommit(TOPIC, "a");
        queue.line.once("send", Fault.REFUSED);

        assertThatThrownBy(transactions::commit).isInstanceOf(BatchSendException.class);

        assertThat(queue.memory.find(new ShardKey(TOPIC, 0), "a")).isEmpty();
    }

    @Test
    void cancelsAlthoughTheSendsOfTheLastNestedTransactionFail() {
        queue.send("a", Duration.ofHours(1));
        transactions.begin();
        template.cancelAfterCommit(TOPIC, "a");
        transactions.savepoint();
        template.send(OutgoingMessage.of(TOPIC, "x").phase(SendPhase.AFTER_COMMIT));
        queue.line.once("send", Fault.REFUSED);

        assertThatThrownBy(transactions::commit).isInstanceOf(BatchSendException.class);

        assertThat(queue.memory.find(new ShardKey(TOPIC, 0), "a")).isEmpty();
    }

    @Test
    void doesNotFailACommittedTransactionForADuplicate() {
        queue.send("a", Duration.ofHours(1));
        transactions.begin();
        queue.send("a", Duration.ofHours(2));
        transactions.beginCommit();
        queue.line.away();

        transactions.finishCommit();

        assertThat(queue.stats().waiting()).isEqualTo(1);
    }

    @Test
    void keepsWhatWasStoredWhenNobodyKnowsTheOutcome() {
        transactions.begin();
        queue.send("a", Duration.ofHours(1));
        transactions.beginCommit();
        transactions.leave();

        assertThat(queue.stats().waiting()).isEqualTo(1);
    }

    @Test
    void failsTheTransactionWhenTheStoreIsAway() {
        queue.send("warm", Duration.ofHours(1));
        transactions.begin();
        queue.send("a", Duration.ZERO);
        queue.line.away();

        assertThatThrownBy(transactions::commit).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void cancelsInTheBackgroundWhatAnOutageLeftStored() {
        queue.send("warm", Duration.ofHours(1));
        transactions.begin();
        queue.send("a", Duration.ofHours(1));
        queue.line.once("send", Fault.LOST_REPLY);
        assertThatThrownBy(transactions::commit).isInstanceOf(StoreUnavailableException.class);
        assertThat(queue.stats().waiting()).isEqualTo(2);

        queue.line.once("cancel", Fault.LOST_REQUEST);
        transactions.rollback();

        await().until(() -> queue.stats().waiting() == 1);
    }

    @Test
    void storesAfterTheCommitWhenToldSo() {
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").phase(SendPhase.AFTER_COMMIT));
        transactions.beginCommit();
        assertThat(queue.stats().waiting()).isZero();

        transactions.finishCommit();
        assertThat(queue.stats().waiting()).isEqualTo(1);
    }

    @Test
    void storesAtOnceWhenToldSo() {
        transactions.begin();
        SendResult result = template.send(OutgoingMessage.of(TOPIC, "x").phase(SendPhase.IMMEDIATELY));
        transactions.rollback();

        assertThat(result.outcome()).isEqualTo(SendOutcome.STORED);
        assertThat(queue.stats().waiting()).isEqualTo(1);
    }

    @Test
    void storesAtOnceAndStillCancelsWhatIsSentWhileTheTransactionCommits() {
        transactions.begin();
        queue.send("a", Duration.ofHours(1));
        transactions.beginCommit();
        assertThat(queue.send("late", Duration.ofHours(1)).outcome()).isEqualTo(SendOutcome.STORED);
        transactions.rollback();

        assertThat(queue.stats().waiting()).isZero();
    }

    @Test
    void cancelsAfterTheCommit() {
        queue.send("a", Duration.ofHours(1));
        transactions.begin();
        template.cancelAfterCommit(TOPIC, "a");
        transactions.rollback();
        assertThat(queue.stats().waiting()).isEqualTo(1);

        transactions.begin();
        template.cancelAfterCommit(TOPIC, "a");
        assertThat(queue.stats().waiting()).isEqualTo(1);
        transactions.commit();
        assertThat(queue.stats().waiting()).isZero();
    }

    @Test
    void cancelsManyInFewCalls() {
        IntStream.range(0, 150).forEach(i -> queue.send("m" + i, Duration.ofHours(1)));
        transactions.begin();
        IntStream.range(0, 150).forEach(i -> template.cancelAfterCommit(TOPIC, "m" + i));
        queue.line.takeCalls();
        transactions.commit();

        assertThat(queue.line.takeCalls()).containsExactly("cancel", "cancel");
        assertThat(queue.stats().waiting()).isZero();
    }

    @Test
    void doesAllThatItCanAfterTheCommitAlthoughAShardIsAway() {
        TestTransactions committed = new TestTransactions();
        TestQueue sharded =
                new TestQueue(builder -> builder.transactions(committed).shards(topic -> 2));
        String inTheOther = IntStream.range(0, 100)
                .mapToObj(i -> "m" + i)
                .filter(id -> MessageIds.shardOf(id, 2, 2) == 1)
                .findFirst()
                .orElseThrow();
        sharded.send(inTheOther, Duration.ofHours(1));
        committed.begin();
        sharded.engine
                .template()
                .sendAll(Collections.nCopies(
                        200,
                        OutgoingMessage.of(TOPIC, "x")
                                .after(Duration.ofHours(1))
                                .phase(SendPhase.AFTER_COMMIT)));
        sharded.engine.template().cancelAfterCommit(TOPIC, inTheOther);
        sharded.line.planByShard(shard -> shard.shard() == 0 ? Fault.LOST_REQUEST : Fault.NONE);

        assertThatThrownBy(committed::commit)
                .isInstanceOf(BatchSendException.class)
                .hasMessageContaining("100 of 200");

        assertThat(sharded.memory.stats(new ShardKey(TOPIC, 1)).waiting()).isEqualTo(100);
        assertThat(sharded.memory.find(new ShardKey(TOPIC, 1), inTheOther)).isEmpty();
    }

    @Test
    void sendsManyOfOneTransactionTogether() {
        transactions.begin();
        template.sendAll(Collections.nCopies(150, OutgoingMessage.of(TOPIC, "x").after(Duration.ofHours(1))));
        queue.line.takeCalls();
        transactions.commit();

        assertThat(queue.line.takeCalls()).containsExactly("send", "send");
    }

    private DelayQueueTemplate template(Transactions ofOthers) {
        return queue.builder(queue.node, queue.line.asStore())
                .transactions(ofOthers)
                .build()
                .template();
    }

    private List<SendOutcome> outcomes() {
        return queue.events(DelayQueueEvent.Sent.class).stream()
                .map(DelayQueueEvent.Sent::outcome)
                .toList();
    }
}
