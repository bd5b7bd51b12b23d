package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.store.AlertReport;
import io.easykit.delayqueue.store.Borrowed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.Lent;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Reaped;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.store.WakeupListener;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.redis.DedicatedConnections;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.function.UnaryOperator;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The store in Redis 6.2 or later: each method is one Lua script in one round trip. {@code docs/delay-queue/internals.md}
 * describes the protocol.
 *
 * <p>The connection factory decides how long a call can last, and whether a send is repeated after a reconnect: a repeated
 * send whose message has already been acknowledged would be delivered again. {@link DedicatedConnections} copies a factory
 * with the settings that the store needs: a short command timeout, no commands while disconnected, and none replayed.
 */
public final class RedisQueueStore extends DeadLetterScripts implements QueueBackend, AutoCloseable {

    public static final String DEFAULT_KEY_PREFIX = "dq:";

    private final ShardCounts counts;
    private final FleetStore fleet;
    private final WakeupSubscriptions wakeups;
    private final RedisJobStore jobs;
    private final ActionLog actions;

    public RedisQueueStore(RedisConnectionFactory connections) {
        this(connections, DEFAULT_KEY_PREFIX);
    }

    /**
     * @param keyPrefix start of every key and channel: letters, digits and {@code . _ : / -}. Senders and listeners of a
     *     topic use the same one; applications with different ones do not see each other's messages
     * @throws IllegalArgumentException if a key cannot start with it
     */
    public RedisQueueStore(RedisConnectionFactory connections, String keyPrefix) {
        this(connections, keyPrefix, UnaryOperator.identity());
    }

    /** @param edit changes the scripts, for tests of their clock and of their protections */
    RedisQueueStore(RedisConnectionFactory connections, String keyPrefix, UnaryOperator<String> edit) {
        this(connections, keyPrefix, edit, SlotRetry.over(connections));
    }

    /** @param slots how long calls are repeated while a cluster moves the slot of their shard */
    RedisQueueStore(RedisConnectionFactory connections, String keyPrefix, UnaryOperator<String> edit, SlotRetry slots) {
        this(connections, new RedisKeys(keyPrefix), edit, slots);
    }

    private RedisQueueStore(
            RedisConnectionFactory connections, RedisKeys keys, UnaryOperator<String> edit, SlotRetry slots) {
        this(new WakeupSubscriptions(connections, keys), connections, keys, edit, slots);
    }

    private RedisQueueStore(
            WakeupSubscriptions wakeups,
            RedisConnectionFactory connections,
            RedisKeys keys,
            UnaryOperator<String> edit,
            SlotRetry slots) {
        super(ShardScripts.over(connections, keys, edit, slots, wakeups::reconnect));
        this.wakeups = wakeups;
        this.counts = new ShardCounts(scripts);
        this.fleet = new RedisFleetStore(scripts);
        this.jobs = new RedisJobStore(scripts);
        this.actions = new RedisActionLog(scripts);
    }

    /** Begins to connect, and does not wait for it. Without this the first call begins to. */
    public void startConnecting() {
        scripts.startConnecting();
    }

    @Override
    public void prepare() {
        scripts.loadAll();
    }

    @Override
    public FleetStore fleet() {
        return fleet;
    }

    @Override
    public ShardCount declare(String topic, ShardCount count) {
        return counts.declare(topic, count);
    }

    @Override
    public ShardCount declared(String topic) {
        return counts.declared(topic);
    }

    @Override
    public ShardCount grow(String topic, int all) {
        return counts.grow(topic, all);
    }

    @Override
    public List<SendOutcome> send(ShardKey shard, List<NewMessage> messages, boolean isShared) {
        return Replies.sends(scripts.codes(QueueScript.SEND, shard, arguments(messages), isShared));
    }

    /** Sends over connections of its own, because {@code WAIT} keeps everything else of a connection waiting. */
    @Override
    public Replicated sendReplicated(ShardKey shard, List<NewMessage> messages, ReplicaWait wait, boolean isShared) {
        var replicated = scripts.replicatedCodes(QueueScript.SEND, shard, arguments(messages), wait, isShared);
        return new Replicated(Replies.sends(replicated.reply()), replicated.replicas());
    }

    private static Arguments arguments(List<NewMessage> messages) {
        Arguments arguments = new Arguments();
        for (NewMessage message : bounded(messages)) {
            arguments.add(message.id()).add(message.due()).add(message.frame());
        }
        return arguments;
    }

    @Override
    public Claimed claim(ShardKey shard, Claim claim) {
        Arguments arguments = new Arguments()
                .add(claim.owner())
                .add(claim.request())
                .add(claim.count())
                .add(claim.besideLost())
                .add(claim.lease())
                .add(claim.bytes())
                .add(text(claim.limits(), claim.borrowed()));
        addLeases(arguments, claim.acknowledged());
        return Replies.claimed(scripts.list(QueueScript.CLAIM, shard, arguments));
    }

    @Override
    public Lent lend(ShardKey shard, FlowShare limits, int most) {
        return Replies.lent(scripts.list(
                QueueScript.LEND,
                shard,
                new Arguments().add(text(limits, Borrowed.NONE)).add(most)));
    }

    @Override
    public List<Settlement> acknowledge(ShardKey shard, List<Lease> leases) {
        return settle(QueueScript.ACKNOWLEDGE, shard, new Arguments(), leases);
    }

    @Override
    public List<Settlement> fail(ShardKey shard, List<Failure> failures) {
        Arguments arguments = new Arguments();
        for (Failure failure : bounded(failures)) {
            addLease(arguments, failure.lease());
            Duration retryAfter = failure.retryAfter();
            if (retryAfter == null) {
                arguments.add(failure.deadKeyPolicy() == DeadKeyPolicy.SKIP ? -2 : -1);
            } else {
                arguments.add(retryAfter);
            }
            arguments.add(failure.error());
        }
        return Replies.settlements(scripts.codes(QueueScript.FAIL, shard, arguments));
    }

    @Override
    public List<Settlement> release(ShardKey shard, List<Lease> leases, Duration delay) {
        return settle(QueueScript.RELEASE, shard, new Arguments().add(delay), leases);
    }

    @Override
    public List<Settlement> extend(ShardKey shard, List<Lease> leases, Duration duration) {
        return settle(QueueScript.EXTEND, shard, new Arguments().add(duration), leases);
    }

    @Override
    public Reaped reap(
            ShardKey shard, int count, int maxLeaseExpirations, Duration delay, DeadKeyPolicy policy, Instant until) {
        Arguments arguments = losses(count, maxLeaseExpirations, delay, policy, until);
        return Replies.reaped(scripts.list(QueueScript.REAP, shard, arguments));
    }

    @Override
    public Reaped giveUp(
            ShardKey shard, List<Lease> leases, int maxLeaseExpirations, Duration delay, DeadKeyPolicy policy) {
        if (leases.isEmpty()) {
            throw new IllegalArgumentException(
                    "Give up at least one lease: without one, all expired leases are reaped.");
        }
        Arguments arguments = losses(MAX_BATCH, maxLeaseExpirations, delay, policy, ANY_END);
        addLeases(arguments, leases);
        return Replies.reaped(scripts.list(QueueScript.REAP, shard, arguments));
    }

    private static Arguments losses(
            int count, int maxLeaseExpirations, Duration delay, DeadKeyPolicy policy, Instant until) {
        return new Arguments()
                .add(count)
                .add(maxLeaseExpirations)
                .add(delay)
                .add(policy == DeadKeyPolicy.SKIP ? "skip" : "stop")
                .add(until);
    }

    @Override
    public List<ChangeOutcome> cancel(ShardKey shard, List<Target> targets) {
        Arguments arguments = new Arguments();
        for (Target target : bounded(targets)) {
            arguments.add(target.id()).add(incarnation(target));
        }
        return Replies.changes(scripts.codes(QueueScript.CANCEL, shard, arguments));
    }

    @Override
    public List<ChangeOutcome> reschedule(ShardKey shard, List<Reschedule> moves) {
        Arguments arguments = new Arguments();
        for (Reschedule move : bounded(moves)) {
            arguments.add(move.target().id()).add(move.due()).add(incarnation(move.target()));
        }
        return Replies.changes(scripts.codes(QueueScript.RESCHEDULE, shard, arguments));
    }

    @Override
    public void checkWrites(ShardKey shard) {
        scripts.number(QueueScript.HEALTH, shard, new Arguments());
    }

    @Override
    public Repaired repair(ShardKey shard, String position) {
        Arguments arguments = new Arguments().add(position).add(MAX_BATCH);
        return Replies.repaired(scripts.list(QueueScript.REPAIR, shard, arguments));
    }

    @Override
    public boolean pause(ShardKey shard, String by) {
        return changes(QueueScript.PAUSE, shard, new Arguments().add("pause").add(by));
    }

    @Override
    public boolean resume(ShardKey shard) {
        return changes(QueueScript.PAUSE, shard, new Arguments().add("resume").add(""));
    }

    @Override
    public boolean raise(ShardKey shard, String alert, AlertReport report) {
        return alert(shard, alert, "raise", report);
    }

    @Override
    public boolean resolve(ShardKey shard, String alert, AlertReport report) {
        return alert(shard, alert, "resolve", report);
    }

    private boolean alert(ShardKey shard, String alert, String change, AlertReport report) {
        Arguments arguments = new Arguments()
                .add(alert)
                .add(change)
                .add(report.token())
                .add(report.isDone() ? "confirm" : "claim")
                .add(ALERT_CLAIM)
                .add(ALERT_EXPIRY);
        return changes(QueueScript.ALERT, shard, arguments);
    }

    @Override
    public JobStore jobs() {
        return jobs;
    }

    @Override
    public ActionLog actions() {
        return actions;
    }

    @Override
    public Subscription subscribe(Collection<ShardKey> shards, WakeupListener listener) {
        return wakeups.subscribe(shards, listener);
    }

    /** Ends all subscriptions, and the connections of sends that wait for replicas. The connection factory remains its owner's. */
    @Override
    public void close() {
        try {
            wakeups.close();
        } finally {
            scripts.close();
        }
    }

    private static String text(FlowShare limits, Borrowed borrowed) {
        if (limits.isNone()) {
            return "";
        }
        String share = limits.stepMicros() + ":" + limits.burst() + ":" + limits.places();
        return borrowed.permits() == 0 ? share : share + ":" + borrowed.permits() + ":" + borrowed.until();
    }

    private boolean changes(QueueScript name, ShardKey shard, Arguments arguments) {
        return scripts.number(name, shard, arguments) == 1;
    }

    private List<Settlement> settle(QueueScript name, ShardKey shard, Arguments arguments, List<Lease> leases) {
        addLeases(arguments, leases);
        return Replies.settlements(scripts.codes(name, shard, arguments));
    }

    private static void addLeases(Arguments arguments, List<Lease> leases) {
        bounded(leases).forEach(lease -> addLease(arguments, lease));
    }

    private static void addLease(Arguments arguments, Lease lease) {
        arguments.add(lease.id()).add(lease.number());
    }

    private static Bytes incarnation(Target target) {
        Bytes incarnation = target.incarnation();
        return incarnation == null ? Bytes.of(new byte[0]) : incarnation;
    }
}
