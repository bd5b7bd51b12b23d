package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.ShardStats.Pause;
import io.easykit.delayqueue.store.AlertReport;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.Lent;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Reaped;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoppedKeys;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.store.WakeupListener;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A store in memory, for tests. It behaves as the store in Redis does: a test compares the two, call by call, replies and
 * state. It is written from the contract of {@link QueueBackend} and not from the scripts. Its messages end with the object,
 * and only engines of this process can share them.
 *
 * <p>Each call is atomic: it holds the monitor of this object.
 */
public final class InMemoryQueueStore implements QueueBackend {

    private final Map<ShardKey, MemoryShard> shards = new HashMap<>();
    private final DeclaredTopics declared;
    private final MemoryClock clock;
    private final Wakeups wakeups;
    private final Claims claims;
    private final OrderingKeys orderingKeys;
    private final Settling settling;
    private final Changes changes;
    private final DeadLetters deadLetters;
    private final Alerts alerts;
    private final Inspection inspection;
    private final InMemoryFleetStore fleet;
    private final InMemoryJobStore jobs;
    private volatile int replicas;

    /** @param micros the store's clock, in microseconds since the epoch */
    public InMemoryQueueStore(LongSupplier micros) {
        this.clock = new MemoryClock(micros);
        this.declared = new DeclaredTopics(clock);
        this.wakeups = new Wakeups(clock);
        this.claims = new Claims(clock, wakeups);
        this.orderingKeys = new OrderingKeys(wakeups);
        this.settling = new Settling(clock, wakeups, orderingKeys);
        this.changes = new Changes(clock, wakeups, orderingKeys);
        this.deadLetters = new DeadLetters(clock, wakeups, orderingKeys);
        this.alerts = new Alerts(clock);
        this.inspection = new Inspection(clock, alerts);
        this.fleet = new InMemoryFleetStore(micros, this::stats);
        this.jobs = new InMemoryJobStore(micros);
    }

    MemoryShard shard(ShardKey key) {
        return shards.computeIfAbsent(key, MemoryShard::new);
    }

    /**
     * Removes all messages with their counters, pauses and alerts, the samples, the jobs, and the pause requests for listeners.
     * Keeps topics and nodes.
     */
    public void clear() {
        clearShards();
        // Outside of the monitor: the fleet counts shards while it holds its own.
        fleet.clear();
        jobs.clear();
    }

    private synchronized void clearShards() {
        shards.clear();
        replicas = 0;
    }

    @Override
    public FleetStore fleet() {
        return fleet;
    }

    @Override
    public JobStore jobs() {
        return jobs;
    }

    /** Sets how many replicas confirm messages that are sent from now on. Default: none. */
    public void replicas(int count) {
        replicas = count;
    }

    @Override
    public Replicated sendReplicated(ShardKey shard, List<NewMessage> messages, ReplicaWait wait, boolean isShared) {
        return new Replicated(send(shard, messages), replicas);
    }

    @Override
    public void prepare() {}

    @Override
    public synchronized ShardCount declare(String topic, ShardCount count) {
        return declared.declare(topic, count);
    }

    @Override
    public synchronized ShardCount declared(String topic) {
        return declared.count(topic);
    }

    @Override
    public synchronized ShardCount grow(String topic, int all) {
        return declared.grow(topic, all);
    }

    /** Declares the count anew, or forgets it if it is 0, as by hand. */
    synchronized void redeclare(String topic, int count) {
        declared.redeclare(topic, count);
    }

    @Override
    public synchronized List<SendOutcome> send(ShardKey key, List<NewMessage> messages, boolean isShared) {
        MemoryShard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        List<SendOutcome> outcomes = new ArrayList<>();
        List<Long> arrivals = new ArrayList<>();
        for (NewMessage message : messages) {
            MemoryMessage live = shard.live.get(message.id());
            if (live == null) {
                long due = clock.at(message.due());
                shard.add(message.id(), message.frame(), due);
                shard.count("sent", 1);
                arrivals.add(due);
                outcomes.add(SendOutcome.STORED);
            } else {
                outcomes.add(message.frame().equals(live.frame) ? SendOutcome.REPLAYED : SendOutcome.DUPLICATE);
            }
        }
        wakeups.notify(key, earliestDue, arrivals);
        return outcomes;
    }

    @Override
    public synchronized Claimed claim(ShardKey key, Claim claim) {
        MemoryShard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        List<Long> exposed = OrderingKeys.exposeQuietly(shard, Settling.held(shard, claim.acknowledged()));
        List<Settlement> acknowledged = Settling.end(shard, claim.acknowledged());
        return claims.claim(shard, claim, acknowledged, wakeups.isNews(earliestDue, exposed));
    }

    @Override
    public synchronized Lent lend(ShardKey key, FlowShare limits, int most) {
        return claims.lend(shard(key), limits, most);
    }

    @Override
    public synchronized List<Settlement> acknowledge(ShardKey key, List<Lease> leases) {
        return settling.acknowledge(shard(key), leases);
    }

    @Override
    public synchronized List<Settlement> fail(ShardKey key, List<Failure> failures) {
        return settling.fail(shard(key), failures);
    }

    @Override
    public synchronized List<Settlement> release(ShardKey key, List<Lease> leases, Duration delay) {
        return settling.release(shard(key), leases, delay);
    }

    @Override
    public synchronized List<Settlement> extend(ShardKey key, List<Lease> leases, Duration duration) {
        return settling.extend(shard(key), leases, duration);
    }

    @Override
    public synchronized Reaped reap(
            ShardKey key, int count, int maxLeaseExpirations, Duration delay, DeadKeyPolicy policy, Instant until) {
        MemoryShard shard = shard(key);
        List<MemoryMessage> expired = settling.expired(shard, count, until);
        return settling.lose(shard, expired, maxLeaseExpirations, delay, policy);
    }

    @Override
    public synchronized Reaped giveUp(
            ShardKey key, List<Lease> leases, int maxLeaseExpirations, Duration delay, DeadKeyPolicy policy) {
        MemoryShard shard = shard(key);
        List<MemoryMessage> held = List.copyOf(Settling.held(shard, leases));
        return settling.lose(shard, held, maxLeaseExpirations, delay, policy);
    }

    @Override
    public synchronized List<ChangeOutcome> cancel(ShardKey key, List<Target> targets) {
        return changes.cancel(shard(key), targets);
    }

    @Override
    public synchronized List<ChangeOutcome> reschedule(ShardKey key, List<Reschedule> moves) {
        return changes.reschedule(shard(key), moves);
    }

    @Override
    public synchronized Optional<StoredMessage> find(ShardKey key, String id, int frameBytes) {
        return Optional.ofNullable(shard(key).live.get(id))
                .map(MemoryMessage::view)
                .map(message -> message.cutAfter(frameBytes));
    }

    @Override
    public synchronized Optional<Bytes> read(ShardKey key, String id, Bytes incarnation, int from, int count) {
        return inspection.read(shard(key), id, incarnation, from, count);
    }

    @Override
    public synchronized Browsed browse(ShardKey key, Browse page) {
        return inspection.browse(shard(key), page);
    }

    @Override
    public synchronized DeadLetterErrors errors(ShardKey key, @Nullable Position after, int count) {
        return inspection.errors(shard(key), after, count);
    }

    @Override
    public synchronized ShardStats stats(ShardKey key) {
        return inspection.stats(shard(key));
    }

    @Override
    public synchronized List<Boolean> redrive(ShardKey key, List<DeadLetterRef> deaths) {
        return deadLetters.redrive(shard(key), deaths);
    }

    @Override
    public synchronized Replacement.Outcome replace(ShardKey key, DeadLetterRef death, Bytes incarnation, Bytes frame) {
        return deadLetters.replace(shard(key), death, incarnation, frame);
    }

    @Override
    public synchronized List<Boolean> purge(ShardKey key, List<DeadLetterRef> deaths) {
        return deadLetters.purge(shard(key), deaths);
    }

    @Override
    public synchronized int purge(ShardKey key, Duration age, int count) {
        return deadLetters.purge(shard(key), age, count);
    }

    @Override
    public synchronized StoppedKeys stoppedKeys(ShardKey key, String cursor) {
        return OrderingKeys.stoppedKeys(shard(key));
    }

    @Override
    public synchronized boolean freeKey(ShardKey key, String orderingKey, String id) {
        return orderingKeys.free(shard(key), orderingKey, id);
    }

    @Override
    public synchronized List<Boolean> announced(ShardKey key, List<DeadLetterRef> deaths) {
        return deadLetters.announced(shard(key), deaths);
    }

    /** Each message is one object here: there is never anything to repair. */
    @Override
    public Repaired repair(ShardKey key, String position) {
        return new Repaired("", List.of(), 0, List.of());
    }

    @Override
    public synchronized boolean pause(ShardKey key, String by) {
        MemoryShard shard = shard(key);
        boolean changed = shard.pause == null;
        if (changed) {
            shard.pause = new Pause(clock.instant(), by);
        }
        return changed;
    }

    @Override
    public synchronized boolean resume(ShardKey key) {
        MemoryShard shard = shard(key);
        boolean changed = shard.pause != null;
        shard.pause = null;
        Long earliestDue = shard.first(State.WAITING);
        if (changed && earliestDue != null) {
            wakeups.notify(key, null, List.of(earliestDue));
        }
        return changed;
    }

    @Override
    public synchronized boolean raise(ShardKey key, String name, AlertReport report) {
        return alerts.raise(shard(key), name, report);
    }

    @Override
    public synchronized boolean resolve(ShardKey key, String name, AlertReport report) {
        return alerts.resolve(shard(key), name, report);
    }

    @Override
    public Subscription subscribe(Collection<ShardKey> keys, WakeupListener listener) {
        return wakeups.subscribe(keys, listener);
    }
}
