package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order in which messages of the outbox are stored, while others are left out. */
class OutboxOrderTests {

    private static final String REFUSED = "refused";
    private static final String SHARDED = "sharded";
    private static final int SHARDS = 3;
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration MILLI = Duration.ofMillis(1);

    private final TestTransactions transactions = new TestTransactions();
    private final InMemorySendOutbox.Tables tables = new InMemorySendOutbox.Tables(() -> 0);
    private final InMemorySendOutbox outbox = new InMemorySendOutbox(tables, transactions);
    private final TestQueue queue = new TestQueue(builder -> builder.transactions(transactions)
            .sendPhase(SendPhase.OUTBOX)
            .shards(topic -> topic.equals(SHARDED) ? SHARDS : 1)
            .outbox(outbox, Duration.ofSeconds(30)));
    private final DelayQueueTemplate template = queue.engine.template();
    private final OutboxRelay relay = (OutboxRelay) Objects.requireNonNull(queue.engine.outbox());

    @BeforeEach
    void start() {
        relay.start();
        queue.time.advance(MILLI);
    }

    @AfterEach
    void close() {
        queue.engine.close();
    }

    private void sendAndCommit(String id) {
        transactions.begin();
        queue.send(id, HOUR);
        transactions.commit();
    }

    /** From then on rows are left out. */
    private void leaveOutATopic() {
        queue.line.planByShard(shard -> shard.topic().equals(REFUSED) ? Fault.REFUSED : Fault.NONE);
        transactions.begin();
        template.send(OutgoingMessage.of(REFUSED, "x").after(HOUR));
        transactions.commit();
        queue.time.advance(MILLI);
    }

    private List<String> stored() {
        return queue.events(DelayQueueEvent.Sent.class).stream()
                .map(DelayQueueEvent.Sent::id)
                .toList();
    }

    @Test
    void aLateCommitComesBeforeTransactionsThatBeginAfterIt() {
        leaveOutATopic();
        transactions.begin();
        queue.send("one", HOUR);
        TestTransactions.Suspended first = transactions.suspend();
        sendAndCommit("two");
        queue.time.advance(MILLI);
        transactions.resume(first);
        transactions.commit();
        sendAndCommit("three");
        queue.time.advance(MILLI);

        assertThat(stored()).containsExactly("two", "one", "three");
    }

    /** Callbacks of the application may send as well. */
    @Test
    void aCommitCountsBeforeItsCallbacksHaveRun() {
        leaveOutATopic();
        transactions.begin();
        outbox.withdraw(relay.owner(), List.of()); // so its rows are visible before the other callbacks
        queue.send("one", HOUR);
        TestTransactions.Suspended first = transactions.suspend();
        sendAndCommit("two");
        queue.time.advance(MILLI);
        transactions.resume(first);
        transactions.beginCommit();
        transactions.finishCommit(() -> {
            if (!stored().contains("three")) {
                sendAndCommit("three");
                queue.time.advance(MILLI);
            }
        });
        queue.time.advance(MILLI);

        assertThat(stored()).containsExactly("two", "one", "three");
    }

    /** Such a transaction joins too late for the call before the commit. */
    @Test
    void aCommitCountsBeforeItsCallbacksHaveRunIfItSendsInACallbackBeforeTheCommit() {
        leaveOutATopic();
        transactions.begin();
        outbox.withdraw(relay.owner(), List.of());
        transactions.beginCommit(() -> queue.send("one", HOUR));
        TestTransactions.Suspended first = transactions.suspend();
        sendAndCommit("two");
        queue.time.advance(MILLI);
        transactions.resume(first);
        transactions.finishCommit(() -> {
            if (!stored().contains("three")) {
                sendAndCommit("three");
                queue.time.advance(MILLI);
            }
        });
        queue.time.advance(MILLI);

        assertThat(stored()).containsExactly("two", "one", "three");
    }

    @Test
    void aCommitDuringAPassOfManyRowsComesBeforeTransactionsThatBeginAfterIt() {
        transactions.begin();
        queue.send("one", HOUR);
        TestTransactions.Suspended first = transactions.suspend();
        sendManyAndCommit(TOPIC, 150);
        outbox.after = call -> {
            if (call.equals("delete")) {
                outbox.heal();
                transactions.resume(first);
                transactions.commit();
                sendAndCommit("three");
            }
        };
        queue.time.advance(MILLI);

        assertThat(stored()).hasSize(152).containsSubsequence("one", "three");
    }

    /** The query may wait for a connection, which this commit gives back. */
    @Test
    void aCommitJustBeforeTheQueryOfALaterPageComesBeforeTransactionsThatBeginAfterIt() {
        transactions.begin();
        queue.send("one", HOUR);
        TestTransactions.Suspended first = transactions.suspend();
        sendManyAndCommit(TOPIC, 150);
        beforeTheSecondPage(() -> {
            transactions.resume(first);
            transactions.commit();
            sendAndCommit("three");
        });
        queue.time.advance(MILLI);

        assertThat(stored()).hasSize(152).containsSubsequence("one", "three");
    }

    /** Another thread may send as soon as the database has committed. */
    @Test
    void aCommitWhoseCallbacksHaveNotRunAtALaterPageComesBeforeTransactionsThatBeginAfterIt() {
        TestTransactions.Suspended first = openTransactionThatIsVisibleFirst("one");
        sendManyAndCommit(TOPIC, 150);
        beforeTheSecondPage(() -> {
            transactions.resume(first);
            transactions.beginCommit();
            commitWithoutOtherCallbacks();
            sendAndCommit("three");
        });
        queue.time.advance(MILLI);

        assertThat(stored()).hasSize(152).containsSubsequence("one", "three");
    }

    /** Its rows may be visible at each page. */
    @Test
    void readsNoPageTwiceBesideCommitsThatTakeLong() {
        TestTransactions.Suspended first = openTransactionThatIsVisibleFirst("one");
        sendManyAndCommit(TOPIC, 1_000);
        beginCommit(first);
        int[] commits = {0};
        outbox.before = call -> {
            if (call.equals("rows")) {
                transactions.begin();
                queue.send("c" + commits[0]++, HOUR);
                transactions.beginCommit();
                transactions.leave();
            }
        };
        outbox.takeCalls();
        queue.time.advance(MILLI);

        assertThat(stored()).hasSize(1_000);
        assertThat(outbox.takeCalls()).filteredOn("rows"::equals).hasSize(11);
    }

    /** The rows that are left out fill a page. */
    @Test
    void aCommitThatTakesLongHoldsUpNoPassWhileRowsAreLeftOut() {
        queue.line.planByShard(shard -> shard.equals(new ShardKey(SHARDED, 0)) ? Fault.REJECTED : Fault.NONE);
        TestTransactions.Suspended first = openTransactionThatIsVisibleFirst("one");
        sendManyAndCommit(SHARDED, 600);
        beginCommit(first);
        queue.time.advance(MILLI);

        assertThat(tables.ids()).hasSizeGreaterThan(100).allMatch(id -> MessageIds.shardOf(id, SHARDS, SHARDS) == 0);
        assertThat(stored()).hasSize(600 - tables.rows.size());
    }

    /** The database is the first of its participants. */
    private TestTransactions.Suspended openTransactionThatIsVisibleFirst(String id) {
        transactions.begin();
        outbox.withdraw(relay.owner(), List.of());
        queue.send(id, HOUR);
        return transactions.suspend();
    }

    private void beforeTheSecondPage(Runnable step) {
        int[] pages = {0};
        outbox.before = call -> {
            if (call.equals("rows") && ++pages[0] == 2) {
                outbox.heal();
                step.run();
            }
        };
    }

    private void sendManyAndCommit(String topic, int messages) {
        transactions.begin();
        IntStream.range(0, messages)
                .forEach(i ->
                        template.send(OutgoingMessage.of(topic, "x").id("m" + i).after(HOUR)));
        transactions.commit();
    }

    private void beginCommit(TestTransactions.Suspended transaction) {
        transactions.resume(transaction);
        transactions.beginCommit();
        transactions.leave();
    }

    private void commitWithoutOtherCallbacks() {
        assertThatThrownBy(() -> transactions.finishCommit(() -> {
                    throw new IllegalStateException("The others run later");
                }))
                .hasMessage("The others run later");
    }

    /** Shards are away in turn, transactions overlap, and the database fails now and then. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void transactionsThatFollowEachOtherKeepTheirOrderInEachShard(int seed) {
        Random random = new Random(seed);
        Set<ShardKey> away = new HashSet<>();
        queue.line.planByShard(shard -> away.contains(shard) ? Fault.REJECTED : Fault.NONE);
        List<Sender> open = new ArrayList<>();
        List<Sender> committed = new ArrayList<>();
        int[] moment = new int[1];
        for (int step = 0; step < 600; step++) {
            switch (random.nextInt(9)) {
                case 0 -> toggle(away, new ShardKey(SHARDED, random.nextInt(SHARDS)));
                case 1 -> queue.time.advance(Duration.ofMillis(random.nextInt(1_500)));
                case 2, 3 -> queue.time.advance(MILLI);
                case 4 -> failOnce(random.nextBoolean() ? "rows" : "delete", random.nextInt(5));
                case 5, 6 -> {
                    Sender sender = new Sender(moment[0]++);
                    int sends = random.nextInt(10) == 0 ? 150 : 1 + random.nextInt(3);
                    IntStream.range(0, sends).forEach(i -> sender.send("s" + moment[0] + "-" + i));
                    open.add(sender);
                }
                default -> {
                    if (!open.isEmpty()) {
                        Sender sender = open.remove(random.nextInt(open.size()));
                        sender.commit(moment[0]++);
                        committed.add(sender);
                    }
                }
            }
        }
        outbox.heal();
        away.clear();
        queue.time.advance(Duration.ofMinutes(1));

        assertThat(tables.rows).isEmpty();
        Map<String, Integer> places = new HashMap<>();
        List<String> stored = stored();
        IntStream.range(0, stored.size()).forEach(i -> places.putIfAbsent(stored.get(i), i));
        for (int shard = 0; shard < SHARDS; shard++) {
            for (Sender earlier : committed) {
                List<Integer> before = earlier.places(shard, places);
                assertThat(before).isSorted();
                for (Sender later : committed) {
                    List<Integer> after = earlier.end < later.begin ? later.places(shard, places) : List.of();
                    if (!before.isEmpty() && !after.isEmpty()) {
                        assertThat(before.get(before.size() - 1))
                                .as("%s before %s", earlier.ids, later.ids)
                                .isLessThan(after.get(0));
                    }
                }
            }
        }
    }

    private static void toggle(Set<ShardKey> away, ShardKey shard) {
        if (!away.remove(shard)) {
            away.add(shard);
        }
    }

    private void failOnce(String call, int calls) {
        int[] left = {calls};
        outbox.before = each -> {
            if (each.equals(call) && left[0]-- == 0) {
                outbox.heal();
                throw new SendOutboxException("The database does not answer.", null);
            }
        };
    }

    /** A transaction. */
    private final class Sender {

        private final int begin;
        private final List<String> ids = new ArrayList<>();
        private TestTransactions.Suspended suspended;
        private int end;

        Sender(int begin) {
            this.begin = begin;
            transactions.begin();
            this.suspended = transactions.suspend();
        }

        void send(String id) {
            ids.add(id);
            transactions.resume(suspended);
            template.send(OutgoingMessage.of(SHARDED, "x").after(HOUR).id(id));
            suspended = transactions.suspend();
        }

        void commit(int moment) {
            end = moment;
            transactions.resume(suspended);
            transactions.commit();
        }

        List<Integer> places(int shard, Map<String, Integer> places) {
            return ids.stream()
                    .filter(id -> MessageIds.shardOf(id, SHARDS, SHARDS) == shard)
                    .map(id -> Objects.requireNonNull(places.get(id), id))
                    .toList();
        }
    }
}
