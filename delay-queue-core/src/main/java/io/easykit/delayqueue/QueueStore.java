package io.easykit.delayqueue;

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
    Page list(ShardKey shard, StoredMessage.Place place, long offset, int count);

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

    /**
     * Told when something is due earlier than what was waiting, and of {@link Instant#EPOCH} when the subscription holds,
     * because what came before may have been missed.
     */
    interface BellListener {

        /**
         * Called for each bell.
         *
         * @param due the new earliest due time, by the store's clock
         */
        void onBell(ShardKey shard, Instant due);
    }

    /** Ends with {@code close}, which may be repeated. */
    interface Subscription extends AutoCloseable {

        @Override
        void close();
    }

    /**
     * A message to be stored.
     *
     * @param id    of 1 to 512 bytes
     * @param frame the encoded {@link Envelope}; not empty
     */
    record NewMessage(String id, Due due, Bytes frame) {
        public NewMessage {
            requireId(MessageIds.requireWellFormed(id));
            require(frame.length() > 0, "A frame is not empty");
        }
    }

    /**
     * A request for messages. A claim that got no answer is asked again with the same owner and request number, and gets
     * the same hand-out; the next one has a higher number. One claim an owner and shard is under way at a time.
     *
     * @param owner        one dispatcher of one start of one process: letters, digits and {@code . _ - @ /}, never used
     *                     again after a restart
     * @param request      from 1, rising
     * @param count        at most so many messages, 1 to {@link #MAX_BATCH}
     * @param besideLost   at most so many where one of these has lost a lease, 0 to {@code count}, or all that come before
     *                     it: it may be what kills its consumers, and what they hold loses a lease with them
     * @param lease        until they are lost to this consumer, unless extended
     * @param bytes        of all frames in the answer. Messages are handed out as long as theirs fit, at least one; a frame
     *                     of more than a quarter is left out, to be read by itself. If a claim is asked again with less,
     *                     messages that no longer fit wait again
     * @param acknowledged to be acknowledged in the same trip, before the claim
     */
    record Claim(
            String owner,
            long request,
            int count,
            int besideLost,
            Duration lease,
            int bytes,
            List<Lease> acknowledged) {

        /** About 10 ms on a line of 100 Mbit/s. */
        public static final int MOST_BYTES = 1 << 17;

        /** A claim of as many bytes as usual. */
        public Claim(String owner, long request, int count, int besideLost, Duration lease, List<Lease> acknowledged) {
            this(owner, request, count, besideLost, lease, MOST_BYTES, acknowledged);
        }

        /** The same request, to be answered with fewer bytes. */
        Claim within(int fewer) {
            return new Claim(owner, request, count, besideLost, lease, fewer, acknowledged);
        }

        public Claim {
            require(
                    owner.matches("[A-Za-z0-9._@/-]{1,200}"),
                    "Owner '" + owner + "' has other characters than . _ - @ /");
            require(request >= 1, "Request numbers start at 1");
            requireCount(count);
            require(besideLost >= 0 && besideLost <= count, "Beside a lost message: 0 to count");
            requireLease(lease);
            require(bytes >= 1, "A claim is of at least one byte, not " + bytes);
            acknowledged = List.copyOf(acknowledged);
        }
    }

    /**
     * The answer to a claim.
     *
     * @param now          the store's clock
     * @param status       whether there could be messages
     * @param nextDue      when the next waiting message is due, maybe already; null when none waits, or the shard is paused
     * @param nextLeaseEnd when the first lease ends, maybe already: time to {@link #reap}; null when nothing is in flight
     * @param acknowledged for each lease that the claim acknowledged
     * @param deliveries   what was handed out
     */
    record Claimed(
            Instant now,
            ClaimStatus status,
            @Nullable Instant nextDue,
            @Nullable Instant nextLeaseEnd,
            List<Settlement> acknowledged,
            List<Delivery> deliveries) {}

    /** Whether a claim could hand out. */
    enum ClaimStatus {
        CLAIMED,
        PAUSED,
        /** This owner has had the answer to a later request; this one came late. */
        OUTDATED
    }

    /**
     * A message in the hands of one consumer.
     *
     * @param number   of this delivery; unique in the shard
     * @param due      when it was due
     * @param failures so far
     * @param lost     leases lost so far
     * @param releases so far
     * @param frame    what {@link NewMessage#frame} was, or empty if somebody deleted it or it is left out
     * @param unread   length of a frame that is left out, to be read by {@link #read}; else 0
     */
    record Delivery(
            String id, long number, Instant due, int failures, int lost, int releases, Bytes frame, int unread) {

        /** A delivery with its frame. */
        public Delivery(String id, long number, Instant due, int failures, int lost, int releases, Bytes frame) {
            this(id, number, due, failures, lost, releases, frame, 0);
        }

        public Lease lease() {
            return new Lease(id, number);
        }
    }

    /** The right to settle a delivery: its id and its number. */
    record Lease(String id, long number) {
        public Lease {
            requireId(id);
        }
    }

    /**
     * A delivery that failed.
     *
     * @param retryAfter the wait until the next attempt, or null: the message is dead
     * @param error      what to keep as its error; cut at 4,096 bytes
     */
    record Failure(Lease lease, @Nullable Duration retryAfter, String error) {
        public Failure {
            require(
                    retryAfter == null || RetryPolicy.isPossible(retryAfter),
                    "A wait of " + retryAfter + " is not possible: give zero to " + RetryPolicy.LONGEST);
        }
    }

    /** What became of an acknowledge, fail, release or extend. */
    enum Settlement {
        APPLIED,
        /** The message is live, but not in flight under this number: somebody else has had it since. Nothing changed. */
        STALE,
        /** The message is no longer live, or not claimed in this life. Nothing changed. */
        GONE
    }

    /**
     * The answer to a reap.
     *
     * @param nextLeaseEnd when the next lease ends, or null when nothing is in flight
     */
    record Reaped(Instant now, @Nullable Instant nextLeaseEnd, List<LostLease> lost) {}

    /**
     * A lease that ended before its message was settled.
     *
     * @param owner     whose lease ended
     * @param lostSoFar leases of the message that were lost, this one included
     * @param dead      whether the message died of it
     */
    record LostLease(Lease lease, String owner, int lostSoFar, boolean dead) {}

    /**
     * A message to be cancelled or moved.
     *
     * @param life first bytes of the frame that is meant ({@link Envelope#life}), or null for whatever has the id
     */
    record Target(String id, @Nullable Bytes life) {
        public Target {
            requireId(MessageIds.requireWellFormed(id));
        }
    }

    record Move(Target target, Due due) {}

    /** One death of one message: a later death of the same id is another. */
    record Death(String id, Instant diedAt) {

        private static final Instant LATEST = Instant.ofEpochMilli(1L << 53);

        public Death {
            requireId(MessageIds.requireWellFormed(id));
            require(
                    diedAt != null && !diedAt.isBefore(Instant.EPOCH) && !diedAt.isAfter(LATEST),
                    "No message died at " + diedAt
                            + ": give the time of death that the dead letter shows, StoredMessage.at()");
        }
    }

    /**
     * How redriven messages are spread over time.
     *
     * @param delay of the first, counted in whole milliseconds
     * @param gap   from one to the next, to the nanosecond; at most a day
     */
    record Pace(Duration delay, Duration gap) {

        /** All at once. */
        public static final Pace AT_ONCE = new Pace(Duration.ZERO, Duration.ZERO);

        public Pace {
            require(!delay.isNegative() && !gap.isNegative(), "Delay and gap are not negative");
            require(gap.compareTo(Duration.ofDays(1)) <= 0, "A gap is a day at most, not " + gap);
        }
    }

    /**
     * What a redrive of a page did.
     *
     * @param diedUntil the cut-off that was used, for the next page
     */
    record RedrivenPage(Instant diedUntil, int count) {}

    /**
     * What was mended.
     *
     * @param next      position of the next page, or empty after the last one
     * @param putBack   ids of messages that were in no place and wait again
     * @param leftovers entries of messages that had ended or moved, which were removed
     * @param counters  names of counters that were no numbers and are set to what the messages say
     */
    record Repaired(String next, List<String> putBack, long leftovers, List<String> counters) {

        /** Position of the first page. */
        public static final String BEGIN = "state:0";

        public Repaired {
            putBack = List.copyOf(putBack);
            counters = List.copyOf(counters);
        }

        /** Whether everything has been looked at. */
        public boolean isLast() {
            return next.isEmpty();
        }
    }

    /**
     * One page of a place.
     *
     * @param total   how many there are in the place
     * @param refused of a page of several shards: why shards are missing, one text for each
     */
    record Page(long total, List<StoredMessage> messages, List<String> refused) {

        /** A page that nothing is missing from. */
        public Page(long total, List<StoredMessage> messages) {
            this(total, messages, List.of());
        }
    }

    private static void requireId(String id) {
        require(!id.isEmpty() && id.length() <= 512, "An id has 1 to 512 characters");
    }

    private static void requireCount(int count) {
        require(count >= 1 && count <= MAX_BATCH, "A count is 1 to " + MAX_BATCH + ", not " + count);
    }

    private static void requireLease(Duration lease) {
        require(lease.compareTo(Duration.ofMillis(1)) >= 0, "A lease lasts a millisecond at least, not " + lease);
    }

    private static void require(boolean holds, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException(complaint + ".");
        }
    }
}
