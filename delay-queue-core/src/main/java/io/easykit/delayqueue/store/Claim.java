package io.easykit.delayqueue.store;

import java.time.Duration;
import java.util.List;

/**
 * A request for messages. A claim that got no answer is asked again with the same owner and request number, and gets
 * the same hand-out; the next one has a higher number. One claim an owner and shard is under way at a time.
 *
 * @param owner        one dispatcher of one start of one process: letters, digits and {@code . _ - @ /}, never used
 *                     again after a restart
 * @param request      from 1, rising
 * @param count        at most so many messages, 1 to {@link QueueStore#MAX_BATCH}
 * @param besideLost   at most so many where one of these has lost a lease, 0 to {@code count}, or all that come before
 *                     it: it may be what kills its consumers, and what they hold loses a lease with them
 * @param lease        until they are lost to this consumer, unless extended
 * @param bytes        of all frames in the answer. Messages are handed out as long as theirs fit, at least one; a frame
 *                     of more than a quarter is left out, to be read by itself. If a claim is asked again with less,
 *                     messages that no longer fit wait again
 * @param acknowledged to be acknowledged in the same trip, before the claim
 */
public record Claim(
        String owner, long request, int count, int besideLost, Duration lease, int bytes, List<Lease> acknowledged) {

    /** About 10 ms on a line of 100 Mbit/s. */
    public static final int MOST_BYTES = 1 << 17;

    /** A claim of as many bytes as usual. */
    public Claim(String owner, long request, int count, int besideLost, Duration lease, List<Lease> acknowledged) {
        this(owner, request, count, besideLost, lease, MOST_BYTES, acknowledged);
    }

    /** The same request, to be answered with fewer bytes. */
    public Claim within(int fewer) {
        return new Claim(owner, request, count, besideLost, lease, fewer, acknowledged);
    }

    public Claim {
        require(owner.matches("[A-Za-z0-9._@/-]{1,200}"), "Owner '" + owner + "' has other characters than . _ - @ /");
        require(request >= 1, "Request numbers start at 1");
        require(
                count >= 1 && count <= QueueStore.MAX_BATCH,
                "A count is 1 to " + QueueStore.MAX_BATCH + ", not " + count);
        require(besideLost >= 0 && besideLost <= count, "Beside a lost message: 0 to count");
        require(lease.compareTo(Duration.ofMillis(1)) >= 0, "A lease lasts a millisecond at least, not " + lease);
        require(bytes >= 1, "A claim is of at least one byte, not " + bytes);
        acknowledged = List.copyOf(acknowledged);
    }

    private static void require(boolean holds, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException(complaint + ".");
        }
    }
}
