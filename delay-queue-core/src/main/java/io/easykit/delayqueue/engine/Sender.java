package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.NotReplicatedException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.DurationText;
import io.easykit.delayqueue.support.Transactions;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Sends messages: at once, or at the right moment of a transaction. */
final class Sender {

    private final MessageEncoder encoder;
    private final PreparedMessageStore storage;
    private final CancelsAfterCommit cancelsAfterCommit;
    private final RolledBackSends rolledBack;
    private final LoopExecutor loops;
    private final Transactions transactions;
    private final SendPhase phase;
    private final Duration commandTimeout;

    Sender(
            MessageEncoder encoder,
            PreparedMessageStore storage,
            CancelsAfterCommit cancelsAfterCommit,
            RolledBackSends rolledBack,
            LoopExecutor loops,
            Settings settings) {
        this.encoder = encoder;
        this.storage = storage;
        this.cancelsAfterCommit = cancelsAfterCommit;
        this.rolledBack = rolledBack;
        this.loops = loops;
        this.transactions = settings.transactions();
        this.phase = settings.phase();
        this.commandTimeout = settings.commandTimeout();
    }

    /**
     * Settings of the application.
     *
     * @param transactions   that sends join
     * @param phase          of messages without one of their own
     * @param commandTimeout maximum time of the store to wait for a reply
     */
    record Settings(Transactions transactions, SendPhase phase, Duration commandTimeout) {
        Settings {
            if (commandTimeout.isZero() || commandTimeout.isNegative()) {
                throw new IllegalArgumentException("A command timeout of " + DurationText.of(commandTimeout)
                        + " is not possible: give more than zero.");
            }
        }
    }

    SendResult send(OutgoingMessage message) {
        SendRetry retry = retry(List.of(message));
        PreparedMessage prepared = retry.repeat(() -> encoder.prepare(message));
        SendPhase wanted = phase(message);
        Participation transaction = transaction(wanted);
        if (transaction != null) {
            transaction.add(wanted, prepared);
        }
        if (transaction == null || !transaction.keeps(wanted)) {
            storage.store(List.of(prepared), retry);
        }
        return prepared.result();
    }

    /**
     * Inside a transaction the list is kept whole or not at all: everything that can be refused is refused before the first
     * message is kept, and messages for now are stored before those for later are kept.
     */
    List<SendResult> sendAll(List<OutgoingMessage> messages) {
        Objects.requireNonNull(messages, "sendAll(null): give a list, which may be empty.");
        messages.forEach(
                message -> Objects.requireNonNull(message, "sendAll with null in its list: nothing was sent."));
        SendRetry retry = retry(messages);
        List<PreparedMessage> all = retry.repeat(() -> encoder.prepareAll(messages));
        List<PreparedMessage> now = new ArrayList<>();
        List<Runnable> later = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            PreparedMessage prepared = all.get(i);
            SendPhase wanted = phase(messages.get(i));
            Participation transaction = transaction(wanted);
            if (transaction != null && transaction.keeps(wanted)) {
                later.add(() -> transaction.add(wanted, prepared));
            } else {
                now.add(prepared);
                if (transaction != null) {
                    transaction.add(wanted, prepared);
                }
            }
        }
        storage.storeMany(now, all, retry, new OutageTimeLimit(loops::nanos));
        later.forEach(Runnable::run);
        return results(all);
    }

    /** Cancels after the commit, or at once where there is no transaction. A failure is a warning. */
    void cancelAfterCommit(String topic, String id) {
        Map.Entry<String, String> message = Map.entry(topic, id);
        boolean isKept = transactions
                .<Participation>join(this, Participation::new)
                .map(participation -> participation.keepsCancel(message))
                .orElse(false);
        if (!isKept) {
            cancelsAfterCommit.cancel(List.of(message), new OutageTimeLimit(loops::nanos));
        }
    }

    private SendPhase phase(OutgoingMessage message) {
        SendPhase own = message.phase();
        return own == null ? phase : own;
    }

    private @Nullable Participation transaction(SendPhase wanted) {
        return wanted == SendPhase.IMMEDIATELY || wanted == SendPhase.OUTBOX
                ? null
                : transactions.<Participation>join(this, Participation::new).orElse(null);
    }

    /** For one call of the application: the longest send timeout of its messages holds for all of them. */
    private SendRetry retry(List<OutgoingMessage> messages) {
        return new SendRetry(loops, longest(messages.stream().map(encoder::timeout)), commandTimeout);
    }

    private SendRetry retryPrepared(List<PreparedMessage> messages) {
        return new SendRetry(loops, longest(messages.stream().map(PreparedMessage::sendTimeout)), commandTimeout);
    }

    private static Duration longest(Stream<Duration> timeouts) {
        return timeouts.max(Comparator.naturalOrder()).orElse(Duration.ZERO);
    }

    private static List<SendResult> results(List<PreparedMessage> messages) {
        return messages.stream().map(PreparedMessage::result).toList();
    }

    /** For sends whose callers have no result with an outcome. */
    private static void requireReplicated(List<PreparedMessage> messages) {
        List<SendResult> missing =
                results(messages).stream().filter(SendResult::isUnderReplicated).toList();
        if (!missing.isEmpty()) {
            throw new NotReplicatedException(missing);
        }
    }

    private static List<PreparedMessage> firstOfEachKey(List<PreparedMessage> messages) {
        Map<Map.Entry<ShardKey, String>, PreparedMessage> first = new LinkedHashMap<>();
        messages.forEach(message -> first.merge(message.key(), message, PreparedMessage::alsoFor));
        return List.copyOf(first.values());
    }

    private static List<PreparedMessage> without(List<PreparedMessage> messages, List<PreparedMessage> others) {
        Set<PreparedMessage> taken = new HashSet<>(others);
        return messages.stream().filter(message -> !taken.contains(message)).toList();
    }

    /** Participations of one transaction: it has several if it has savepoints. */
    private final class WholeTransaction {

        /**
         * Messages that it has stored at its commit, or may have. Another one of the same key is not stored. A send after
         * beforeCommit is stored at once, and is not compared with them.
         */
        private final Map<Map.Entry<ShardKey, String>, PreparedMessage> stored = new HashMap<>();

        /** Topic and id of each message to cancel, from the participations that are committed. */
        private final List<Map.Entry<String, String>> cancels = new ArrayList<>();

        private final List<Participation> openParticipations = new ArrayList<>();
        private OutageTimeLimit outageLimit = new OutageTimeLimit(loops::nanos);

        /**
         * Of several messages with one key only the first is stored, also if it has run before the call of the last. It waits for
         * the replicas of all. The others are duplicates, even if the first fails: it is the one to send again.
         */
        void storeOnce(List<PreparedMessage> messages, Consumer<List<PreparedMessage>> store) {
            List<PreparedMessage> notStored = messages.stream()
                    .filter(message -> !stored.containsKey(message.key()))
                    .toList();
            List<PreparedMessage> first = firstOfEachKey(notStored);
            waitForOthers(first);
            without(messages, first).forEach(message -> storage.leaveOut(message, stored.get(message.key())));
            try {
                store.accept(first);
            } finally {
                addStored(first);
            }
        }

        private void waitForOthers(List<PreparedMessage> messages) {
            Map<Map.Entry<ShardKey, String>, PreparedMessage> waiting = new HashMap<>();
            messages.forEach(message -> waiting.put(message.key(), message));
            openParticipations.stream()
                    .flatMap(Participation::messages)
                    .forEach(other -> waiting.computeIfPresent(other.key(), (key, message) -> message.alsoFor(other)));
        }

        void addStored(List<PreparedMessage> messages) {
            messages.stream()
                    .filter(PreparedMessage::mayBeStored)
                    .forEach(message -> stored.putIfAbsent(message.key(), message));
        }

        /** Cancels come after all sends. */
        void end(Participation participation) {
            openParticipations.remove(participation);
            if (openParticipations.isEmpty()) {
                List<Map.Entry<String, String>> all = List.copyOf(cancels);
                OutageTimeLimit last = outageLimit;
                cancels.clear();
                outageLimit = new OutageTimeLimit(loops::nanos);
                cancelsAfterCommit.cancel(all, last);
            }
        }
    }

    /** The sends of one transaction, or of the part of it up to or from a savepoint. */
    private final class Participation implements Transactions.Participant {

        private final List<PreparedMessage> before = new ArrayList<>();
        private final List<PreparedMessage> after = new ArrayList<>();
        private final List<Map.Entry<String, String>> cancels = new ArrayList<>();
        private final WholeTransaction whole;
        private boolean storedBefore;
        private boolean committed;

        Participation(Optional<Participation> earlier) {
            this.whole = earlier.map(participation -> participation.whole).orElseGet(WholeTransaction::new);
            whole.openParticipations.add(this);
        }

        private Stream<PreparedMessage> messages() {
            return Stream.concat(before.stream(), after.stream());
        }

        /** Whether messages of this phase are still kept for later; else their moment has passed, and they are stored at once. */
        boolean keeps(SendPhase wanted) {
            return wanted == SendPhase.BEFORE_COMMIT ? !storedBefore && !committed : !committed;
        }

        /** Takes a message for later, or one that is stored at once into the list of those to undo. */
        void add(SendPhase wanted, PreparedMessage message) {
            if (!committed) {
                (wanted == SendPhase.BEFORE_COMMIT ? before : after).add(message);
                message.promiseId();
            }
        }

        /** Keeps a cancel for the end of the transaction; false if that has passed. */
        boolean keepsCancel(Map.Entry<String, String> message) {
            if (committed && whole.openParticipations.isEmpty()) {
                return false;
            }
            (committed ? whole.cancels : cancels).add(message);
            return true;
        }

        @Override
        public void beforeCommit() {
            storedBefore = true;
            List<PreparedMessage> all = List.copyOf(before);
            whole.storeOnce(all, first -> storage.store(first, retryPrepared(first)));
            requireReplicated(all);
        }

        /** The transaction has its commit, so what fails here holds up nothing else. */
        @Override
        public void afterCommit() {
            committed = true;
            whole.cancels.addAll(cancels);
            try {
                sendDuplicatesAgain();
                sendAfterCommit();
            } finally {
                whole.end(this);
            }
        }

        private void sendAfterCommit() {
            whole.storeOnce(after, first -> storage.storeMany(first, after, retryPrepared(first), whole.outageLimit));
            requireReplicated(after);
        }

        /**
         * A duplicate may have met a message of another transaction that has rolled back meanwhile and was cancelled. In that
         * case this message is stored now. Duplicates of a message of this very transaction are left out.
         */
        private void sendDuplicatesAgain() {
            whole.addStored(before);
            List<PreparedMessage> duplicates = before.stream()
                    .filter(message -> message.isDuplicate() && !whole.stored.containsKey(message.key()))
                    .toList();
            storage.storeAgain(firstOfEachKey(duplicates), whole.outageLimit);
            duplicates.forEach(message -> whole.stored.putIfAbsent(message.key(), message));
        }

        @Override
        public void afterRollback() {
            before.stream()
                    .filter(PreparedMessage::mayBeStored)
                    .map(PreparedMessage::key)
                    .forEach(whole.stored::remove);
            whole.end(this);
            if (storedBefore) {
                rolledBack.cancel(before);
            }
        }

        @Override
        public void afterUnknownOutcome() {
            committed = true;
            whole.end(this);
            UnknownOutcome.warn(messages().toList(), cancels);
        }
    }
}
