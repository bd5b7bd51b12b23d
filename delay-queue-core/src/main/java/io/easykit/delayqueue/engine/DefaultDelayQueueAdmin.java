package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoppedKeys;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.NameRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Administers messages, dead letters, shards and jobs, shard after shard. A shard that the store refuses does not hide the others. */
final class DefaultDelayQueueAdmin implements DelayQueueAdmin {

    private final QueueBackend store;
    private final Topics topics;
    private final MessagePages pages;
    private final MessageReplacer replacer;
    private final JobRunner jobs;
    private final LongSupplier nanos;

    /** Topics that did not answer lately, by their first shard. */
    private final Set<ShardKey> silent = ConcurrentHashMap.newKeySet();

    /** @param nanos a clock that only moves forward */
    DefaultDelayQueueAdmin(
            QueueBackend store, Topics topics, MessageReplacer replacer, JobRunner jobs, LongSupplier nanos) {
        this.store = store;
        this.nanos = nanos;
        this.topics = topics;
        this.pages = new MessagePages(store);
        this.replacer = replacer;
        this.jobs = jobs;
    }

    @Override
    public TopicStats stats(String topic) {
        return EachShard.stats(topic, topics.keysToLookAt(topic), store);
    }

    @Override
    public MessagePage messages(String topic, MessageQuery query) {
        return pages.page(topics.keysToLookAt(topic), query);
    }

    @Override
    public Optional<MessageDetail> find(String topic, String id) {
        ShardKey shard = shardOf(topic, id);
        return store.find(shard, id, MessageDetail.MOST_BYTES)
                .map(found -> MessageSummaries.detail(topic, shard.shard(), found));
    }

    /** A topic that the store refuses, or that does not answer, is left out if the message was found in another one. */
    @Override
    public List<MessageDetail> find(String id) {
        NameRules.requireWellFormed(id);
        List<MessageDetail> found = new ArrayList<>();
        EachShard each = EachShard.withOutageLimit(nanos, silent);
        List<ShardKey> first = store.fleet().topics().keySet().stream()
                .map(topic -> new ShardKey(topic, 0))
                .toList();
        each.attemptAll(first, any -> {
            ShardKey shard = shardOf(any.topic(), id);
            store.find(shard, id, MessageDetail.MOST_BYTES)
                    .ifPresent(message -> found.add(MessageSummaries.detail(any.topic(), shard.shard(), message)));
        });
        if (found.isEmpty()) {
            each.throwIfSilent();
            each.refused();
        }
        return found;
    }

    @Override
    public Optional<Bytes> body(String topic, MessageRef message) {
        String incarnation = message.incarnation();
        return store.find(shardOf(topic, message.id()), message.id())
                .map(StoredMessage::frame)
                .filter(frame -> incarnation == null || incarnation.equals(MessageSummaries.incarnation(frame)))
                .map(frame -> Envelope.decode(frame).body());
    }

    @Override
    public ErrorGroups groups(String topic) {
        ErrorScan scan = new ErrorScan();
        long[] counts = new long[2];
        EachShard each = new EachShard();
        List<ShardKey> shards = topics.keysToLookAt(topic);
        for (int i = 0; i < shards.size(); i++) {
            // What a shard leaves of its share is for those after it.
            long share = (MOST_GROUPED - counts[1]) / (shards.size() - i);
            each.attempt(shards.get(i), key -> {
                Position after = null;
                DeadLetterErrors page;
                long read = 0;
                int size;
                do {
                    size = (int) Math.min(DeadLetterErrors.MOST, share - read);
                    page = store.errors(key, after, size);
                    page.entries().forEach(scan::add);
                    read += page.entries().size();
                    after = page.entries().isEmpty()
                            ? null
                            : page.entries().get(page.entries().size() - 1).position();
                } while (page.entries().size() == size && read < share);
                counts[0] += page.total();
                counts[1] += read;
            });
        }
        return new ErrorGroups(topic, counts[0], counts[1], scan.groups(), each.refused());
    }

    @Override
    public List<Boolean> redrive(String topic, List<DeadLetterRef> deaths) {
        return byShard(topic, deaths, DeadLetterRef::id, store::redrive);
    }

    @Override
    public Replacement replace(
            String topic, DeadLetterRef death, @Nullable String incarnation, Map<String, String> headers, Bytes body) {
        return replacer.replace(shardOf(topic, death.id()), death, incarnation, headers, body);
    }

    @Override
    public List<Boolean> purge(String topic, List<DeadLetterRef> deaths) {
        return byShard(topic, deaths, DeadLetterRef::id, store::purge);
    }

    @Override
    public List<ChangeOutcome> cancel(String topic, List<MessageRef> messages) {
        return byShard(
                topic,
                messages,
                MessageRef::id,
                (shard, some) -> store.cancel(
                        shard, some.stream().map(DefaultDelayQueueAdmin::target).toList()));
    }

    @Override
    public List<ChangeOutcome> reschedule(String topic, List<MessageRef> messages, DueTime due) {
        Objects.requireNonNull(due, "reschedule without a due time: give one.");
        return byShard(
                topic,
                messages,
                MessageRef::id,
                (shard, some) -> store.reschedule(
                        shard,
                        some.stream()
                                .map(message -> new Reschedule(target(message), due))
                                .toList()));
    }

    private static Target target(MessageRef message) {
        return new Target(message.id(), MessageSummaries.incarnation(message.incarnation()));
    }

    /** One call for each shard that has some of them; the results are in the order of the list. */
    private <T, R> List<R> byShard(
            String topic, List<T> all, Function<T, String> id, BiFunction<ShardKey, List<T>, List<R>> action) {
        if (all.size() > MAX_PAGE) {
            throw new IllegalArgumentException(
                    "An action takes at most " + MAX_PAGE + " messages, not " + all.size() + ": split it.");
        }
        Map<ShardKey, List<Integer>> places = new LinkedHashMap<>();
        TopicShards shards = topics.shardsToLookAt(topic, all.stream().map(id).toList());
        for (int i = 0; i < all.size(); i++) {
            ShardKey shard = shards.shardOf(id.apply(all.get(i)));
            places.computeIfAbsent(shard, key -> new ArrayList<>()).add(i);
        }
        Map<Integer, R> results = new TreeMap<>();
        EachShard each = new EachShard();
        places.forEach((key, some) -> each.attempt(key, shard -> {
            List<R> ofShard = action.apply(shard, some.stream().map(all::get).toList());
            each.changed();
            for (int i = 0; i < some.size(); i++) {
                results.put(some.get(i), ofShard.get(i));
            }
        }));
        each.throwIfRefused();
        return List.copyOf(results.values());
    }

    @Override
    public long purgeOlderThan(String topic, Duration age) {
        Objects.requireNonNull(age, "purgeOlderThan without an age: give one, Duration.ZERO for all dead letters.");
        AtomicLong purged = new AtomicLong();
        EachShard each = new EachShard();
        for (ShardKey key : topics.keysToLookAt(topic)) {
            each.attempt(key, shard -> {
                int some;
                do {
                    some = store.purge(shard, age, QueueStore.MAX_BATCH);
                    if (some > 0) {
                        each.changed();
                    }
                    purged.addAndGet(some);
                } while (some == QueueStore.MAX_BATCH);
            });
        }
        each.throwIfRefused();
        return purged.get();
    }

    @Override
    public List<StoppedKey> stoppedKeys(String topic) {
        List<StoppedKey> found = new ArrayList<>();
        EachShard each = new EachShard();
        for (ShardKey key : topics.keysToLookAt(topic)) {
            each.attempt(key, shard -> {
                for (String cursor = StoppedKeys.BEGIN; !cursor.isEmpty() && found.size() < MOST_STOPPED_KEYS; ) {
                    StoppedKeys page = store.stoppedKeys(shard, cursor);
                    found.addAll(page.keys());
                    cursor = page.next();
                }
            });
        }
        each.throwIfRefused();
        return found.stream().distinct().limit(MOST_STOPPED_KEYS).toList();
    }

    @Override
    public boolean freeKey(String topic, String key, String id) {
        return store.freeKey(shardOf(topic, id), NameRules.requireOrderingKey(key), id);
    }

    @Override
    public int growShards(String topic, int shards) {
        return topics.grow(NameRules.requireTopic(topic), shards);
    }

    private ShardKey shardOf(String topic, String id) {
        NameRules.requireWellFormed(id);
        return topics.shardsToLookAt(topic, List.of(id)).shardOf(id);
    }

    @Override
    public Job start(JobRequest request) {
        return jobs.start(request);
    }

    @Override
    public Optional<Job> job(String id) {
        return jobs.find(id);
    }

    @Override
    public List<Job> jobs() {
        return jobs.all();
    }

    @Override
    public boolean stopJob(String id) {
        return jobs.stop(id);
    }

    @Override
    public boolean resumeJob(String id) {
        return jobs.resume(id);
    }
}
