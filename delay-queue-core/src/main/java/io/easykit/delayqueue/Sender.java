package io.easykit.delayqueue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Encodes messages and stores them: at once, or at the right moment of a transaction. */
final class Sender {

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
        return deferred(message, prepared)
                ? pending(prepared)
                : store(List.of(prepared)).get(0);
    }

    List<SendResult> sendAll(List<OutgoingMessage> messages) {
        List<@Nullable SendResult> results = new ArrayList<>();
        List<PreparedMessage> now = new ArrayList<>();
        int begin = ThreadLocalRandom.current().nextInt(ShardKey.MAX_SHARDS);
        for (int i = 0; i < messages.size(); i++) {
            OutgoingMessage message = messages.get(i);
            // A call's worth of generated ids goes to one shard, the next to another: few trips, and an even spread.
            int shard = (begin + i / QueueStore.MAX_BATCH) % topics.shards(message.topic());
            PreparedMessage prepared = prepare(message, shard);
            boolean later = deferred(message, prepared);
            results.add(later ? pending(prepared) : null);
            if (!later) {
                now.add(prepared);
            }
        }
        List<SendResult> stored = storeMany(now);
        int next = 0;
        List<SendResult> all = new ArrayList<>();
        for (@Nullable SendResult result : results) {
            all.add(result != null ? result : stored.get(next++));
        }
        return all;
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

    private static SendResult pending(PreparedMessage message) {
        return new SendResult(message.shard().topic(), message.id(), null);
    }

    /** Stores the messages; a failure of any is thrown as it is. */
    private List<SendResult> store(List<PreparedMessage> messages) {
        return PreparedMessage.byShard(messages, this::call);
    }

    /** Stores what can be stored; a failure is thrown at the end, with what is known of each message. */
    private List<SendResult> storeMany(List<PreparedMessage> messages) {
        DelayQueueException[] failure = new DelayQueueException[1];
        List<SendResult> results = PreparedMessage.byShard(messages, (shard, some) -> {
            try {
                return call(shard, some);
            } catch (DelayQueueException e) {
                failure[0] = e;
                return some.stream().map(Sender::pending).toList();
            }
        });
        if (failure[0] != null) {
            throw new BatchSendException(results, failure[0]);
        }
        return results;
    }

    private List<SendResult> call(ShardKey shard, List<PreparedMessage> messages) {
        List<SendOutcome> outcomes = messages.size() == 1
                ? List.of(groups.send(shard, messages.get(0).message()))
                : store.send(
                        shard, messages.stream().map(PreparedMessage::message).toList());
        SendResult[] results = new SendResult[messages.size()];
        for (int i = 0; i < results.length; i++) {
            String id = messages.get(i).id();
            results[i] = new SendResult(shard.topic(), id, outcomes.get(i));
            events.emit(new DelayQueueEvent.Sent(shard.topic(), id, outcomes.get(i)));
        }
        return Arrays.asList(results);
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

        @Override
        public void afterCommit() {
            committed = true;
            store(after);
            actions.forEach(Runnable::run);
        }

        @Override
        public void afterRollback() {
            if (storedBefore) {
                undo.cancel(before);
            }
        }
    }
}
