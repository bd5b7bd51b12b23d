package io.easykit.delayqueue.store;

/**
 * Permits that a claim has from other shards of its topic. They belong to this claim: a repetition has the same, the next claim has
 * none of them.
 *
 * @param permits 0 to {@link QueueStore#MAX_BATCH}
 * @param until   when they lapse, in milliseconds since the epoch, by the store's clock in the shard of the claim
 */
public record Borrowed(int permits, long until) {

    public static final Borrowed NONE = new Borrowed(0, 0);

    public Borrowed {
        if (permits < 0 || permits > QueueStore.MAX_BATCH) {
            throw new IllegalArgumentException(
                    "A claim borrows 0 to " + QueueStore.MAX_BATCH + " permits, not " + permits + ".");
        }
    }

    /** Whether they may be used at this time. They count as lapsed if the clock has stepped back. */
    public boolean isValid(long millis) {
        return millis <= until && until - millis <= Lent.LAPSE_MILLIS;
    }
}
