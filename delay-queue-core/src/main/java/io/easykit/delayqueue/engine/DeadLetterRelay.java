package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces the dead letters of a topic, at least once: sends a message about each to another topic, and marks it as announced
 * after the send was answered. Runs on each node with a listener of the dead letters, every ten seconds.
 *
 * <p>It reads the dead letters themselves. So each way to die counts, on any node and of any version, and a topic without such
 * a listener costs nothing. The mark is a part of the entry of the dead letter, and ends with it:
 *
 * <ul>
 *   <li>A crash, or a lost reply, between the send and the mark: the notice is sent again. While the first one is live, it is a
 *       duplicate; else the listener gets it twice.
 *   <li>Two nodes at the same time: as above.
 *   <li>A redrive or a purge before the notice: there is none, because the message is no dead letter. If it dies again, that is
 *       another death.
 *   <li>A dead letter that is in flight too, because a script failed half way, is left for later.
 * </ul>
 *
 * <p>Dead letters are ordered by their death, so mostly the latest are read: the last 100 at least. The clock of a store may go
 * back at a fail-over. So until no later death was seen for ten minutes, those of the ten minutes before the last one are read
 * too. All are read at the start, and then once an hour.
 */
final class DeadLetterRelay {

    private static final Logger log = LoggerFactory.getLogger(DeadLetterRelay.class);

    private static final Duration OVERLAP = Duration.ofMinutes(10);

    private static final long FULL_PAUSE = TimeUnit.HOURS.toNanos(1);

    /** Dead letters of a page. Replies have their errors too, so one of 500 would be half a megabyte. */
    private static final int PAGE = 100;

    /** Pages at a time; the rest waits for the next time. */
    private static final int MOST_PAGES = 100;

    /** Notices of a shard at a time; the rest waits for the next time. */
    private static final int MOST_NOTICES = 1_000;

    /** Bytes of notices that are sent together. A larger one goes alone. */
    private static final int MOST_BYTES = 1 << 20;

    private final EngineContext engine;
    private final String topic;
    private final Map<ShardKey, ShardRelay> relays = new HashMap<>();

    /** Shards of the topic that did not answer the last time. */
    private final Set<ShardKey> silent = new HashSet<>();

    /** For the announcements of all shards, so that each waits for no shard that has kept another one waiting. */
    private OutageTimeLimit outageLimit;

    /** @param topic whose dead letters it announces */
    DeadLetterRelay(EngineContext engine, String topic) {
        this.engine = engine;
        this.topic = topic;
        this.outageLimit = new OutageTimeLimit(engine.loops()::nanos);
    }

    /**
     * Announces dead letters of all shards. A shard that is refused or silent, of the topic or of its announcements, does
     * not hold up the others. Neither does a dead letter that cannot be read.
     *
     * @param unanswered shards whose consumers get no answer; they come last, as those that did not answer the last time
     * @param isStopped whether to end after the present call of the store
     */
    void run(Set<ShardKey> unanswered, BooleanSupplier isStopped) {
        outageLimit = new OutageTimeLimit(engine.loops()::nanos);
        silent.addAll(unanswered);
        EachShard each = EachShard.withOutageLimit(engine.loops()::nanos, silent);
        each.attemptAll(engine.topics().keysToLookAt(topic), shard -> {
            DelayQueueException failure =
                    relays.computeIfAbsent(shard, ShardRelay::new).run(isStopped);
            if (failure != null) {
                each.add(failure);
            }
        });
        each.throwIfRefused();
    }

    /** Null is the begin. */
    private static @Nullable Position earlier(@Nullable Position one, @Nullable Position other) {
        return one == null || other == null ? null : one.compareTo(other) < 0 ? one : other;
    }

    /** A notice, and the death that it announces. */
    private record Notice(DeadLetterRef death, NewMessage message) {}

    private final class ShardRelay {

        private final ShardKey shard;
        private @Nullable Position next; // null for the begin, as those below
        private @Nullable Position page;
        private @Nullable Position pageBefore;
        private @Nullable Instant latest;
        private long latestSeenAt; // of this node's clock, in ns
        private long fullAt;
        private boolean isBehind; // notices of an earlier pass over the dead letters were not stored
        private boolean hasMissed; // nor were some of the present pass
        private @Nullable DelayQueueException failure;

        ShardRelay(ShardKey shard) {
            this.shard = shard;
            this.fullAt = engine.loops().nanos() + FULL_PAUSE;
        }

        /**
         * Goes on after a dead letter that Redis refuses to read: it is read again with the latest ones, and each hour. Goes on
         * after notices that are not stored, too. Once a pass has no such notices, all dead letters are read again.
         *
         * @return a failure that is not one of this shard as a whole; null if there was none
         */
        @Nullable DelayQueueException run(BooleanSupplier isStopped) {
            failure = null;
            announceSome(isStopped);
            return failure;
        }

        /** Keeps a refusal, which somebody has to fix, even if a later call meets an outage. */
        private void failed(DelayQueueException e) {
            failure = failure instanceof StoreRefusedException ? failure : e;
        }

        private void announceSome(BooleanSupplier isStopped) {
            int notices = 0;
            for (int i = 0; i < MOST_PAGES && notices < MOST_NOTICES && !isStopped.getAsBoolean(); i++) {
                DeadLetterErrors found = engine.store().errors(shard, next, PAGE);
                notices += announce(found.entries().stream()
                        .filter(DeadLetterErrors.Entry::isUnannounced)
                        .toList());
                pageBefore = page;
                page = next;
                found.entries().forEach(this::pass);
                if (found.entries().size() < PAGE) {
                    beginAgain();
                    return;
                }
            }
        }

        private void pass(DeadLetterErrors.Entry entry) {
            next = entry.position();
            if (latest == null || entry.diedAt().isAfter(latest)) {
                latest = entry.diedAt();
                latestSeenAt = engine.loops().nanos();
            }
        }

        private void beginAgain() {
            long now = engine.loops().nanos();
            boolean isFull = now - fullAt >= 0 || (isBehind && !hasMissed);
            if (isFull) {
                fullAt = now + FULL_PAUSE;
                next = null;
            } else {
                next = now - latestSeenAt < OVERLAP.toNanos() ? earlier(pageBefore, overlap()) : pageBefore;
            }
            isBehind = hasMissed || (isBehind && !isFull);
            hasMissed = false;
            page = next;
            pageBefore = next;
        }

        /** A clock that went back by less than ten minutes has passed the latest death again when they are over. */
        private @Nullable Position overlap() {
            return latest == null
                    ? null
                    : new Position(
                            Long.toString(Math.max(0, latest.minus(OVERLAP).toEpochMilli())), " ");
        }

        private int announce(List<DeadLetterErrors.Entry> entries) {
            List<Notice> some = new ArrayList<>();
            int bytes = 0;
            for (DeadLetterErrors.Entry entry : entries) {
                Notice notice = notice(entry).orElse(null);
                if (notice == null) {
                    continue;
                }
                int length = notice.message().frame().length();
                if (some.size() == QueueStore.MAX_BATCH || bytes + length > MOST_BYTES) {
                    send(some);
                    some.clear();
                    bytes = 0;
                }
                some.add(notice);
                bytes += length;
            }
            send(some);
            return entries.size();
        }

        /** Empty if the message is no longer this dead letter, or is for a later version to announce. */
        private Optional<Notice> notice(DeadLetterErrors.Entry entry) {
            String id = entry.position().id();
            try {
                Optional<StoredMessage> dead = engine.store()
                        .find(shard, id)
                        .filter(found ->
                                found.state() == State.DEAD && found.at().equals(entry.diedAt()));
                return dead.map(
                        found -> new Notice(new DeadLetterRef(id, entry.diedAt()), DeadLetterNotice.of(topic, found)));
            } catch (NewerFrameException e) {
                log.debug("A node of a later version announces dead letters of {}", shard, e);
                return Optional.empty();
            } catch (StoreRefusedException e) {
                failed(e);
                return Optional.empty();
            }
        }

        private void send(List<Notice> notices) {
            if (notices.isEmpty()) {
                return;
            }
            Map<ShardKey, List<Notice>> byShard = new LinkedHashMap<>();
            String target = DeadLetter.topicOf(topic);
            TopicShards shards = engine.topics().shards(target);
            notices.forEach(notice -> byShard.computeIfAbsent(
                            shards.shardOf(notice.message().id()), key -> new ArrayList<>())
                    .add(notice));
            byShard.forEach(this::send);
        }

        /** A shard that is away is not called again in this run. */
        private void send(ShardKey to, List<Notice> some) {
            boolean[] isSent = new boolean[1];
            try {
                outageLimit.call(
                        to,
                        () -> isSent[0] =
                                isSent(to, some.stream().map(Notice::message).toList()));
            } catch (StoreUnavailableException | StoreRefusedException e) {
                failed(e);
            }
            if (isSent[0]) {
                engine.store().announced(shard, some.stream().map(Notice::death).toList());
            } else {
                hasMissed = true;
            }
        }

        /** Whether the notices are stored, and as many replicas have them as the settings want. */
        private boolean isSent(ShardKey to, List<NewMessage> messages) {
            ReplicaWait wait = engine.replicaWaits().apply(to.topic());
            Replicated sent = wait == null
                    ? new Replicated(engine.store().send(to, messages), 0)
                    : engine.store().sendReplicated(to, messages, wait);
            for (int i = 0; i < messages.size(); i++) {
                SendOutcome outcome = sent.outcomes().get(i);
                engine.loopEvents()
                        .emit(new DelayQueueEvent.Sent(
                                to.topic(), messages.get(i).id(), outcome));
            }
            return wait == null || sent.replicas() >= wait.replicas();
        }
    }
}
