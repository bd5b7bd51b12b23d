package io.easykit.delayqueue.store;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.ShardStats;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where the messages lie. Each method is one atomic move of one shard, and the store's clock alone decides what is due and
 * which lease has ended.
 *
 * <p>A live message is in exactly one place: <em>waiting</em>, <em>in flight</em> or <em>dead</em>. A claim moves what is
 * due to in flight, under a lease and a delivery number; the pair of id and number, a {@link Lease}, is the fencing token
 * of acknowledge, fail, release and extend. These change nothing unless the message is in flight under that very number,
 * and the {@link Settlement} says so. Numbers rise and never repeat in a shard.
 *
 * <p><b>Calls.</b> All methods block until the store has answered, and can be called from several threads. A call takes at
 * most {@link #MAX_BATCH} messages, and none is allowed where a list is taken; replies are in the order of the arguments.
 *
 * <p><b>Errors.</b> {@link StoreUnavailableException}: no answer, the call may have been carried out. Repeating it is safe:
 * a send is {@code REPLAYED}, an acknowledge {@code GONE}, a fail or release {@code STALE}, a claim with the same request
 * number hands out the same again. {@link StoreFullException}: from send and reschedule only, nothing was stored.
 * {@link StoreRefusedException}: not to be mended by repeating. {@link IllegalArgumentException}: nothing was sent.
 */
public interface QueueStore {

    /** The most messages of one call: about a millisecond of a Redis. */
    int MAX_BATCH = 100;

    /** Does ahead what makes the first calls fast, and shows that the store answers. May be repeated at any time. */
    void prepare();

    /** Keeps the shard count of a topic when it is first used, and returns the one that is kept. */
    int declare(String topic, int shards);

    /** The shard count of a topic that is kept, or 0 if it was never used. */
    int declared(String topic);

    /** Stores messages that wait for their time. */
    List<SendOutcome> send(ShardKey shard, List<NewMessage> messages);

    /** Acknowledges what the claim says, then hands out what is due, the oldest due time first. */
    Claimed claim(ShardKey shard, Claim claim);

    /** Ends messages that are done. */
    List<Settlement> acknowledge(ShardKey shard, List<Lease> leases);

    /** Takes back messages whose handlers have failed: for another attempt, or to the dead. Each costs one failure. */
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
     * Prolongs leases, counted from now; never shortens one. Where the answer is not {@code APPLIED}, the message has been
     * lost to this consumer.
     */
    List<Settlement> extend(ShardKey shard, List<Lease> leases, Duration duration);

    /**
     * Takes messages from consumers whose lease has ended. Each costs one lost lease, and the last that {@code maxLost}
     * allows makes it dead.
     *
     * @param count   at most so many, 1 to {@link #MAX_BATCH}
     * @param maxLost leases that may be lost before death, at least 1; the same on all nodes
     * @param delay   until it is due again; zero keeps its old due time
     */
    Reaped reap(ShardKey shard, int count, int maxLost, Duration delay);

    /**
     * Gives up messages as if their leases had ended now, for a node that ends while their handlers run. Each costs one lost
     * lease, and the last that {@code maxLost} allows makes it dead.
     *
     * @param maxLost as in {@link #reap}
     * @param delay   as in {@link #reap}
     * @return what was lost; leases that do not hold any more are left out
     */
    Reaped giveUp(ShardKey shard, List<Lease> leases, int maxLost, Duration delay);

    /** Ends messages that are waiting. */
    List<ChangeOutcome> cancel(ShardKey shard, List<Target> targets);

    /** Gives messages that are waiting another due time. */
    List<ChangeOutcome> reschedule(ShardKey shard, List<Move> moves);

    Optional<StoredMessage> find(ShardKey shard, String id);

    /**
     * One page of a place, in order of its time: the soonest due, the soonest lease end, the oldest death first.
     *
     * @param offset how many to skip
     * @param count  1 to {@link #MAX_BATCH}
     */
    Page list(ShardKey shard, MessageInfo.State place, long offset, int count);

    /**
     * Reads a piece of a message's frame, for frames that are too large for one reply.
     *
     * @param life  first bytes of the frame that is meant, or none for whatever has the id
     * @param from  offset of the piece
     * @param count bytes of the piece; less at the end
     * @return empty if there is no such frame, or it ends before
     */
    Optional<Bytes> read(ShardKey shard, String id, Bytes life, int from, int count);

    /** Sends dead letters back; true for those that wait again, false for those not dead, or dead again since. */
    List<Boolean> redrive(ShardKey shard, List<Death> deaths, Pace pace);

    /**
     * Sends back the oldest dead letters up to a cut-off. To redrive all, repeat it with the cut-off that the first page
     * answers, until a page is not full.
     *
     * @param diedUntil the cut-off, or null for the store's now
     * @param count     1 to {@link #MAX_BATCH}
     */
    RedrivenPage redrive(ShardKey shard, @Nullable Instant diedUntil, int count, Pace pace);

    /** Removes dead letters; true for those removed, false for those not dead, or dead again since. */
    List<Boolean> purge(ShardKey shard, List<Death> deaths);

    /**
     * Removes the oldest dead letters of at least this age, and returns how many.
     *
     * @param count 1 to {@link #MAX_BATCH}; repeat it until a call returns less
     */
    int purge(ShardKey shard, Duration age, int count);

    ShardStats stats(ShardKey shard);

    /**
     * Looks at one page of what is kept of messages and mends what a call that failed half way has left: messages in no place
     * wait again.
     *
     * @param position {@link Repaired#BEGIN}, then {@link Repaired#next} until {@link Repaired#isLast}
     */
    Repaired repair(ShardKey shard, String position);

    /** Stops claims of the shard; what is in flight goes on. True if they were not stopped before. */
    boolean pause(ShardKey shard);

    /** Resumes claims of the shard. True if they were stopped. */
    boolean resume(ShardKey shard);

    /**
     * Keeps for all nodes that a limit is exceeded; again keeps it longer. True for the first to say so.
     *
     * @param alert  name of the limit: letters and {@code _}
     * @param expiry until it is forgotten unless somebody says so again
     */
    boolean raise(ShardKey shard, String alert, Duration expiry);

    /** Keeps for all nodes that a limit is not exceeded any more. True for the first to say so. */
    boolean resolve(ShardKey shard, String alert);

    /**
     * Listens for messages that became due earlier than what was waiting. A hint that may be lost, or come twice: whoever
     * sleeps looks again after a second anyway. Returns at once, whether the store answers or not, and throws nothing;
     * the subscription is made in the background, and outlives outages.
     *
     * @param listener called on a thread of the store; has to return at once
     */
    Subscription subscribe(Collection<ShardKey> shards, BellListener listener);
}
