package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.BatchSendException;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.admin.OutboxAdmin;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.SendOutbox.Lease;
import io.easykit.delayqueue.store.SendOutbox.Send;
import io.easykit.delayqueue.store.SendOutbox.Written;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class OutboxTests {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration HOUR = Duration.ofHours(1);

    /** The clock of the database is an hour behind that of the store. */
    private final InMemorySendOutbox.Tables tables =
            new InMemorySendOutbox.Tables(() -> now().minus(HOUR).toEpochMilli());

    private final TestTransactions transactions = new TestTransactions();
    private final InMemorySendOutbox outbox = new InMemorySendOutbox(tables, transactions);
    private final TestQueue queue = new TestQueue(builder -> withOutbox(builder, outbox, transactions));
    private final DelayQueueTemplate template = queue.engine.template();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(OutboxLog.class);

    private Instant now() {
        return queue.time.now();
    }

    private DelayQueueEngine.Builder withOutbox(
            DelayQueueEngine.Builder builder, InMemorySendOutbox itsOutbox, TestTransactions itsTransactions) {
        return builder.transactions(itsTransactions)
                .sendPhase(SendPhase.OUTBOX)
                .shards(topic -> topic.equals("sharded") ? 4 : 1)
                .maxMessageBytes(1 << 20)
                .outbox(itsOutbox, LEASE);
    }

    @BeforeEach
    void start() {
        log.start();
        logger.addAppender(log);
        relay(queue.engine).start();
        queue.time.advance(Duration.ofMillis(1));
    }

    @AfterEach
    void close() {
        logger.detachAppender(log);
        queue.engine.close();
    }

    private static OutboxRelay relay(DelayQueueEngine engine) {
        return (OutboxRelay) Objects.requireNonNull(engine.outbox());
    }

    /** Another process, with a connection of its own to the database and to the store. */
    private final class OtherProcess {

        final SimulatedTime.Node node = queue.time.node();
        final TestTransactions transactions = new TestTransactions();
        final InMemorySendOutbox outbox = new InMemorySendOutbox(tables, transactions);
        final FaultyStore line = new FaultyStore(queue.memory);
        final DelayQueueEngine engine = withOutbox(queue.builder(node, line.asStore()), outbox, transactions)
                .build();

        OtherProcess() {
            relay(engine).start();
        }
    }

    /** The settings of this node have four, so the other three are added only when it first uses the topic. */
    @Test
    void generatedIdsNameNoShardThatListenersMayNotKnowYet() {
        queue.memory.declare("sharded", 1);
        transactions.begin();
        List<SendResult> sent = IntStream.range(0, 50)
                .mapToObj(i -> template.send(OutgoingMessage.of("sharded", "x").after(HOUR)))
                .toList();
        transactions.commit();

        assertThat(sent)
                .allSatisfy(one -> assertThat(MessageIds.named(one.id())).isZero());
    }

    private void sendAndCommit(String... ids) {
        transactions.begin();
        List.of(ids).forEach(id -> queue.send(id, HOUR));
        transactions.commit();
    }

    private Instant due(String id) {
        return queue.find(id).at();
    }

    private boolean isStored(String topic, String id) {
        return queue.memory.find(new ShardKey(topic, 0), id).isPresent();
    }

    private boolean isStored(String id) {
        return isStored(TOPIC, id);
    }

    private void advance(Duration time) {
        queue.time.advance(time);
    }

    private List<String> logged(Level level) {
        return log.list.stream()
                .filter(line -> line.getLevel() == level)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Test
    void storesRightAfterTheCommitAndDeletesTheRow() {
        transactions.begin();
        SendResult result = queue.send("a", HOUR);
        assertThat(result.isPending()).isTrue();
        advance(Duration.ofSeconds(20));
        assertThat(isStored("a")).isFalse();

        transactions.commit();
        advance(Duration.ofMillis(1));

        assertThat(isStored("a")).isTrue();
        assertThat(tables.rows).isEmpty();
        assertThat(queue.events(DelayQueueEvent.Sent.class))
                .containsExactly(new DelayQueueEvent.Sent(TOPIC, "a", SendOutcome.STORED));
    }

    @Test
    void countsADelayFromTheSend() {
        Instant sent = queue.time.now();
        transactions.begin();
        queue.send("a", HOUR);
        advance(Duration.ofMinutes(10));
        transactions.commit();
        advance(Duration.ofMillis(1));

        assertThat(due("a")).isBetween(sent.plus(HOUR), sent.plus(HOUR).plusMillis(2));
    }

    @Test
    void keepsAnInstantAsItIs() {
        Instant due = queue.time.now().plus(HOUR);
        transactions.begin();
        template.send(OutgoingMessage.of(TOPIC, "x").id("a").at(due));
        transactions.commit();
        advance(Duration.ofMillis(1));

        assertThat(due("a")).isBetween(due, due.plusMillis(1));
    }

    @Test
    void storesNothingOfARolledBackTransaction() {
        transactions.begin();
        queue.send("a", HOUR);
        transactions.rollback();
        advance(Duration.ofMinutes(5));

        assertThat(tables.rows).isEmpty();
        assertThat(queue.stats().counters().sent()).isZero();
    }

    @Test
    void storesNothingThatWasRolledBackToASavepoint() {
        transactions.begin();
        queue.send("before", HOUR);
        transactions.savepoint();
        queue.send("nested", HOUR);
        transactions.rollBackToSavepoint();
        queue.send("after", HOUR);
        transactions.commit();
        advance(Duration.ofMillis(1));

        assertThat(isStored("before")).isTrue();
        assertThat(isStored("nested")).isFalse();
        assertThat(isStored("after")).isTrue();
    }

    @Test
    void storesWhatIsCommittedIfNobodyKnowsTheOutcome() {
        transactions.begin();
        queue.send("a", HOUR);
        transactions.loseOutcome();
        advance(Duration.ofMillis(1));

        assertThat(isStored("a")).isTrue();
    }

    @Test
    void doesNotCallAStoreThatIsAwayInsideTheTransaction() {
        queue.line.away();
        queue.line.takeCalls();
        transactions.begin();
        queue.send("a", HOUR);
        template.send("never-used-before", "x");

        assertThat(queue.line.takeCalls()).isEmpty();
        transactions.commit();
        assertThat(tables.rows).hasSize(2);
    }

    @Test
    void storesWhenAStoreThatWasAwayIsBackAndLosesNoneOfTheDelay() {
        Instant sent = queue.time.now();
        queue.line.away();
        sendAndCommit("a");
        advance(Duration.ofMinutes(20));
        assertThat(tables.ids()).containsExactly("a");
        OutboxAdmin.Stats away = Objects.requireNonNull(relay(queue.engine).stats());
        assertThat(away.waiting()).isEqualTo(1);
        assertThat(away.oldest()).isBetween(Duration.ofMinutes(20).minusSeconds(1), Duration.ofMinutes(20));

        queue.line.heal();
        advance(Duration.ofSeconds(2));

        assertThat(due("a")).isBetween(sent.plus(HOUR), sent.plus(HOUR).plusMillis(2));
        assertThat(tables.rows).isEmpty();
        assertThat(logged(Level.WARN))
                .singleElement()
                .asString()
                .startsWith("Redis does not answer, so messages stay in the outbox.");
        assertThat(logged(Level.INFO))
                .containsExactly("Redis answers again, and all messages of the outbox are stored");
        advance(Duration.ofSeconds(10));
        assertThat(Objects.requireNonNull(relay(queue.engine).stats()).waiting())
                .isZero();
    }

    @Test
    void storesOnceIfTheReplyOfTheStoreIsLost() {
        queue.line.once("send", Fault.LOST_REPLY);
        sendAndCommit("a");
        advance(Duration.ofSeconds(3));

        assertThat(tables.rows).isEmpty();
        assertThat(queue.stats().waiting()).isEqualTo(1);
        assertThat(queue.events(DelayQueueEvent.Sent.class))
                .containsExactly(new DelayQueueEvent.Sent(TOPIC, "a", SendOutcome.REPLAYED));
    }

    @Test
    void storesTheSendsOfATransactionInTheirOrder() {
        queue.line.away();
        String[] ids = IntStream.range(0, 250).mapToObj(i -> "m" + i).toArray(String[]::new);
        sendAndCommit(ids);
        advance(Duration.ofSeconds(5));
        queue.line.heal();
        advance(Duration.ofSeconds(2));

        assertThat(queue.events(DelayQueueEvent.Sent.class).stream().map(DelayQueueEvent.Sent::id))
                .containsExactly(ids);
    }

    @Test
    void doesNotStoreAgainWhatItCouldNotDelete() {
        queue.start(listener(), message -> {});
        outbox.before = call -> {
            if (call.equals("delete")) {
                throw new SendOutboxException("The database does not answer.", null);
            }
        };
        transactions.begin();
        queue.send("a", Duration.ZERO);
        transactions.commit();
        advance(Duration.ofMinutes(1));
        assertThat(queue.runIds()).containsExactly("a");
        assertThat(tables.rows).hasSize(1);

        outbox.heal();
        advance(Duration.ofSeconds(10));

        assertThat(tables.rows).isEmpty();
        assertThat(queue.runIds()).containsExactly("a");
        assertThat(logged(Level.WARN)).singleElement().asString().startsWith("The outbox cannot be read,");
    }

    @Test
    void anotherProcessStoresWhatAProcessHasLeftThatDiedBeforeItStoredIt() {
        transactions.begin();
        queue.send("a", HOUR);
        queue.node.kill();
        transactions.commit();
        OtherProcess other = new OtherProcess();

        advance(LEASE.minusSeconds(1));
        assertThat(isStored("a")).isFalse();
        advance(Duration.ofSeconds(15));

        assertThat(isStored("a")).isTrue();
        assertThat(tables.rows).isEmpty();
        advance(Duration.ofSeconds(10));
        assertThat(tables.leases).hasSize(1);
        other.engine.close();
    }

    /** Its lease is renewed, which needs the database only. */
    private OtherProcess takerOver(Fault fault) {
        OtherProcess taker = new OtherProcess();
        taker.line.planByShard(shard -> shard.topic().equals(TOPIC) ? fault : Fault.NONE);
        transactions.begin();
        queue.send("a", HOUR);
        queue.node.kill();
        transactions.commit();
        advance(LEASE.plusSeconds(15));
        assertThat(Objects.requireNonNull(tables.leases.get(relay(queue.engine).owner()))
                        .holder())
                .isEqualTo(relay(taker.engine).owner());
        return taker;
    }

    /** Its own line to the store is away, or the store refuses this process only. */
    @ParameterizedTest
    @EnumSource(names = {"REJECTED", "REFUSED"})
    void passesOnRowsOfADeadProcessThatItCannotStore(Fault fault) {
        OtherProcess taker = takerOver(fault);
        OtherProcess third = new OtherProcess();
        taker.outbox.takeCalls();
        advance(Duration.ofMinutes(2));

        assertThat(isStored("a")).isTrue();
        assertThat(tables.rows).isEmpty();
        assertThat(tables.leases.keySet())
                .containsExactlyInAnyOrder(
                        relay(taker.engine).owner(), relay(third.engine).owner());
        assertThat(taker.outbox.takeCalls()).filteredOn("release"::equals).hasSize(1);
        assertThat(logged(Level.INFO)).as("the taker cannot tell").isEmpty();
        taker.node.kill();
        third.node.kill();
    }

    /** The first outage ended for this process when it passed on what it could not store. */
    @Test
    void logsBeginAndEndOfAnOutageAfterOneWhoseRowsWerePassedOn() {
        OtherProcess taker = takerOver(Fault.REJECTED);
        OtherProcess third = new OtherProcess();
        advance(Duration.ofMinutes(2));
        assertThat(logged(Level.WARN)).hasSize(1);

        taker.transactions.begin();
        taker.engine.template().send(OutgoingMessage.of(TOPIC, "x").id("b").after(HOUR));
        taker.transactions.commit();
        advance(Duration.ofMinutes(2));
        assertThat(logged(Level.WARN)).hasSize(2);
        assertThat(logged(Level.INFO)).isEmpty();
        taker.line.planByShard(shard -> Fault.NONE);
        advance(Duration.ofSeconds(2));

        assertThat(isStored("b")).isTrue();
        assertThat(logged(Level.INFO))
                .containsExactly("Redis answers again, and all messages of the outbox are stored");
        taker.node.kill();
        third.node.kill();
    }

    /** Its own message fails after it has passed on the others, which another process is still to store. */
    @Test
    void doesNotLogTheEndOfAnOutageWhoseRowsWerePassedOn() {
        OtherProcess taker = takerOver(Fault.REJECTED);
        OtherProcess third = new OtherProcess();
        taker.transactions.begin();
        taker.engine.template().send(OutgoingMessage.of(TOPIC, "x").id("b").after(HOUR));
        taker.transactions.commit();
        advance(Duration.ofMinutes(2));
        assertThat(isStored("a")).isTrue();

        taker.line.planByShard(shard -> Fault.NONE);
        advance(Duration.ofSeconds(2));

        assertThat(isStored("b")).isTrue();
        assertThat(logged(Level.INFO)).as("the taker cannot tell").isEmpty();
        taker.node.kill();
        third.node.kill();
    }

    @Test
    void rowsOfADeadProcessGoRoundUntilAProcessCanStoreThem() {
        OtherProcess taker = takerOver(Fault.REJECTED);
        List<OtherProcess> others = List.of(new OtherProcess(), new OtherProcess(), new OtherProcess());
        others.forEach(other -> other.line.away());
        advance(Duration.ofMinutes(20));
        assertThat(isStored("a")).isFalse();

        others.get(2).line.heal();
        advance(LEASE.multipliedBy(15));

        assertThat(isStored("a")).isTrue();
        assertThat(tables.rows).isEmpty();
        assertThat(tables.leases).hasSize(4);
        taker.node.kill();
        others.forEach(other -> other.node.kill());
    }

    @Test
    void theOnlyProcessKeepsTheLeaseOfADeadOneAndStoresSoonAfterAnOutage() {
        holdTheLeaseOfADeadProcessThatHasLeft("left");
        outbox.takeCalls();
        advance(Duration.ofMinutes(10));
        assertThat(outbox.takeCalls()).doesNotContain("release");

        queue.line.heal();
        advance(Duration.ofSeconds(2));

        assertThat(isStored("left")).isTrue();
        assertThat(tables.leases).hasSize(1);
    }

    /** As in a large table, which takes too long. */
    @Test
    void storesItsOwnRowsIfTheOwnersCannotBeRead() {
        outbox.before = call -> {
            if (call.equals("owners")) {
                throw new SendOutboxException("canceled", null);
            }
        };
        queue.line.away();
        sendAndCommit("a");
        advance(Duration.ofMinutes(1));
        queue.line.heal();
        advance(Duration.ofMinutes(1));

        assertThat(isStored("a")).isTrue();
    }

    @Test
    void storesOnceIfTheProcessDiesBetweenStoreAndDelete() {
        outbox.before = call -> {
            if (call.equals("delete")) {
                throw new SimulatedTime.Killed();
            }
        };
        sendAndCommit("a", "b");
        advance(Duration.ofSeconds(1));
        assertThat(queue.node.isAlive()).isFalse();
        assertThat(isStored("b")).isTrue();
        OtherProcess other = new OtherProcess();
        advance(LEASE.plusSeconds(15));

        assertThat(tables.rows).isEmpty();
        assertThat(queue.stats().waiting()).isEqualTo(2);
        other.engine.close();
    }

    @Test
    void runsAgainAsTheSameIncarnationIfItEndedBeforeTheRowOfADeadProcessIsRelayed() {
        outbox.before = call -> {
            if (call.equals("delete")) {
                throw new SimulatedTime.Killed();
            }
        };
        OtherProcess other = new OtherProcess();
        List<Bytes> frames = new ArrayList<>();
        queue.start(other.engine, listener(), message -> frames.add(queue.frame(message.id())));
        transactions.begin();
        queue.send("a", Duration.ZERO);
        transactions.commit();
        advance(Duration.ofMinutes(2));

        assertThat(queue.runIds()).containsExactly("a", "a");
        assertThat(frames.get(1)).isEqualTo(frames.get(0));
        other.node.kill();
    }

    @Test
    void leavesTheRowsOfALivingProcessToIt() {
        OtherProcess other = new OtherProcess();
        queue.line.away();
        sendAndCommit("a");
        advance(Duration.ofMinutes(10));

        assertThat(isStored("a")).isFalse();
        assertThat(other.line.takeCalls()).doesNotContain("send");
        other.engine.close();
    }

    @Test
    void aProcessThatWasFrozenLeavesItsRowsToTheOneThatTookThem() {
        OtherProcess other = new OtherProcess();
        queue.start(other.engine, listener(), message -> {});
        // It freezes when it has read the row, before it stores it.
        outbox.after = call -> {
            if (call.equals("frames")) {
                outbox.heal();
                queue.time.pass(LEASE.plusSeconds(10));
            }
        };
        transactions.begin();
        queue.send("a", Duration.ZERO);
        transactions.commit();
        queue.line.takeCalls();
        advance(Duration.ofMillis(1));
        assertThat(queue.line.takeCalls()).doesNotContain("send");
        advance(Duration.ofMinutes(2));

        assertThat(queue.runIds()).containsExactly("a");
        assertThat(tables.rows).isEmpty();
        other.node.kill();
    }

    @Test
    void takesItsLeaseBackWhenTheOtherProcessHasStoredItsRows() {
        OtherProcess other = new OtherProcess();
        sendAndCommit("first");
        queue.node.freeze();
        transactions.begin();
        queue.send("while frozen", HOUR);
        transactions.commit();
        advance(Duration.ofMinutes(2));
        assertThat(isStored("while frozen")).isTrue();

        queue.node.thaw();
        advance(Duration.ofSeconds(20));
        other.node.kill();
        sendAndCommit("afterwards");
        advance(Duration.ofMillis(1));

        assertThat(isStored("afterwards")).isTrue();
    }

    @Test
    void givesUpItsLeaseWhenItStopsSoThatAnotherProcessNeedNotWait() {
        OtherProcess other = new OtherProcess();
        advance(Duration.ofSeconds(1));
        relay(queue.engine).beginStop();
        advance(Duration.ofMillis(1));
        sendAndCommit("a");
        advance(Duration.ofSeconds(6));

        assertThat(isStored("a")).isTrue();
        other.engine.close();
    }

    @Test
    void endsAPassWhenItStops() {
        queue.line.away();
        sendAndCommit(IntStream.range(0, 250).mapToObj(i -> "m" + i).toArray(String[]::new));
        queue.line.heal();
        outbox.after = call -> {
            if (call.equals("delete")) {
                relay(queue.engine).beginStop();
            }
        };
        advance(Duration.ofMinutes(1));

        assertThat(tables.rows).hasSize(150);
        assertThat(tables.leases).isEmpty();
    }

    @Test
    void startsAgainAfterAStop() {
        relay(queue.engine).beginStop();
        advance(Duration.ofSeconds(1));
        sendAndCommit("a");
        relay(queue.engine).start();
        advance(Duration.ofSeconds(1));

        assertThat(isStored("a")).isTrue();
    }

    /** As when the class loader of the application is closed. */
    @Test
    void startsAgainAfterAStopWhoseLastStepFails() {
        List<String> atTheStop = new ArrayList<>();
        outbox.before = call -> {
            atTheStop.add(call);
            throw new NoClassDefFoundError("Statement");
        };
        relay(queue.engine).beginStop();
        advance(Duration.ofSeconds(1));
        assertThat(atTheStop).hasSize(1);

        outbox.before = call -> {};
        relay(queue.engine).start();
        sendAndCommit("a");
        advance(Duration.ofSeconds(10)); // its own lease was not released

        assertThat(isStored("a")).isTrue();
    }

    @Test
    void doesNotHoldUpOtherTopicsForOneThatRedisRefuses() {
        queue.line.planByShard(shard -> shard.topic().equals(TOPIC) ? Fault.REFUSED : Fault.NONE);
        sendAndCommit(IntStream.range(0, 300).mapToObj(i -> "m" + i).toArray(String[]::new));
        transactions.begin();
        template.send(OutgoingMessage.of("other", "x").id("good").after(HOUR));
        transactions.commit();
        advance(Duration.ofSeconds(2));
        assertThat(isStored("other", "good")).isTrue();
        assertThat(tables.rows).hasSize(300);
        assertThat(logged(Level.WARN))
                .allSatisfy(line -> assertThat(line).startsWith("Redis refuses messages of topic orders."));

        queue.line.takeCalls();
        advance(Duration.ofSeconds(20));
        assertThat(queue.line.takeCalls()).doesNotContain("send");
        OutboxAdmin.Stats stats = Objects.requireNonNull(relay(queue.engine).stats());
        assertThat(stats.refused()).isEqualTo(1);
        assertThat(stats.waiting()).isEqualTo(300);

        queue.line.planByShard(shard -> Fault.NONE);
        advance(Duration.ofSeconds(40));
        assertThat(tables.rows).isEmpty();
        assertThat(queue.stats().waiting()).isEqualTo(300);
    }

    @Test
    void doesNotHoldUpTheOthersOfATopicForOneMessageThatRedisRefuses() {
        queue.line.refuse("bad");
        sendAndCommit("a", "bad", "b");
        advance(Duration.ofSeconds(1));

        assertThat(isStored("a")).isTrue();
        assertThat(isStored("b")).isTrue();
        assertThat(tables.ids()).containsExactly("bad");
    }

    @Test
    void doesNotHoldUpOtherShardsForOneThatIsAway() {
        queue.line.planByShard(
                shard -> shard.topic().equals("sharded") && shard.shard() == 1 ? Fault.REJECTED : Fault.NONE);
        transactions.begin();
        List<String> ids = IntStream.range(0, 300)
                .mapToObj(i -> template.send(
                                OutgoingMessage.of("sharded", "x").after(HOUR).id("own" + i))
                        .id())
                .toList();
        transactions.commit();
        advance(Duration.ofSeconds(1));
        List<String> left =
                ids.stream().filter(id -> MessageIds.shardOf(id, 4, 4) == 1).toList();
        assertThat(tables.ids()).containsExactlyElementsOf(left);

        queue.line.takeCalls();
        advance(Duration.ofSeconds(10));
        assertThat(queue.line.takeCalls()).filteredOn("send"::equals).hasSizeLessThanOrEqualTo(11);
        queue.line.planByShard(shard -> Fault.NONE);
        advance(Duration.ofSeconds(2));
        assertThat(tables.rows).isEmpty();
    }

    @Test
    void doesNotReadABacklogAtEachCommit() {
        queue.line.planByShard(shard -> shard.topic().equals(TOPIC) ? Fault.REJECTED : Fault.NONE);
        sendAndCommit(IntStream.range(0, 1000).mapToObj(i -> "m" + i).toArray(String[]::new));
        advance(Duration.ofMillis(1));
        outbox.takeCalls();

        transactions.begin();
        template.send(OutgoingMessage.of("other", "x").id("good"));
        transactions.commit();
        advance(Duration.ofMillis(1));

        assertThat(isStored("other", "good")).isTrue();
        assertThat(outbox.takeCalls()).containsExactly("write", "rows", "frames", "delete");
    }

    private long readsWithin(Duration time) {
        outbox.takeCalls();
        advance(time);
        return outbox.takeCalls().stream().filter("rows"::equals).count();
    }

    /** 3,000 messages, whose shard is (sharded, 1). */
    private void sendManyToOneShard() {
        transactions.begin();
        IntStream.range(0, 20_000)
                .mapToObj(i -> "own" + i)
                .filter(id -> MessageIds.shardOf(id, 4, 4) == 1)
                .limit(3_000)
                .forEach(id -> template.send(
                        OutgoingMessage.of("sharded", "x").after(HOUR).id(id)));
        transactions.commit();
    }

    @Test
    void doesNotReadTheBacklogOfOneShardEachSecond() {
        queue.line.planByShard(
                shard -> shard.topic().equals("sharded") && shard.shard() == 1 ? Fault.REJECTED : Fault.NONE);
        sendManyToOneShard();
        advance(Duration.ofSeconds(10));

        assertThat(readsWithin(Duration.ofSeconds(10))).isLessThan(100);
        outbox.before = call -> {
            if (call.equals("rows")) {
                queue.time.pass(Duration.ofMillis(100)); // a slow database
            }
        };
        assertThat(readsWithin(Duration.ofMinutes(1))).isLessThan(260);

        outbox.heal();
        queue.line.planByShard(shard -> Fault.NONE);
        advance(Duration.ofSeconds(2));
        assertThat(tables.rows).isEmpty();
    }

    /** Also if what else waits is far behind the first row. */
    @ParameterizedTest
    @EnumSource(names = {"REJECTED", "REFUSED"})
    void doesNotReadTheBacklogOfOneShardToTryALaterRow(Fault later) {
        queue.line.planByShard(shard -> shard.topic().equals("other")
                ? later
                : shard.topic().equals("sharded") && shard.shard() == 1 ? Fault.REJECTED : Fault.NONE);
        sendManyToOneShard();
        transactions.begin();
        template.send(OutgoingMessage.of("other", "x").id("late").after(HOUR));
        transactions.commit();
        advance(Duration.ofSeconds(10));

        assertThat(readsWithin(Duration.ofMinutes(1))).isLessThan(700);
        queue.line.planByShard(
                shard -> shard.topic().equals("sharded") && shard.shard() == 1 ? Fault.REJECTED : Fault.NONE);
        advance(Duration.ofSeconds(31));
        assertThat(isStored("other", "late")).isTrue();
        assertThat(tables.rows).hasSize(3_000);
        queue.line.planByShard(shard -> Fault.NONE);
        advance(Duration.ofSeconds(2));
        assertThat(tables.rows).isEmpty();
    }

    @Test
    void doesNotReadABacklogAtEachCommitWhileATransactionIsOpen() {
        queue.line.planByShard(
                shard -> shard.topic().equals("sharded") && shard.shard() == 1 ? Fault.REJECTED : Fault.NONE);
        transactions.begin();
        queue.send("batch", HOUR);
        TestTransactions.Suspended batch = transactions.suspend();
        sendManyToOneShard();
        advance(Duration.ofMillis(1));
        outbox.takeCalls();

        sendAndCommit("short");
        advance(Duration.ofMillis(1));

        assertThat(isStored("short")).isTrue();
        assertThat(outbox.takeCalls()).containsExactly("write", "rows", "frames", "delete");
        transactions.resume(batch);
        transactions.commit();
        advance(Duration.ofMillis(1));
        assertThat(isStored("batch")).isTrue();
    }

    @Test
    void doesNotReadTheBacklogOfADeadProcessEachSecond() {
        holdTheLeaseOfADeadProcessThatHasLeft("left");
        sendManyToOneShard();
        tables.rows.replaceAll((number, row) -> new InMemorySendOutbox.Stored("dead", row.written()));
        sendAndCommit("own");
        advance(Duration.ofSeconds(10));

        assertThat(tables.rows).hasSizeGreaterThan(3_000);
        assertThat(readsWithin(Duration.ofMinutes(1))).isLessThan(1_000);
        queue.line.heal();
        advance(Duration.ofSeconds(10));
        assertThat(tables.rows).isEmpty();
    }

    private InMemorySendOutbox.Stored damaged() {
        return new InMemorySendOutbox.Stored(
                relay(queue.engine).owner(),
                new Written(new Send("no topic!", "x", 1, -5, false, 0, null), Bytes.NONE));
    }

    @Test
    void leavesOutADamagedRow() {
        sendAndCommit("a");
        tables.rows.put(1000L, damaged());
        sendAndCommit("b");
        advance(Duration.ofSeconds(10));

        assertThat(isStored("a")).isTrue();
        assertThat(isStored("b")).isTrue();
        assertThat(logged(Level.WARN)).allSatisfy(line -> assertThat(line).startsWith("Row 1000 of the outbox"));
    }

    @Test
    void leavesOutARowThatCannotBeRead() {
        queue.line.planCall((method, shard) -> method.equals("send") ? Fault.REJECTED : Fault.NONE);
        sendAndCommit("a");
        sendAndCommit("b");
        advance(Duration.ofMillis(1));
        tables.unreadable.put(tables.rows.firstKey(), new IllegalArgumentException("replicas"));
        queue.line.planCall((method, shard) -> Fault.NONE);
        advance(Duration.ofMinutes(1));

        assertThat(isStored("b")).isTrue();
        assertThat(tables.rows).hasSize(1);
        assertThat(Objects.requireNonNull(relay(queue.engine).stats()).refused())
                .isEqualTo(1);
        assertThat(logged(Level.WARN))
                .anySatisfy(line -> assertThat(line).startsWith("Row " + tables.rows.firstKey() + " of the outbox"));

        tables.unreadable.clear();
        advance(Duration.ofMinutes(1));
        assertThat(isStored("a")).isTrue();
        assertThat(tables.rows).isEmpty();
    }

    /** Messages of one shard, although only some of them wait for replicas. */
    @Test
    void keepsTheOrderOfMessagesWithDifferentWaitsForReplicas() {
        transactions.begin();
        List<String> ids = List.of("a", "b", "c", "d", "e");
        ids.stream()
                .map(id -> OutgoingMessage.of(TOPIC, id).id(id).after(HOUR))
                .map(message -> List.of("b", "d").contains(message.id()) ? message.waitForReplicas(1) : message)
                .forEach(template::send);
        transactions.commit();
        advance(Duration.ofSeconds(1));

        assertThat(queue.events(DelayQueueEvent.Sent.class))
                .extracting(DelayQueueEvent.Sent::id)
                .containsExactlyElementsOf(ids);
    }

    @Test
    void removesTheLeaseOfAKilledProcessWithoutRows() {
        tables.leases.put("killed", new Lease("killed", 7));
        advance(Duration.ofMinutes(2));

        assertThat(tables.leases).doesNotContainKey("killed").hasSize(1);
    }

    /** What stays behind is a row of its own, or a topic that the store refuses. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void removesTheLeaseOfAKilledProcessWhileOtherRowsAreLeftOut(boolean isDamaged) {
        queue.line.planByShard(shard -> isDamaged ? Fault.NONE : Fault.REFUSED);
        sendAndCommit("own");
        if (isDamaged) {
            tables.rows.put(1000L, damaged());
        }
        advance(Duration.ofSeconds(10));
        tables.leases.put("killed", new Lease("killed", 7));
        advance(Duration.ofMinutes(2));

        assertThat(tables.rows).hasSize(1);
        assertThat(tables.leases).doesNotContainKey("killed").hasSize(1);
    }

    @Test
    void removesACancelledMessageOfItsOwnTransaction() {
        transactions.begin();
        queue.send("a", HOUR);
        queue.send("b", HOUR);
        queue.send("c", HOUR);
        queue.send("d", HOUR);
        assertThat(template.cancel(TOPIC, "a")).isEqualTo(ChangeOutcome.APPLIED);
        assertThat(template.cancel(TOPIC, "a")).isEqualTo(ChangeOutcome.GONE);
        assertThat(template.cancelAll(TOPIC, List.of("b", "unknown")))
                .containsEntry("b", ChangeOutcome.APPLIED)
                .containsEntry("unknown", ChangeOutcome.GONE);
        template.cancelAfterCommit(TOPIC, "c");
        assertThat(template.reschedule(TOPIC, "d", HOUR)).isEqualTo(ChangeOutcome.GONE);
        assertThat(template.find(TOPIC, "d")).isEmpty();
        transactions.commit();
        advance(Duration.ofSeconds(1));

        assertThat(queue.stats().waiting()).isEqualTo(1);
        assertThat(isStored("d")).isTrue();
    }

    @Test
    void doesNotFindACommittedMessageBeforeItIsStored() {
        queue.line.planCall((method, shard) -> method.equals("send") ? Fault.REJECTED : Fault.NONE);
        sendAndCommit("a");
        advance(Duration.ofSeconds(1));

        assertThat(template.cancel(TOPIC, "a")).isEqualTo(ChangeOutcome.GONE);
        assertThat(template.find(TOPIC, "a")).isEmpty();
    }

    @Test
    void reportsADuplicateWhenItIsStored() {
        sendAndCommit("a");
        advance(Duration.ofSeconds(1));
        sendAndCommit("a");
        advance(Duration.ofSeconds(1));

        assertThat(queue.events(DelayQueueEvent.Sent.class))
                .extracting(DelayQueueEvent.Sent::outcome)
                .containsExactly(SendOutcome.STORED, SendOutcome.DUPLICATE);
        assertThat(tables.rows).isEmpty();
    }

    @Test
    void storesAtOnceOutsideOfATransaction() {
        assertThat(queue.send("a", HOUR).outcome()).isEqualTo(SendOutcome.STORED);
        assertThat(outbox.takeCalls()).doesNotContain("write");
    }

    @Test
    void returnsTheResultsOfAMixedListInItsOrder() {
        transactions.begin();
        List<SendResult> results = template.sendAll(List.of(
                OutgoingMessage.of(TOPIC, "x").id("a").after(HOUR),
                OutgoingMessage.of(TOPIC, "x").id("b").after(HOUR).phase(SendPhase.IMMEDIATELY),
                OutgoingMessage.of(TOPIC, "x").id("c").after(HOUR).phase(SendPhase.BEFORE_COMMIT),
                OutgoingMessage.of(TOPIC, "x").id("d").after(HOUR)));

        assertThat(results).extracting(SendResult::id).containsExactly("a", "b", "c", "d");
        assertThat(results).extracting(SendResult::outcome).containsExactly(null, SendOutcome.STORED, null, null);
        transactions.commit();
        advance(Duration.ofSeconds(1));
        assertThat(queue.stats().waiting()).isEqualTo(4);
    }

    @Test
    void refusesATooLargeMessageAtTheCall() {
        transactions.begin();

        assertThatThrownBy(() -> template.send(TOPIC, "x".repeat(2 << 20)))
                .isInstanceOf(MessageTooLargeException.class);
        transactions.commit();
        assertThat(tables.rows).isEmpty();
    }

    @Test
    void throwsIfTheDatabaseFailsAtTheSend() {
        transactions.begin();
        outbox.away();

        assertThatThrownBy(() -> queue.send("a", HOUR)).isInstanceOf(SendOutboxException.class);
    }

    private static List<OutgoingMessage> mixedList() {
        return List.of(
                OutgoingMessage.of(TOPIC, "x").id("a").after(HOUR),
                OutgoingMessage.of(TOPIC, "x").id("b").after(HOUR).phase(SendPhase.BEFORE_COMMIT),
                OutgoingMessage.of(TOPIC, "x").id("c").after(HOUR).phase(SendPhase.IMMEDIATELY));
    }

    @Test
    void sendsNothingOfAMixedListIfTheDatabaseFails() {
        transactions.begin();
        outbox.away();

        assertThatThrownBy(() -> template.sendAll(mixedList())).isInstanceOf(SendOutboxException.class);
        outbox.heal();
        transactions.commit();
        advance(Duration.ofSeconds(1));
        assertThat(queue.stats().counters().sent()).isZero();
    }

    @Test
    void keepsNothingOfAMixedListIfTheStoreFails() {
        queue.send("known", HOUR);
        transactions.begin();
        queue.send("before", HOUR);
        queue.line.away();

        assertThatThrownBy(() -> template.sendAll(mixedList()))
                .isInstanceOfSatisfying(BatchSendException.class, failed -> {
                    assertThat(failed.results()).extracting(SendResult::id).containsExactly("a", "b", "c");
                    assertThat(failed.results()).allMatch(SendResult::isPending);
                    assertThat(failed.unknown()).extracting(SendResult::id).containsExactly("c");
                });
        queue.line.heal();
        assertThat(template.cancel(TOPIC, "a")).isEqualTo(ChangeOutcome.GONE);
        transactions.commit();
        advance(Duration.ofSeconds(1));
        assertThat(isStored("before")).isTrue();
        assertThat(queue.stats().counters().sent()).isEqualTo(2);
        assertThat(tables.rows).isEmpty();
    }

    @Test
    void keepsNothingOfALongMixedListIfAMessageIsTooLarge() {
        List<OutgoingMessage> list = new ArrayList<>();
        IntStream.range(0, 250)
                .forEach(
                        i -> list.add(OutgoingMessage.of(TOPIC, "x").id("m" + i).after(HOUR)));
        list.add(OutgoingMessage.of(TOPIC, "x".repeat(2 << 20)).phase(SendPhase.BEFORE_COMMIT));
        transactions.begin();

        assertThatThrownBy(() -> template.sendAll(list)).isInstanceOf(MessageTooLargeException.class);
        transactions.commit();
        assertThat(tables.rows).isEmpty();
    }

    /** The transaction decides. */
    @Test
    void throwsWhatTheStoreThrewIfTheRowsOfAMixedListCannotBeTakenBack() {
        transactions.begin();
        queue.line.away();
        outbox.before = call -> {
            if (call.equals("withdraw")) {
                throw new SendOutboxException("The database does not answer.", null);
            }
        };

        assertThatThrownBy(() -> template.sendAll(mixedList()))
                .isNotInstanceOf(SendOutboxException.class)
                .satisfies(failed ->
                        assertThat(failed.getSuppressed()).singleElement().isInstanceOf(SendOutboxException.class));
        transactions.rollback();
    }

    @Test
    void refusesToSendWithoutAnOutbox() {
        TestQueue without = new TestQueue(builder -> builder.transactions(transactions));
        transactions.begin();

        assertThatThrownBy(() -> without.engine
                        .template()
                        .send(OutgoingMessage.of(TOPIC, "x").phase(SendPhase.OUTBOX)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("delay-queue.outbox.enabled");
        transactions.rollback();
        without.engine.close();
    }

    @Test
    void storesLargeMessagesInPartsAndKeepsTheWaitForReplicas() {
        queue.memory.replicas(2);
        transactions.begin();
        for (int i = 0; i < 5; i++) {
            template.send(OutgoingMessage.of(TOPIC, "x".repeat(600_000))
                    .id("large" + i)
                    .after(HOUR)
                    .waitForReplicas(1));
        }
        transactions.commit();
        queue.line.takeCalls();
        outbox.takeCalls();
        advance(Duration.ofSeconds(1));

        assertThat(queue.stats().waiting()).isEqualTo(5);
        assertThat(queue.line.takeCalls()).filteredOn("sendReplicated"::equals).hasSize(5);
        assertThat(outbox.takeCalls()).filteredOn("frames"::equals).hasSize(5);
    }

    @Test
    void keepsItsLeaseAtAStopIfItCouldNotDeleteWhatItStored() {
        outbox.before = call -> {
            if (call.equals("delete")) {
                throw new SendOutboxException("The database does not answer.", null);
            }
        };
        sendAndCommit("a");
        advance(Duration.ofSeconds(1));
        outbox.takeCalls();
        relay(queue.engine).beginStop();
        advance(Duration.ofSeconds(1));
        assertThat(tables.leases).hasSize(1);

        outbox.heal();
        relay(queue.engine).start();
        advance(Duration.ofSeconds(1));
        relay(queue.engine).beginStop();
        advance(Duration.ofSeconds(1));
        assertThat(tables.rows).isEmpty();
        assertThat(tables.leases).isEmpty();
    }

    @Test
    void deletesWhatItHasStoredBeforeItReadsAgain() {
        outbox.before = call -> {
            if (call.equals("delete")) {
                throw new SendOutboxException("The database does not answer.", null);
            }
        };
        sendAndCommit("a");
        advance(Duration.ofMillis(1));
        outbox.heal();
        outbox.takeCalls();
        advance(Duration.ofMillis(1100));

        assertThat(outbox.takeCalls()).startsWith("delete", "rows");
    }

    /** After a fail-over of the database to a replica that lacks the last commits, their numbers are given again. */
    @Test
    void storesWhatHasTheNumberOfALostRowThatItCouldNotDelete() {
        outbox.before = call -> {
            if (call.equals("delete")) {
                throw new SendOutboxException("The database does not answer.", null);
            }
        };
        sendAndCommit("lost");
        advance(Duration.ofMillis(1));
        tables.failOverWithoutTheRows();
        outbox.heal();

        sendAndCommit("later");
        advance(Duration.ofSeconds(3));

        assertThat(isStored("later")).isTrue();
        assertThat(tables.rows).isEmpty();
    }

    @Test
    void storesAndLogsOnceThatTheRowsCannotBeCounted() {
        outbox.before = call -> {
            if (call.equals("backlog")) {
                throw new SendOutboxException("canceled", null);
            }
        };
        advance(Duration.ofMinutes(1));
        sendAndCommit("a");
        advance(Duration.ofMinutes(1));

        assertThat(isStored("a")).isTrue();
        assertThat(logged(Level.WARN))
                .singleElement()
                .asString()
                .startsWith("The rows of the outbox cannot be counted,");
    }

    @Test
    void forgetsTheCountWhileTheDatabaseIsAway() {
        assertThat(relay(queue.engine).stats()).isNotNull();

        outbox.away();
        advance(Duration.ofMinutes(1));
        assertThat(relay(queue.engine).stats()).isNull();
        assertThat(logged(Level.WARN)).singleElement().asString().startsWith("The outbox cannot be read,");

        outbox.heal();
        advance(Duration.ofSeconds(11));
        assertThat(relay(queue.engine).stats()).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"renew", "rows"})
    void countsWhatWaitsWhileTheRelayFails(String failing) {
        outbox.before = call -> {
            if (call.equals(failing)) {
                throw new IllegalStateException("a defect");
            }
        };
        advance(LEASE);
        sendAndCommit("a");
        advance(Duration.ofMinutes(2));

        assertThat(relay(queue.engine).stats()).isEqualTo(new OutboxAdmin.Stats(1, Duration.ofMinutes(2), 0));
    }

    @Test
    void forgetsTheCountIfCountingHasADefect() {
        outbox.before = call -> {
            if (call.equals("backlog")) {
                throw new IllegalStateException("a defect");
            }
        };
        sendAndCommit("a");
        advance(Duration.ofMinutes(1));

        assertThat(relay(queue.engine).stats()).isNull();
        assertThat(logged(Level.WARN)).singleElement().asString().endsWith("IllegalStateException: a defect");
        assertThat(logged(Level.ERROR)).isEmpty();
    }

    @Test
    void logsOnceThatTheOwnersCannotBeRead() {
        outbox.before = call -> {
            if (call.equals("owners")) {
                throw new SendOutboxException("canceled", null);
            }
        };
        advance(LEASE.multipliedBy(4));

        assertThat(logged(Level.WARN))
                .singleElement()
                .asString()
                .startsWith("The owners of rows in the outbox cannot be read,");
    }

    @Test
    void storesPagesOfItsOwnersInTurn() {
        holdTheLeaseOfADeadProcessThatHasLeft("left");
        sendAndCommit(IntStream.range(0, 250).mapToObj(i -> "m" + i).toArray(String[]::new));
        List<Boolean> lastIsStored = new ArrayList<>();
        outbox.after = call -> {
            if (call.equals("delete") && isStored("left")) {
                lastIsStored.add(isStored("m249"));
            }
        };
        queue.line.heal();
        advance(LEASE.multipliedBy(2));

        assertThat(lastIsStored).startsWith(false).endsWith(true);
        assertThat(tables.rows).isEmpty();
    }

    @Test
    void givesUpNoLeaseBeforeItHasReadThatThereAreNoRows() {
        holdTheLeaseOfADeadProcessThatHasLeft("left");
        sendAndCommit("own");
        List<Boolean> givenUpWithRows = new ArrayList<>();
        outbox.before = call -> {
            if (call.equals("release")) {
                givenUpWithRows.add(tables.ids().contains("left"));
            }
        };
        queue.line.heal();
        queue.line.plan(method -> {
            if (method.equals("send")) {
                queue.time.pass(LEASE.dividedBy(2));
            }
            return Fault.NONE;
        });
        advance(LEASE.multipliedBy(4));

        assertThat(isStored("left")).isTrue();
        assertThat(givenUpWithRows).isNotEmpty().doesNotContain(true);
    }

    /** The store is away afterwards. */
    private void holdTheLeaseOfADeadProcessThatHasLeft(String id) {
        queue.line.away();
        sendAndCommit(id);
        tables.rows.replaceAll((number, row) -> new InMemorySendOutbox.Stored("dead", row.written()));
        advance(LEASE);
        assertThat(tables.leases).containsKey("dead");
    }
}
