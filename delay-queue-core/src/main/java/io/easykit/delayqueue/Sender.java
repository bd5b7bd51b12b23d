package io.easykit.delayqueue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Encodes messages and stores them: at once, or at the right moment of a transaction. */
final class Sender {

    private static final Logger log = LoggerFactory.getLogger(Sender.class);

    private final QueueStore store;
    private final SendGroups groups;
    private final Topics topics;
    private final PayloadCodec codec;
    private final Events events;
    private final Transactions transactions;
    private final SendPhase phase;
    private final Undo undo;

    Sender(DelayQueueEngine.Builder settings, Topics topics, Events events, Undo undo) {
        this.store = settings.store;
        this.groups = new SendGroups(store);
        this.topics = topics;
        this.codec = settings.codec();
        this.events = events;
        this.transactions = settings.transactions;
        this.phase = settings.sendPhase;
        this.undo = undo;
    }

    SendResult send(OutgoingMessage message) {
        PreparedMessage prepared = prepare(message, randomShard(message.topic()));
        if (!deferred(message, prepared)) {
            store(List.of(prepared));
        }
        return prepared.result();
    }

    List<SendResult> sendAll(List<OutgoingMessage> messages) {
        List<PreparedMessage> all = new ArrayList<>();
        List<PreparedMessage> now = new ArrayList<>();
        int begin = ThreadLocalRandom.current().nextInt(ShardKey.MAX_SHARDS);
        for (int i = 0; i < messages.size(); i++) {
            OutgoingMessage message = messages.get(i);
            // A call's worth of generated ids goes to one shard, the next to another: few trips, and an even spread.
            int shard = (begin + i / QueueStore.MAX_BATCH) % topics.shards(message.topic());
            PreparedMessage prepared = prepare(message, shard);
            all.add(prepared);
            if (!deferred(message, prepared)) {
                now.add(prepared);
            }
        }
        storeMany(now);
        return results(all);
    }

    /** Runs after the commit, or at once where there is no transaction. */
    void afterCommit(Runnable action) {
        transactions
                .join(this, Participation::new)
                .ifPresentOrElse(participation -> participation.afterCommit(action), action);
    }

    private PreparedMessage prepare(OutgoingMessage message, int shard) {
        long nonce = ThreadLocalRandom.current().nextLong();
        Bytes body = codec.encode(message.payload());
        Bytes frame = new Envelope(nonce, message.headers(), message.retry(), body).encode();
        String ownId = message.id();
        String id = ownId == null ? MessageIds.generate(shard) : ownId;
        ShardKey key = new ShardKey(message.topic(), MessageIds.shardOf(id, topics.shards(message.topic())));
        return new PreparedMessage(key, new QueueStore.NewMessage(id, message.due(), frame), nonce);
    }

    private int randomShard(String topic) {
        return ThreadLocalRandom.current().nextInt(topics.shards(topic));
    }

    private boolean deferred(OutgoingMessage message, PreparedMessage prepared) {
        SendPhase own = message.phase();
        SendPhase wanted = own == null ? phase : own;
        return wanted != SendPhase.IMMEDIATELY
                && transactions
                        .join(this, Participation::new)
                        .filter(participation -> participation.defers(wanted, prepared))
                        .isPresent();
    }

    /** Stores the messages; a failure of any is thrown as it is. */
    private void store(List<PreparedMessage> messages) {
        PreparedMessage.byShard(messages, this::call);
    }

    /** Stores what can be stored; a failure is thrown at the end, with what is known of each message. */
    private void storeMany(List<PreparedMessage> messages) {
        DelayQueueException[] failure = new DelayQueueException[1];
        PreparedMessage.byShard(messages, (shard, some) -> {
            try {
                call(shard, some);
            } catch (DelayQueueException e) {
                failure[0] = e;
            }
        });
        if (failure[0] != null) {
            throw new BatchSendException(results(messages), failure[0]);
        }
    }

    private void call(ShardKey shard, List<PreparedMessage> messages) {
        List<SendOutcome> outcomes = messages.size() == 1
                ? List.of(groups.send(shard, messages.get(0).message()))
                : store.send(
                        shard, messages.stream().map(PreparedMessage::message).toList());
        for (int i = 0; i < messages.size(); i++) {
            PreparedMessage message = messages.get(i);
            if (message.learn(outcomes.get(i))) {
                events.emit(new DelayQueueEvent.Sent(shard.topic(), message.id(), outcomes.get(i)));
            }
        }
    }

    private static List<SendResult> results(List<PreparedMessage> messages) {
        return messages.stream().map(PreparedMessage::result).toList();
    }

    /** The sends of one transaction. */
    private final class Participation implements Transactions.Participant {

        private final List<PreparedMessage> before = new ArrayList<>();
        private final List<PreparedMessage> after = new ArrayList<>();
        private final List<Runnable> actions = new ArrayList<>();
        private boolean storedBefore;
        private boolean committed;

        /** Takes the message for later; false if that moment of the transaction has passed, so it is stored at once. */
        boolean defers(SendPhase wanted, PreparedMessage message) {
            if (wanted == SendPhase.BEFORE_COMMIT && !committed) {
                before.add(message);
                return !storedBefore;
            }
            return !committed && after.add(message);
        }

        void afterCommit(Runnable action) {
            if (committed) {
                action.run();
            } else {
                actions.add(action);
            }
        }

        @Override
        public void beforeCommit() {
            storedBefore = true;
            store(List.copyOf(before));
        }

        /** The transaction has its commit, so what fails here holds up nothing else. */
        @Override
        public void afterCommit() {
            committed = true;
            try {
                sendDuplicatesAgain();
                storeMany(after);
            } finally {
                actions.forEach(Runnable::run);
            }
        }

        /**
         * The message that a duplicate has met may have been that of a transaction which has rolled back meanwhile, and is
         * cancelled then. If so, it is stored now. What has met a message of this very transaction is none of these.
         */
        private void sendDuplicatesAgain() {
            Set<Map.Entry<ShardKey, String>> own = before.stream()
                    .filter(message -> !message.isDuplicate())
                    .map(PreparedMessage::key)
                    .collect(Collectors.toSet());
            List<PreparedMessage> duplicates = before.stream()
                    .filter(message -> message.isDuplicate() && !own.contains(message.key()))
                    .toList();
            try {
                store(duplicates);
            } catch (DelayQueueException e) {
                log.warn(
                        "The ids of {} messages were live just before the commit; whether they are after it is not known: {}",
                        duplicates.size(),
                        duplicates.stream().map(PreparedMessage::id).toList(),
                        e);
            }
        }

        @Override
        public void afterRollback() {
            if (storedBefore) {
                undo.cancel(before);
            }
        }
    }
}
