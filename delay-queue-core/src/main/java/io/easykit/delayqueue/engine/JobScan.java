package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the dead letters of a topic in order, shard after shard, and decides which of them a job selects. */
final class JobScan {

    /** Bytes of a stored message that a search for a text reads. */
    static final int SEARCHED_BYTES = 1 << 13;

    private final QueueInspector store;
    private final List<ShardKey> shards;
    private final JobRequest.Filter filter;
    private final Instant diedUntil;
    private final Deque<Letter> read = new ArrayDeque<>();
    private int shard;
    private @Nullable Position after;
    private @Nullable Position fetchedUntil;
    private boolean isShardRead;

    /**
     * @param start     when the job was started
     * @param shard     index of the shard to continue with
     * @param after     position to continue behind, or null
     */
    JobScan(
            QueueInspector store,
            List<ShardKey> shards,
            JobRequest.Filter filter,
            Instant start,
            int shard,
            @Nullable Position after) {
        this.store = store;
        this.shards = shards;
        this.filter = filter;
        Instant until = filter.diedUntil();
        this.diedUntil = (until == null || until.isAfter(start) ? start : until).minus(filter.olderThan());
        this.shard = shard;
        this.after = after;
        this.fetchedUntil = after;
    }

    /**
     * A dead letter.
     *
     * @param error as the store returns it, or null
     */
    record Letter(ShardKey shard, Position position, Instant diedAt, @Nullable String error, boolean isSelected) {

        DeadLetterRef death() {
            return new DeadLetterRef(position.id(), diedAt);
        }
    }

    boolean hasEnded() {
        return shard >= shards.size();
    }

    /** The shard that is read at present. */
    ShardKey current() {
        return shards.get(shard);
    }

    int shardIndex() {
        return shard;
    }

    /** Position of the last letter that was taken from the shard, or null at its beginning. */
    @Nullable Position position() {
        return after;
    }

    /** The next letter, or null if another one has to be fetched first, or all are read. */
    @Nullable Letter next() {
        Letter next = read.poll();
        if (next != null) {
            after = next.position();
        } else if (isShardRead) {
            skipShard();
        }
        return next;
    }

    /** Continues with the next shard. */
    void skipShard() {
        shard++;
        read.clear();
        after = null;
        fetchedUntil = null;
        isShardRead = false;
    }

    /** Reads the next letters of the shard unless some are left. */
    void fetch() {
        if (!read.isEmpty() || isShardRead || hasEnded()) {
            return;
        }
        String text = filter.text();
        if (text == null) {
            DeadLetterErrors page = store.errors(current(), fetchedUntil, DeadLetterErrors.MOST);
            page.entries().forEach(this::add);
            isShardRead |= page.entries().size() < DeadLetterErrors.MOST;
        } else {
            Browse browse = new Browse(State.DEAD, false, fetchedUntil, QueueStore.MAX_BATCH, SEARCHED_BYTES);
            Browsed page = store.browse(current(), browse);
            page.entries().forEach(entry -> add(entry, text.toLowerCase(Locale.ROOT)));
            isShardRead |= !page.hasMore();
        }
    }

    private void add(DeadLetterErrors.Entry entry) {
        add(entry.position(), entry.diedAt(), entry.error(), true);
    }

    private void add(Browsed.Entry entry, String text) {
        String error = entry.lastError() == null ? null : entry.lastError().text();
        add(entry.position(), entry.at(), error, contains(entry, error, text));
    }

    private void add(Position position, Instant diedAt, @Nullable String error, boolean hasText) {
        if (isShardRead) {
            return;
        }
        if (diedAt.isAfter(diedUntil)) {
            isShardRead = true;
            return;
        }
        fetchedUntil = position;
        read.add(new Letter(current(), position, diedAt, error, hasText && isInGroup(error)));
    }

    private boolean isInGroup(@Nullable String error) {
        String group = filter.group();
        return group == null || group.equals(ErrorScan.groupOf(error).key());
    }

    private static boolean contains(Browsed.Entry entry, @Nullable String error, String text) {
        return isIn(entry.id(), text) || (error != null && isIn(error, text)) || isInMessage(entry, text);
    }

    private static boolean isInMessage(Browsed.Entry entry, String text) {
        try {
            Envelope envelope = Envelope.decode(entry.frame());
            return isInOne(envelope.headers().values(), text)
                    || isIn(new String(envelope.body().array(), StandardCharsets.UTF_8), text);
        } catch (UndecodableMessageException e) {
            return isInOne(Envelope.headerValuesOfPart(entry.frame()), text);
        }
    }

    private static boolean isInOne(Collection<String> values, String text) {
        return values.stream().anyMatch(value -> isIn(value, text));
    }

    private static boolean isIn(String all, String text) {
        return all.toLowerCase(Locale.ROOT).contains(text);
    }
}
