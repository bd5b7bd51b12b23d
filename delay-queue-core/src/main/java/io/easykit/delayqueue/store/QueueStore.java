package io.easykit.delayqueue.store;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Stores the messages. Each method is one atomic operation on one shard, and the store's clock alone decides which messages
 * are due and which leases have expired.
 *
 * <p>A live message is in exactly one place: <em>waiting</em>, <em>in flight</em> or <em>dead</em>. A claim moves due
 * messages to in flight, under a lease and a delivery number; the pair of id and number, a {@link Lease}, is the fencing
 * token of acknowledge, fail, release and extend. These change nothing unless the message is in flight under that very
 * number, and return the {@link Settlement}. Numbers rise and do not repeat in a shard, unless the store has lost writes and its clock
 * has stepped back.
 *
 * <p><b>Ordering keys.</b> The id of a message may carry one ({@link io.easykit.delayqueue.support.NameRules#orderingKey}). A message holds
 * its key from its first claim until it ends, and may hold it on as a dead letter. No claim hands out a message whose key another
 * one holds: it is <em>parked</em>, which is a way of waiting. When the key is free, its first message is due again.
 *
 * <p><b>Calls.</b> All methods block until the store has answered, and can be called from several threads. A call takes at
 * most {@link #MAX_BATCH} messages. Lists may be empty; replies are in the order of the arguments.
 *
 * <p><b>Errors.</b> {@link StoreUnavailableException}: no reply, the call may have been carried out. Repeating it is safe: a
 * send is {@code REPLAYED}, an acknowledge {@code GONE}, a fail or release {@code STALE}, a claim with the same request
 * number returns the same messages. {@link StoreFullException}: from send and reschedule only, nothing was stored. {@link
 * StoreRefusedException}: a repetition would be refused too. {@link IllegalArgumentException}: nothing was sent.
 */
public interface QueueStore {

    /** Maximum number of messages in one call, which takes Redis about a millisecond. */
    int MAX_BATCH = 100;

    /** Later than the end of any lease. */
    Instant ANY_END = Instant.ofEpochMilli(1L << 53);

    /** Stores messages of this thread, which wait for their time. */
    default List<SendOutcome> send(ShardKey shard, List<NewMessage> messages) {
        return send(shard, messages, false);
    }

    /**
     * Stores messages that wait for their time.
     *
     * @param isShared whether they are those of several threads. Then an interrupt of this thread should not end the wait for
     *     the reply: the outcome of all would be unknown.
     */
    List<SendOutcome> send(ShardKey shard, List<NewMessage> messages, boolean isShared);

    /** As the other {@code sendReplicated}, with messages of this thread. */
    default Replicated sendReplicated(ShardKey shard, List<NewMessage> messages, ReplicaWait wait) {
        return sendReplicated(shard, messages, wait, false);
    }

    /**
     * Stores messages and waits until replicas have them. Fewer replicas than wanted are no error: the messages are stored.
     *
     * @param isShared whether they are those of several threads, as for {@code send}
     * @throws StoreRefusedException if the store cannot wait for replicas; nothing is stored
     */
    default Replicated sendReplicated(ShardKey shard, List<NewMessage> messages, ReplicaWait wait, boolean isShared) {
        throw new StoreRefusedException(
                "This store cannot wait for replicas, and nothing was stored. Send without waiting for replicas.",
                null);
    }

    /** Acknowledges the leases of the claim, then hands out due messages, the oldest due time first. */
    Claimed claim(ShardKey shard, Claim claim);

    /**
     * Takes permits that a shard has saved up and does not need, because none of its messages is due, for another shard of its topic
     * ({@link Borrowed}). They are gone here, also if the reply is lost. A repetition takes further ones.
     *
     * @param limits of the shard that lends, with a rate
     * @param most   1 to {@link #MAX_BATCH}
     */
    Lent lend(ShardKey shard, FlowShare limits, int most);

    /** Removes messages that are done. */
    List<Settlement> acknowledge(ShardKey shard, List<Lease> leases);

    /** Puts back messages whose handlers have failed, for another attempt or as dead letters. Each costs one failure. */
    List<Settlement> fail(ShardKey shard, List<Failure> failures);

    /** Hands back messages that were not run; they are due as before, at no cost. */
    default List<Settlement> release(ShardKey shard, List<Lease> leases) {
        return release(shard, leases, Duration.ZERO);
    }

    /**
     * Hands back messages that were not run, at no cost.
     *
     * @param delay until they are due again, for a node that cannot run them while others can; zero keeps the due time
     */
    List<Settlement> release(ShardKey shard, List<Lease> leases, Duration delay);

    /**
     * Extends leases, counted from now; never shortens one. If the result is not {@code APPLIED}, this consumer has lost the
     * message.
     */
    List<Settlement> extend(ShardKey shard, List<Lease> leases, Duration duration);

    /**
     * Puts messages back whose lease has expired. Each costs one lease expiration, and the last that {@code maxLeaseExpirations}
     * allows makes it a dead letter.
     *
     * @param count   maximum number of messages, 1 to {@link #MAX_BATCH}
     * @param maxLeaseExpirations number of lease expirations after which a message is dead, at least 1; the same on all nodes
     * @param delay   until it is due again; zero keeps its old due time
     * @param policy  for the ordering keys of those that die
     * @param until   leases that end later are left alone, also if they are over by the store's clock, which may have stepped ahead.
     *                {@link #ANY_END}: none are
     */
    Reaped reap(
            ShardKey shard, int count, int maxLeaseExpirations, Duration delay, DeadKeyPolicy policy, Instant until);

    /** As the other {@code reap}, by the store's clock alone; a message that dies stops its ordering key. */
    default Reaped reap(ShardKey shard, int count, int maxLeaseExpirations, Duration delay) {
        return reap(shard, count, maxLeaseExpirations, delay, DeadKeyPolicy.STOP, ANY_END);
    }

    /**
     * Gives up messages as if their leases had expired now, for a node that ends while their handlers run. Each costs one
     * lease expiration, and the last that {@code maxLeaseExpirations} allows makes it a dead letter.
     *
     * @param maxLeaseExpirations as in {@link #reap}
     * @param delay   as in {@link #reap}
     * @param policy  for the ordering keys of those that die
     * @return the messages that were given up; leases that no longer hold are left out
     */
    Reaped giveUp(ShardKey shard, List<Lease> leases, int maxLeaseExpirations, Duration delay, DeadKeyPolicy policy);

    /** As the other {@code giveUp}; a message that dies stops its ordering key. */
    default Reaped giveUp(ShardKey shard, List<Lease> leases, int maxLeaseExpirations, Duration delay) {
        return giveUp(shard, leases, maxLeaseExpirations, delay, DeadKeyPolicy.STOP);
    }

    /** Removes messages that wait. */
    List<ChangeOutcome> cancel(ShardKey shard, List<Target> targets);

    /** Gives messages that wait another due time. */
    List<ChangeOutcome> reschedule(ShardKey shard, List<Reschedule> moves);
}
