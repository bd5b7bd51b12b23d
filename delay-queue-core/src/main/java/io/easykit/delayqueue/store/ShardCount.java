package io.easykit.delayqueue.store;

import java.time.Duration;

/**
 * How many shards a topic has. Own ids and ordering keys are spread over the home shards, whose number is fixed at the first use.
 * So sends, cancels and the order of a key meet in one shard whatever is added later. Shards that were added later take messages
 * with generated ids only.
 *
 * @param home     number of the home shards, which come first; 0 if the topic was never used
 * @param all      number of all shards
 * @param grownFor time since shards were last added, by the store's clock; zero if none were
 */
public record ShardCount(int home, int all, Duration grownFor) {

    /** Of a topic that was never used. */
    public static final ShardCount NONE = new ShardCount(0, 0, Duration.ZERO);

    public ShardCount {
        if (home < 0 || all < home || all > ShardKey.MAX_SHARDS) {
            throw new IllegalArgumentException(
                    home + " of " + all + " shards are not possible: give 1 to " + ShardKey.MAX_SHARDS + ".");
        }
    }

    /** Without shards that were added later. */
    public static ShardCount of(int shards) {
        return new ShardCount(shards, shards, Duration.ZERO);
    }

    /** Whether the topic was used. */
    public boolean isKept() {
        return home > 0;
    }

    /** Whether shards were added. */
    public boolean isGrown() {
        return all > home;
    }
}
