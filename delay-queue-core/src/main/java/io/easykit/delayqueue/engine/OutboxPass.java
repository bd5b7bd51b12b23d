package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutbox.Row;
import io.easykit.delayqueue.store.SendOutbox.RowId;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores rows of the outbox, and then deletes them. The messages of a shard are stored in the order of the numbers of their
 * rows. What a shard does not take blocks this shard only.
 *
 * <p>A row that is stored and could not be deleted is remembered, and is only deleted from then on.
 */
final class OutboxPass {

    /** Frames that are read at a time; a larger one is read alone. */
    private static final int MOST_BYTES = 1 << 20;

    /** After so many refused rows in one call the whole shard is left out. */
    private static final int MOST_REFUSED = 3;

    private final SendOutbox outbox;
    private final OutboxStorage storage;
    private final OutboxBlocks blocks;
    private final OutboxLog lines;

    /** Rows that are stored and still to be deleted. */
    private final Set<RowId> stored = new HashSet<>();

    OutboxPass(SendOutbox outbox, OutboxStorage storage, OutboxBlocks blocks, OutboxLog lines) {
        this.outbox = outbox;
        this.storage = storage;
        this.blocks = blocks;
        this.lines = lines;
    }

    /**
     * Begins to store the rows of an owner.
     *
     * @param range    of the rows
     * @param mayStore whether this process may still store rows of this owner
     * @param visible  number after which rows of this owner have become visible since the last call
     */
    Run run(String owner, Range range, BooleanSupplier mayStore, LongSupplier visible) {
        return new Run(owner, range, mayStore, visible);
    }

    /**
     * The rows after a number.
     *
     * @param known number up to which rows are left out, or were read by an earlier pass. They are skipped from where nothing is
     *              tried again
     */
    record Range(long after, long known) {}

    /** The rows of one owner in one pass. */
    final class Run {

        private final String owner;
        private final BooleanSupplier mayStore;
        private final LongSupplier visible;
        private final Calls calls;
        private long known;
        private long last;

        private Run(String owner, Range range, BooleanSupplier mayStore, LongSupplier visible) {
            this.owner = owner;
            this.mayStore = mayStore;
            this.visible = visible;
            this.calls = new Calls(mayStore);
            this.last = range.after;
            this.known = range.known;
        }

        /** Stores the next rows; returns whether there may be more. */
        boolean storePage() {
            if (!mayStore.getAsBoolean()) {
                return false;
            }
            List<Row> rows = read();
            for (List<Row> some : parts(rows)) {
                calls.store(some);
                deleteStored();
            }
            if (!mayStore.getAsBoolean()) {
                return false;
            }
            last = rows.isEmpty() ? last : rows.get(rows.size() - 1).number();
            long next = Math.min(known, blocks.beforeTried(last));
            boolean skips = next > last;
            last = Math.max(last, next);
            return skips || rows.size() == SendOutbox.MAX_ROWS;
        }

        /** Rows that became visible before the query may be behind its first row. Those that it returns may be later ones. */
        private List<Row> read() {
            goBack();
            long after;
            List<Row> rows;
            do {
                after = last;
                rows = outbox.rows(owner, after, blocks.topics(), SendOutbox.MAX_ROWS);
                goBack();
            } while (last < after);
            return rows;
        }

        private void goBack() {
            long number = visible.getAsLong();
            last = Math.min(last, number);
            known = Math.min(known, number);
        }

        String owner() {
            return owner;
        }

        /** Number of the last row that was read. */
        long last() {
            return last;
        }

        /** Whether a row was stored. */
        boolean hasStored() {
            return calls.hasStored;
        }
    }

    /** Deletes what was stored and could not be deleted yet. */
    void deleteStored() {
        if (!stored.isEmpty()) {
            outbox.delete(List.copyOf(stored));
            stored.clear();
        }
    }

    private static List<List<Row>> parts(List<Row> rows) {
        List<List<Row>> parts = new ArrayList<>();
        int bytes = 0;
        for (Row row : rows) {
            if (parts.isEmpty() || bytes + row.size() > MOST_BYTES) {
                parts.add(new ArrayList<>());
                bytes = 0;
            }
            parts.get(parts.size() - 1).add(row);
            bytes += row.size();
        }
        return parts;
    }

    /** The calls of one pass. It waits for two timeouts of the store at most, and for two for shard counts. */
    private final class Calls {

        private final OutageTimeLimit counts = storage.outageLimit();
        private final OutageTimeLimit sends = storage.outageLimit();
        private final BooleanSupplier mayStore;

        /** Number of the first row in hand. */
        private long first;

        private boolean hasStored;

        Calls(BooleanSupplier mayStore) {
            this.mayStore = mayStore;
        }

        void store(List<Row> rows) {
            first = rows.get(0).number();
            Map<Row, ShardKey> open = new LinkedHashMap<>();
            for (Row row : rows) {
                ShardKey shard = isLeftOut(row) || isUnreadable(row) ? null : shard(row);
                if (shard != null && !blocks.isBlocked(shard)) {
                    open.put(row, shard);
                }
            }
            if (open.isEmpty()) {
                return;
            }
            Map<RowId, Bytes> frames =
                    outbox.frames(open.keySet().stream().map(Row::id).toList());
            Map<PreparedMessage, Row> messages = new LinkedHashMap<>();
            open.forEach((row, shard) -> {
                Bytes frame = frames.get(row.id());
                if (frame != null) {
                    unlessDamaged(row, () -> messages.put(storage.message(row.send(), shard, frame), row));
                }
            });
            PreparedMessage.byShard(List.copyOf(messages.keySet()), (shard, some) -> {
                try {
                    storeShard(shard, some, messages);
                } finally {
                    some.stream().filter(message -> message.outcome() != null).forEach(message -> {
                        stored.add(row(message, messages).id());
                        hasStored = true;
                    });
                }
            });
        }

        private boolean isLeftOut(Row row) {
            return stored.contains(row.id())
                    || blocks.isBlocked(row.number())
                    || blocks.isBlocked(row.send().topic());
        }

        private boolean isUnreadable(Row row) {
            RuntimeException damage = row.damage();
            if (damage != null) {
                damaged(row, damage);
            }
            return damage != null;
        }

        /** Null if the number of shards is not known. */
        private @Nullable ShardKey shard(Row row) {
            String topic = row.send().topic();
            ShardKey[] shard = new ShardKey[1];
            try {
                unlessDamaged(row, () -> {
                    ShardKey first = new ShardKey(topic, 0);
                    counts.call(first, () -> shard[0] = storage.shard(row.send()));
                });
            } catch (StoreUnavailableException away) {
                lines.away(away);
                blocks.blockTopic(topic, false, first);
            } catch (DelayQueueException refused) {
                lines.refused(topic, refused);
                blocks.blockTopic(topic, true, first);
            }
            return shard[0];
        }

        private void storeShard(ShardKey shard, List<PreparedMessage> messages, Map<PreparedMessage, Row> rows) {
            if (!mayStore.getAsBoolean() || blocks.isBlocked(shard)) {
                return;
            }
            long row = row(messages.get(0), rows).number();
            try {
                sends.call(shard, () -> storage.store(messages));
            } catch (StoreUnavailableException away) {
                blockAway(shard, row, away);
            } catch (RuntimeException refused) {
                if (messages.size() == 1) {
                    blocks.blockRow(row, shard.topic());
                    lines.refused(shard.topic(), refused);
                } else {
                    storeEach(shard, messages, rows);
                }
            }
        }

        /** One bad message must not hold up the others. */
        private void storeEach(ShardKey shard, List<PreparedMessage> messages, Map<PreparedMessage, Row> rows) {
            int refused = 0;
            for (PreparedMessage message : messages) {
                if (!mayStore.getAsBoolean()) {
                    return;
                }
                long row = row(message, rows).number();
                try {
                    sends.call(shard, () -> storage.store(List.of(message)));
                } catch (StoreUnavailableException away) {
                    blockAway(shard, row, away);
                    return;
                } catch (RuntimeException refusal) {
                    refused++;
                    lines.refused(shard.topic(), refusal);
                    blocks.blockRow(row, shard.topic());
                    if (refused == MOST_REFUSED || refused == messages.size()) {
                        blocks.block(shard, storage.expectedShards(shard.topic()), true, row);
                        return;
                    }
                }
            }
        }

        private void blockAway(ShardKey shard, long row, StoreUnavailableException away) {
            lines.away(away);
            blocks.block(shard, storage.expectedShards(shard.topic()), false, row);
        }

        private void unlessDamaged(Row row, Runnable action) {
            try {
                action.run();
            } catch (DelayQueueException ofTheStore) {
                throw ofTheStore;
            } catch (RuntimeException damage) {
                damaged(row, damage);
            }
        }

        private void damaged(Row row, RuntimeException damage) {
            lines.damaged(row, damage);
            blocks.blockRow(row.number(), row.send().topic());
        }
    }

    private static Row row(PreparedMessage message, Map<PreparedMessage, Row> rows) {
        return Objects.requireNonNull(rows.get(message));
    }
}
