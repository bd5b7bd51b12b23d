package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Rows that the relay leaves out for a while: those of a shard that is away or refuses, of a topic whose shards are not known,
 * and single ones. A block ends when a pass begins at the first row and its time is over, never during a pass: a later row of the
 * shard must not overtake those that were left out. Such a pass tries it again.
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
    private final Set<Part> triedParts = new HashSet<>();
    private long lastTriedRow;

    /** @param nanos a clock that only moves forward */
    OutboxBlocks(LongSupplier nanos) {
        this.nanos = nanos;
    }

    private record Part(String topic, int shard) {}

    private record Block(boolean refused, long end, int shards) {}

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
        lastTriedRow = 0;
        parts.entrySet().removeIf(part -> {
            boolean isOver = now - part.getValue().end >= 0;
            return isOver && triedParts.add(part.getKey());
        });
        rows.entrySet().removeIf(row -> {
            boolean isOver = now - row.getValue().end >= 0;
            lastTriedRow = isOver ? Math.max(lastTriedRow, row.getKey()) : lastTriedRow;
            return isOver;
        });
    }

    /** Whether rows after this one may have been left out because of a block that has ended since. */
    boolean mayHaveLeftOut(long number) {
        return !triedParts.isEmpty() || lastTriedRow > number;
    }

    /** @param shards of the topic */
    void block(ShardKey shard, int shards, boolean refused) {
        put(new Part(shard.topic(), shard.shard()), block(refused, shards));
    }

    void blockTopic(String topic, boolean refused) {
        put(new Part(topic, ALL), block(refused, 1));
    }

    private void put(Part part, Block block) {
        parts.put(part, block);
        triedParts.remove(part);
    }

    private Block block(boolean refused, int shards) {
        return new Block(refused, nanos.getAsLong() + (refused ? REFUSED : AWAY).toNanos(), shards);
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
