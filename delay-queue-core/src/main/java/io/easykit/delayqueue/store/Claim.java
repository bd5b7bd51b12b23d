package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * A request for messages. A claim without a reply is repeated with the same owner and request number, and gets the same
 * messages; the next one has a higher number. At most one claim of an owner and shard is on its way at a time.
 *
 * @param owner        one dispatcher of one start of one process: letters, digits and {@code . _ - @ /}, never used again
 *     after a restart
 * @param request      from 1, rising
 * @param count        maximum number of messages, 1 to {@link QueueStore#MAX_BATCH}
 * @param besideLost   maximum number if one of the messages has lost a lease, 0 to {@code count}, or all that come before it:
 *     it may be a poison message, and a crash would expire the other leases with it
 * @param lease        time until the messages are lost to this consumer, unless extended
 * @param bytes        maximum size of all frames in the reply. Messages are handed out as long as their frames fit. A frame
 *     of more than a quarter is left out, to be read separately, and counts as a quarter; so at least four fit. If a claim is
 *     repeated with less, messages that no longer fit wait again
 * @param limits       of the shard: no more messages are handed out than these allow
 * @param acknowledged leases to acknowledge in the same call, before the claim
 * @param borrowed     permits of other shards, which are used before those of this one
 */
public record Claim(
        String owner,
        long request,
        int count,
        int besideLost,
        Duration lease,
        int bytes,
        FlowShare limits,
        List<Lease> acknowledged,
        Borrowed borrowed) {

    /** About 10 ms on a line of 100 Mbit/s. */
    public static final int MOST_BYTES = 1 << 17;

    private static final Pattern OWNER = Pattern.compile("[A-Za-z0-9._@/-]{1,200}");

    private static final Duration SHORTEST_LEASE = Duration.ofMillis(1);

    /** A claim of as many bytes as usual, without limits. */
    public Claim(String owner, long request, int count, int besideLost, Duration lease, List<Lease> acknowledged) {
        this(owner, request, count, besideLost, lease, MOST_BYTES, acknowledged);
    }

    /** A claim without limits. */
    public Claim(
            String owner,
            long request,
            int count,
            int besideLost,
            Duration lease,
            int bytes,
            List<Lease> acknowledged) {
        this(owner, request, count, besideLost, lease, bytes, FlowShare.NONE, acknowledged, Borrowed.NONE);
    }

    /** The same request under limits. */
    public Claim under(FlowShare share) {
        return new Claim(owner, request, count, besideLost, lease, bytes, share, acknowledged, borrowed);
    }

    /** The same request with permits of other shards. */
    public Claim with(Borrowed permits) {
        return new Claim(owner, request, count, besideLost, lease, bytes, limits, acknowledged, permits);
    }

    /** The same request, to be answered with fewer bytes. */
    public Claim within(int fewer) {
        return new Claim(owner, request, count, besideLost, lease, fewer, limits, acknowledged, borrowed);
    }

    public Claim {
        require(OWNER.matcher(owner).matches(), () -> "Owner '" + owner + "' has other characters than . _ - @ /");
        require(request >= 1, () -> "Request numbers start at 1");
        require(
                count >= 1 && count <= QueueStore.MAX_BATCH,
                () -> "A count is 1 to " + QueueStore.MAX_BATCH + ", not " + count);
        require(besideLost >= 0 && besideLost <= count, () -> "Beside a lost message: 0 to count");
        require(
                lease.compareTo(SHORTEST_LEASE) >= 0,
                () -> "A lease lasts a millisecond at least, not " + DurationText.of(lease));
        require(bytes >= 1, () -> "A claim is of at least one byte, not " + bytes);
        acknowledged = List.copyOf(acknowledged);
    }

    /** Each claim is checked, so the text is made only if it is needed. */
    private static void require(boolean holds, Supplier<String> complaint) {
        if (!holds) {
            throw new IllegalArgumentException(complaint.get() + ".");
        }
    }
}
