package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.BatchSendException;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.store.SendOutbox.Send;
import io.easykit.delayqueue.store.SendOutbox.Written;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.Transactions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends of the phase {@link SendPhase#OUTBOX}: each is written to the outbox by its transaction, at the call. The row decides:
 * a rollback, also to a savepoint, removes it, and no memory of this process is needed after the commit. The store is not
 * called, so the shard of a generated id follows from the shard count as far as it is known.
 */
final class OutboxSends {

    private final @Nullable OutboxRelay relay;
    private final OutboxCommits commits;
    private final MessageEncoder encoder;
    private final Transactions transactions;
    private final SendPhase phase;

    /**
     * @param relay of the outbox; null without one
     * @param phase of messages without one of their own
     */
    OutboxSends(@Nullable OutboxRelay relay, MessageEncoder encoder, Transactions transactions, SendPhase phase) {
        this.relay = relay;
        this.commits = relay == null ? new OutboxCommits() : relay.commits();
        this.encoder = encoder;
        this.transactions = transactions;
        this.phase = phase;
    }

    /** @param others sends what is not for the outbox: other phases, and all outside of transactions */
    List<SendResult> sendAll(List<OutgoingMessage> messages, Function<List<OutgoingMessage>, List<SendResult>> others) {
        if (messages.stream().noneMatch(this::isForOutbox)) {
            return others.apply(messages);
        }
        Participation transaction =
                transactions.<Participation>join(this, Participation::new).orElse(null);
        if (transaction == null || transaction.committed) {
            return others.apply(messages);
        }
        OutboxRelay present = requireRelay();
        List<Written> rows = messages.stream()
                .filter(this::isForOutbox)
                .map(message -> row(message, present.clock()))
                .toList();
        List<OutgoingMessage> rest =
                messages.stream().filter(message -> !isForOutbox(message)).toList();
        // The rows first: unlike messages that are stored or kept, they can be taken back.
        if (!write(present, transaction, rows)) {
            return others.apply(messages);
        }
        try {
            return inOrder(messages, rows, rest.isEmpty() ? List.of() : others.apply(rest));
        } catch (BatchSendException failed) {
            BatchSendException ofAll = ofAll(failed, messages, rows);
            withdraw(present, rows, ofAll);
            throw ofAll;
        } catch (RuntimeException | Error failed) {
            withdraw(present, rows, failed);
            throw failed;
        }
    }

    /** The failure of the other messages, with results for all. */
    private BatchSendException ofAll(BatchSendException failed, List<OutgoingMessage> messages, List<Written> rows) {
        List<SendResult> results = inOrder(messages, rows, failed.results());
        DelayQueueException cause = (DelayQueueException) Objects.requireNonNull(failed.getCause());
        return new BatchSendException(results, failed.unknown(), cause);
    }

    /** Results of the rows and of the other messages, in the order of the call. */
    private List<SendResult> inOrder(List<OutgoingMessage> messages, List<Written> rows, List<SendResult> others) {
        Iterator<SendResult> written = rows.stream().map(OutboxSends::pending).iterator();
        Iterator<SendResult> sent = others.iterator();
        return messages.stream()
                .map(message -> isForOutbox(message) ? written.next() : sent.next())
                .toList();
    }

    /** Removes the rows of a list whose rest has failed. */
    private static void withdraw(OutboxRelay relay, List<Written> rows, Throwable failed) {
        try {
            for (List<Written> some : Batches.of(rows)) {
                List<Long> nonces = some.stream().map(row -> row.send().nonce()).toList();
                relay.outbox().withdraw(relay.owner(), nonces);
            }
        } catch (RuntimeException rowsRemain) {
            failed.addSuppressed(rowsRemain);
        }
    }

    /** Removes messages that the present transaction has written; false if it has written none with this id. */
    boolean withdraw(String topic, String id) {
        if (relay == null) {
            return false;
        }
        List<Long> written = transactions
                .<Participation>join(this, Participation::new)
                .map(transaction -> transaction.written.getOrDefault(Map.entry(topic, id), List.of()))
                .orElse(List.of());
        return !written.isEmpty() && relay.outbox().withdraw(relay.owner(), written) > 0;
    }

    private boolean isForOutbox(OutgoingMessage message) {
        SendPhase own = message.phase();
        return (own == null ? phase : own) == SendPhase.OUTBOX;
    }

    private Written row(OutgoingMessage message, OutboxClock clock) {
        PreparedMessage prepared = encoder.prepareWithoutStore(message);
        DueTime due = message.due();
        long now = clock.millis();
        // A clock that was read rounds down, so a millisecond more keeps a delay from ending early.
        long dueAt = !due.relative() ? due.millis() : due.millis() == 0 ? now : now + 1 + due.millis();
        return new Written(
                new Send(
                        message.topic(),
                        prepared.id(),
                        prepared.nonce(),
                        dueAt,
                        due.relative(),
                        now,
                        prepared.replicaWait()),
                prepared.message().frame());
    }

    private OutboxRelay requireRelay() {
        if (relay == null) {
            throw new IllegalStateException(
                    "A send with the phase OUTBOX, but this application has no outbox, and nothing was"
                            + " sent. Set delay-queue.outbox.enabled to true, which needs a DataSource, or choose another phase.");
        }
        return relay;
    }

    private boolean write(OutboxRelay relay, Participation transaction, List<Written> rows) {
        transaction.commit.writes(transactions.isCommitting());
        if (!relay.outbox().write(relay.owner(), rows)) {
            return false;
        }
        rows.forEach(row -> transaction
                .written
                .computeIfAbsent(Map.entry(row.send().topic(), row.send().id()), key -> new ArrayList<>())
                .add(row.send().nonce()));
        return true;
    }

    private static SendResult pending(Written row) {
        return new SendResult(row.send().topic(), row.send().id(), null);
    }

    /** The sends of one transaction, or of a part of it: participations of one transaction share what was written. */
    private final class Participation implements Transactions.Participant {

        /** Nonces by topic and id. Those that were withdrawn, or rolled back to a savepoint, have no row. */
        private final Map<Map.Entry<String, String>, List<Long>> written;

        private final OutboxCommits.Transaction commit = commits.new Transaction();
        private boolean committed;

        Participation(Optional<Participation> earlier) {
            written = earlier.map(participation -> participation.written).orElseGet(HashMap::new);
        }

        @Override
        public void beforeCommit() {
            commit.commits();
        }

        @Override
        public void afterCommit() {
            committed = true;
            commit.committed();
            if (relay != null) {
                relay.wake();
            }
        }

        @Override
        public void afterRollback() {
            commit.rolledBack();
        }

        /** If it has committed, its rows are visible. */
        @Override
        public void afterUnknownOutcome() {
            afterCommit();
        }
    }
}
