package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * Decides which rows the relay leaves out for a while: those of a shard that is away or refuses, of a topic whose shards are not
 * known, and single ones. A block ends when a pass begins at the first row and its time is over, never during a pass: a later row of the
 * shard must not overtake those that were left out. Such a pass tries it again.
 *
 * <p>The block of a shard or topic notes a number before the first row that it leaves out, so that a pass need not read all rows
 * before that one. It does so for one owner only: {@link #forgetFirstRows} if there are more.
 */
final class OutboxBlocks {

    /** For a store that does not answer. */
    static final Duration AWAY = Duration.ofSeconds(1);

    /** For a refusal, which lasts until somebody fixes it. */
    static final Duration REFUSED = Duration.ofSeconds(30);

    /** So many topics are left out by the query. The rows of others are read in vain. */
    private static final int MOST_TOPICS = 100;

    /** Names a topic as a whole. */
    private static final int ALL = -1;

    private final LongSupplier nanos;
    private final Map<Part, Block> parts = new HashMap<>();
    private final Map<Long, RowBlock> rows = new HashMap<>();

    // Blocks that have ended, and were not made again.
    private final Map<Part, Long> triedParts = new HashMap<>();
    private final NavigableSet<Long> triedRows = new TreeSet<>();

    /** @param nanos a clock that only moves forward */
    OutboxBlocks(LongSupplier nanos) {
        this.nanos = nanos;
    }

    private record Part(String topic, int shard) {}

    /** @param before a number before the first row that it leaves out */
    private record Block(boolean refused, long end, int shards, long before) {

        Block withBefore(long number) {
            return new Block(refused, end, shards, Math.min(before, number));
        }
    }

    private record RowBlock(String topic, long end) {}

    /** Whether the time of a block is over. */
    boolean canEndSome() {
        long now = nanos.getAsLong();
        return parts.values().stream().anyMatch(block -> now - block.end >= 0)
                || rows.values().stream().anyMatch(block -> now - block.end >= 0);
    }

    void endSome() {
        long now = nanos.getAsLong();
        triedParts.clear();
        triedRows.clear();
        parts.forEach((part, block) -> {
            if (now - block.end >= 0) {
                triedParts.put(part, block.before);
            }
        });
        parts.keySet().removeAll(triedParts.keySet());
        rows.forEach((row, block) -> {
            if (now - block.end >= 0) {
                triedRows.add(row);
            }
        });
        rows.keySet().removeAll(triedRows);
    }

    /**
     * A number, at least this one, up to which no other row was left out because of a block that has ended since. {@link
     * Long#MAX_VALUE} if there is no such block.
     */
    long beforeTried(long number) {
        Long row = triedRows.higher(number);
        long before = triedParts.values().stream().mapToLong(part -> part).min().orElse(Long.MAX_VALUE);
        return Math.max(number, Math.min(before, row == null ? Long.MAX_VALUE : row - 1));
    }

    /** Rows after this number may have become visible, and are left out too. */
    void becameVisible(long number) {
        parts.replaceAll((part, block) -> block.withBefore(number));
        triedParts.replaceAll((part, before) -> Math.min(before, number));
    }

    /** The rows of another owner may have lower numbers. */
    void forgetFirstRows() {
        becameVisible(0);
    }

    /**
     * @param shards of the topic
     * @param row    the first one that is left out. Those before it are stored
     */
    void block(ShardKey shard, int shards, boolean refused, long row) {
        put(new Part(shard.topic(), shard.shard()), block(refused, shards, row - 1));
    }

    /** @param row the first one that is left out. Those before it are stored, or their shards are blocked too */
    void blockTopic(String topic, boolean refused, long row) {
        long[] before = {row - 1};
        // From now on the rows of these shards are left out because of their topic.
        parts.forEach(
                (part, block) -> before[0] = part.topic.equals(topic) ? Math.min(before[0], block.before) : before[0]);
        triedParts.forEach(
                (part, first) -> before[0] = part.topic.equals(topic) ? Math.min(before[0], first) : before[0]);
        put(new Part(topic, ALL), block(refused, 1, before[0]));
    }

    private void put(Part part, Block block) {
        parts.put(part, block);
        triedParts.remove(part);
    }

    private Block block(boolean refused, int shards, long before) {
        return new Block(refused, nanos.getAsLong() + (refused ? REFUSED : AWAY).toNanos(), shards, before);
    }

    void blockRow(long number, String topic) {
        rows.put(number, new RowBlock(topic, nanos.getAsLong() + REFUSED.toNanos()));
    }

    boolean isBlocked(ShardKey shard) {
        return parts.containsKey(new Part(shard.topic(), shard.shard())) || isBlocked(shard.topic());
    }

    boolean isBlocked(String topic) {
        return parts.containsKey(new Part(topic, ALL));
    }

    boolean isBlocked(long row) {
        return rows.containsKey(row);
    }

    boolean isEmpty() {
        return parts.isEmpty() && rows.isEmpty();
    }

    /** Topics of which no row is to be read. */
    Set<String> topics() {
        Map<String, Integer> blocked = new HashMap<>();
        Set<String> whole = new HashSet<>();
        parts.forEach((part, block) -> {
            boolean isWhole = part.shard == ALL || blocked.merge(part.topic, 1, Integer::sum) == block.shards;
            if (isWhole && whole.size() < MOST_TOPICS) {
                whole.add(part.topic);
            }
        });
        return whole;
    }

    /** Number of topics with messages that the store refuses. */
    int refusedTopics() {
        Set<String> refused = new HashSet<>();
        rows.values().forEach(block -> refused.add(block.topic));
        parts.forEach((part, block) -> {
            if (block.refused) {
                refused.add(part.topic);
            }
        });
        return refused.size();
    }
}
