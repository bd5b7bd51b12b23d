package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.LogText;
import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.Transactions;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Encodes messages and stores them: at once, or at the right moment of a transaction. */
final class Sender {

    private static final Logger log = LoggerFactory.getLogger(Sender.class);

    private final QueueStore store;
    private final SendBatcher groups;
    private final Topics topics;
    private final PayloadCodec codec;
    private final Events events;
    private final Transactions transactions;
    private final SendPhase phase;
    private final RolledBackSends rolledBack;
    private final RepeatedLines lines;
    private final LoopExecutor loops;
    private final LongSupplier nanos;
    private final Duration sendTimeout;
    private final AwayShards away;
    private final int maxMessageBytes;

    Sender(
            DelayQueueEngine.Builder settings,
            Topics topics,
            Events events,
            RolledBackSends rolledBack,
            RepeatedLines lines) {
        this.store = settings.store;
        this.groups = new SendBatcher(store);
        this.topics = topics;
        this.codec = settings.codec();
        this.events = events;
        this.transactions = settings.transactions;
        this.phase = settings.sendPhase;
        this.rolledBack = rolledBack;
        this.lines = lines;
        this.loops = settings.loops;
        this.nanos = loops::nanos;
        this.sendTimeout = settings.sendTimeout;
        this.away = new AwayShards(nanos);
        this.maxMessageBytes = settings.maxMessageBytes;
    }

    SendResult send(OutgoingMessage message) {
        Objects.requireNonNull(message, "send(null): give a message.");
        SendRetry retry = retry(List.of(message));
        PreparedMessage prepared = retry.repeat(() -> prepare(message, randomShard(message.topic())));
        SendPhase wanted = phase(message);
        Participation transaction = transaction(wanted);
        if (transaction != null) {
            transaction.add(wanted, prepared);
        }
        if (transaction == null || !transaction.keeps(wanted)) {
            store(List.of(prepared), retry);
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
        List<PreparedMessage> all = retry.repeat(() -> prepareAll(messages));
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
        storeMany(now, all, retry, new Patience(nanos));
        later.forEach(Runnable::run);
        return results(all);
    }

    private List<PreparedMessage> prepareAll(List<OutgoingMessage> messages) {
        List<PreparedMessage> all = new ArrayList<>(messages.size());
        int begin = ThreadLocalRandom.current().nextInt(ShardKey.MAX_SHARDS);
        for (int i = 0; i < messages.size(); i++) {
            OutgoingMessage message = messages.get(i);
            // A call's worth of generated ids goes to one shard, the next to another: few trips, and an even spread.
            int shards = topics.shards(message.topic());
            int shard = (begin + i / QueueStore.MAX_BATCH) % shards;
            all.add(prepare(message, away.choose(message.topic(), shards, shard)));
        }
        return all;
    }

    /** Cancels after the commit, or at once where there is no transaction. A failure is a warning. */
    void cancelAfterCommit(String topic, String id) {
        Map.Entry<String, String> message = Map.entry(topic, id);
        transactions
                .join(this, Participation::new)
                .filter(participation -> !participation.committed)
                .ifPresentOrElse(
                        participation -> participation.cancels.add(message),
                        () -> cancel(List.of(message), new Patience(nanos)));
    }

    private void cancel(List<Map.Entry<String, String>> messages, Patience patience) {
        messages.stream()
                .collect(Collectors.groupingBy(
                        Map.Entry::getKey,
                        LinkedHashMap::new,
                        Collectors.mapping(Map.Entry::getValue, Collectors.toList())))
                .forEach((topic, ids) -> cancel(topic, ids, patience));
    }

    private void cancel(String topic, List<String> ids, Patience patience) {
        List<String> failed = new ArrayList<>();
        RuntimeException[] failure = new RuntimeException[1];
        byExpectedShard(topic, ids).forEach((expected, all) -> Batches.of(all).forEach(some -> {
            try {
                patience.call(expected, () -> cancelNow(topic, some));
            } catch (RuntimeException e) {
                failed.addAll(some);
                failure[0] = e;
            }
        }));
        if (failure[0] != null) {
            lines.warn(
                    log,
                    topic,
                    "{} messages of {} could not be cancelled after the commit and will be delivered: {}: {}",
                    failed.size(),
                    topic,
                    LogText.list(failed),
                    LogText.of(failure[0].toString()));
        }
    }

    /** By the shard count that is known without a call. */
    private Map<ShardKey, List<String>> byExpectedShard(String topic, List<String> ids) {
        int shards = topics.expected(topic);
        return ids.stream().collect(Collectors.groupingBy(id -> new ShardKey(topic, MessageIds.shardOf(id, shards))));
    }

    private void cancelNow(String topic, List<String> ids) {
        int shards = topics.shardsToLookAt(topic);
        ids.stream()
                .collect(Collectors.groupingBy(id -> new ShardKey(topic, MessageIds.shardOf(id, shards))))
                .forEach((shard, some) -> store.cancel(
                        shard, some.stream().map(id -> new Target(id, null)).toList()));
    }

    private PreparedMessage prepare(OutgoingMessage message, int shard) {
        long nonce = ThreadLocalRandom.current().nextLong();
        Bytes body = codec.encode(message.payload(), message.payloadType());
        Bytes frame = new Envelope(nonce, message.headers(), message.retry(), body).encode();
        if (frame.length() > maxMessageBytes) {
            throw new MessageTooLargeException(message.topic(), frame.length(), maxMessageBytes);
        }
        String ownId = message.id();
        String id = ownId == null ? MessageIds.generate(shard) : ownId;
        ShardKey key = new ShardKey(message.topic(), MessageIds.shardOf(id, topics.shards(message.topic())));
        return new PreparedMessage(key, new NewMessage(id, message.due(), frame), nonce, timeout(message));
    }

    private int randomShard(String topic) {
        return away.choose(topic, topics.shards(topic));
    }

    private SendPhase phase(OutgoingMessage message) {
        SendPhase own = message.phase();
        return own == null ? phase : own;
    }

    private @Nullable Participation transaction(SendPhase wanted) {
        return wanted == SendPhase.IMMEDIATELY
                ? null
                : transactions.join(this, Participation::new).orElse(null);
    }

    private Duration timeout(OutgoingMessage message) {
        Duration own = message.sendTimeout();
        return own == null ? sendTimeout : own;
    }

    /** For one call of the application: the longest send timeout of its messages holds for all of them. */
    private SendRetry retry(List<OutgoingMessage> messages) {
        return new SendRetry(loops, longest(messages.stream().map(this::timeout)));
    }

    private SendRetry retryPrepared(List<PreparedMessage> messages) {
        return new SendRetry(loops, longest(messages.stream().map(PreparedMessage::sendTimeout)));
    }

    private static Duration longest(Stream<Duration> timeouts) {
        return timeouts.max(Comparator.naturalOrder()).orElse(Duration.ZERO);
    }

    /** Another shard for a message whose shard is away. */
    private void reroute(PreparedMessage message) {
        if (message.isMovable()) {
            String topic = message.shard().topic();
            int shard = away.choose(topic, topics.shards(topic));
            if (shard != message.shard().shard()) {
                message.moveTo(shard);
            }
        }
    }

    /** Stores the messages; a failure of any is thrown as it is. */
    private void store(List<PreparedMessage> messages, SendRetry retry) {
        retry.send(messages, open -> PreparedMessage.byShard(open, this::call), this::reroute);
    }

    /**
     * Stores what can be stored; a failure is thrown at the end, with what is known of each message.
     *
     * @param all those of the caller's list, for the exception
     */
    private void storeMany(List<PreparedMessage> messages, List<PreparedMessage> all, SendRetry retry, Patience first) {
        Round round = new Round(first);
        try {
            retry.send(messages, round::send, this::reroute);
        } catch (StoreUnavailableException e) {
            throw PreparedMessage.failure(all, round.refusal == null ? e : round.refusal);
        }
        if (round.refusal != null) {
            throw PreparedMessage.failure(all, round.refusal);
        }
    }

    /** Attempts to store a list: as much of it as possible. What is refused is not tried again. */
    private final class Round {

        private final Set<PreparedMessage> refused = new HashSet<>();
        private Patience patience;
        private @Nullable DelayQueueException refusal;

        Round(Patience first) {
            this.patience = first;
        }

        void send(List<PreparedMessage> messages) {
            StoreUnavailableException[] failure = new StoreUnavailableException[1];
            List<PreparedMessage> open = messages.stream()
                    .filter(message -> !refused.contains(message))
                    .toList();
            PreparedMessage.byShard(open, (shard, some) -> {
                try {
                    patience.call(shard, () -> call(shard, some));
                } catch (StoreUnavailableException e) {
                    failure[0] = failure[0] == null ? e : failure[0];
                } catch (DelayQueueException e) {
                    refusal = refusal == null ? e : refusal;
                    refused.addAll(some);
                }
            });
            patience = new Patience(nanos);
            if (failure[0] != null) {
                throw failure[0];
            }
        }
    }

    private void call(ShardKey shard, List<PreparedMessage> messages) {
        List<SendOutcome> outcomes = outcomes(shard, messages);
        for (int i = 0; i < messages.size(); i++) {
            PreparedMessage message = messages.get(i);
            if (message.recordOutcome(outcomes.get(i))) {
                events.emit(new DelayQueueEvent.Sent(shard.topic(), message.id(), outcomes.get(i)));
            }
        }
    }

    private List<SendOutcome> outcomes(ShardKey shard, List<PreparedMessage> messages) {
        try {
            List<SendOutcome> outcomes = messages.size() == 1
                    ? List.of(groups.send(shard, messages.get(0).message()))
                    : store.send(
                            shard,
                            messages.stream().map(PreparedMessage::message).toList());
            away.answered(shard);
            return outcomes;
        } catch (StoreUnavailableException e) {
            away.failed(shard);
            if (e.isOutcomeUnknown()) {
                messages.forEach(PreparedMessage::doubt);
            }
            throw e;
        }
    }

    private static List<SendResult> results(List<PreparedMessage> messages) {
        return messages.stream().map(PreparedMessage::result).toList();
    }

    /** The sends of one transaction. */
    private final class Participation implements Transactions.Participant {

        private final List<PreparedMessage> before = new ArrayList<>();
        private final List<PreparedMessage> after = new ArrayList<>();
        private final List<Map.Entry<String, String>> cancels = new ArrayList<>();
        private boolean storedBefore;
        private boolean committed;

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

        @Override
        public void beforeCommit() {
            storedBefore = true;
            List<PreparedMessage> all = List.copyOf(before);
            store(all, retryPrepared(all));
        }

        /** The transaction has its commit, so what fails here holds up nothing else. */
        @Override
        public void afterCommit() {
            committed = true;
            Patience patience = new Patience(nanos);
            try {
                sendDuplicatesAgain(patience);
                storeMany(after, after, retryPrepared(after), patience);
            } finally {
                cancel(cancels, patience);
            }
        }

        /**
         * The message that a duplicate has met may have been that of a transaction which has rolled back meanwhile, and is
         * cancelled then. If so, it is stored now. What has met a message of this very transaction is none of these.
         */
        private void sendDuplicatesAgain(Patience patience) {
            Set<Map.Entry<ShardKey, String>> own = before.stream()
                    .filter(message -> !message.isDuplicate())
                    .map(PreparedMessage::key)
                    .collect(Collectors.toSet());
            List<PreparedMessage> duplicates = before.stream()
                    .filter(message -> message.isDuplicate() && !own.contains(message.key()))
                    .toList();
            try {
                PreparedMessage.byShard(duplicates, (shard, some) -> patience.call(shard, () -> call(shard, some)));
            } catch (DelayQueueException e) {
                lines.warn(
                        log,
                        duplicates.get(0).shard().topic(),
                        "The ids of {} messages were live just before the commit; whether they are after it is not known: {}: {}",
                        duplicates.size(),
                        LogText.list(
                                duplicates.stream().map(PreparedMessage::id).toList()),
                        LogText.of(e.toString()));
            }
        }

        @Override
        public void afterRollback() {
            if (storedBefore) {
                rolledBack.cancel(before);
            }
        }
    }
}
