package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.ShardKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads pages of messages: of one shard, or merged from several by time. */
final class MessagePages {

    /** Messages that a merged page reads from a shard in one call, at least. */
    private static final int LEAST_PIECE = 10;

    private final QueueInspector store;

    MessagePages(QueueInspector store) {
        this.store = store;
    }

    /** @param shards all shards of the topic */
    MessagePage page(List<ShardKey> shards, MessageQuery query) {
        String after = query.after();
        PageCursor cursor = after == null ? null : PageCursor.decode(after);
        Integer shard = query.shard();
        if (shard != null && (shard < 0 || shard >= shards.size())) {
            throw new IllegalArgumentException("There is no shard " + shard + ": topic '"
                    + shards.get(0).topic() + "' has " + shards.size() + ", counted from 0.");
        }
        if (shard != null) {
            return ofOneShard(shards.subList(shard, shard + 1), 0, positionOf(cursor, shard), query);
        }
        if (shards.size() <= DelayQueueAdmin.MERGED_SHARDS) {
            return new Merge(shards, positionOf(cursor, PageCursor.MERGED), query).page();
        }
        if (cursor == null) {
            return ofOneShard(shards, 0, null, query);
        }
        if (cursor.shard() < 0 || cursor.shard() >= shards.size()) {
            throw otherCursor();
        }
        return ofOneShard(shards, cursor.shard(), cursor.position(), query);
    }

    private static @Nullable Position positionOf(@Nullable PageCursor cursor, int shard) {
        if (cursor != null && cursor.shard() != shard) {
            throw otherCursor();
        }
        return cursor == null ? null : cursor.position();
    }

    private static IllegalArgumentException otherCursor() {
        return new IllegalArgumentException(
                "The cursor belongs to a page of other shards: give the one that the page before has returned.");
    }

    /** The page behind a position; of the next shard that has messages, if this one has no more. */
    private MessagePage ofOneShard(List<ShardKey> shards, int first, @Nullable Position after, MessageQuery query) {
        EachShard each = new EachShard();
        List<MessagePage> found = new ArrayList<>();
        for (int i = first; i < shards.size() && found.isEmpty(); i++) {
            int at = i;
            Position position = i == first ? after : null;
            each.attempt(shards.get(i), key -> {
                Browsed browsed = store.browse(key, browse(query, position, query.size()));
                if (!browsed.entries().isEmpty() || at == shards.size() - 1) {
                    found.add(page(key, browsed, query, at < shards.size() - 1));
                }
            });
        }
        List<String> refused = each.refused();
        return found.isEmpty()
                ? new MessagePage(0, 0, shards.get(shards.size() - 1).shard(), List.of(), null, refused)
                : withRefused(found.get(0), refused);
    }

    private static MessagePage page(ShardKey key, Browsed browsed, MessageQuery query, boolean isFollowed) {
        List<MessageSummary> messages = browsed.entries().stream()
                .map(entry -> MessageSummaries.of(key.shard(), query.state(), entry))
                .toList();
        PageCursor next = null;
        if (browsed.hasMore()) {
            next = new PageCursor(
                    key.shard(),
                    browsed.entries().get(browsed.entries().size() - 1).position());
        } else if (isFollowed) {
            next = new PageCursor(key.shard() + 1, null);
        }
        return new MessagePage(
                browsed.total(),
                browsed.before(),
                key.shard(),
                messages,
                next == null ? null : next.encode(),
                List.of());
    }

    private static MessagePage withRefused(MessagePage page, List<String> refused) {
        return new MessagePage(page.total(), page.rank(), page.shard(), page.messages(), page.next(), refused);
    }

    private static Browse browse(MessageQuery query, @Nullable Position after, int count) {
        return new Browse(query.state(), query.isNewestFirst(), after, count, MessageSummary.PREVIEW_BYTES);
    }

    /** One page of several shards. Reads a piece of each, and further pieces of those that it uses up. */
    private final class Merge {

        private final MessageQuery query;
        private final int piece;
        private final EachShard each = new EachShard();
        private final List<Source> sources = new ArrayList<>();
        private long total;
        private long rank;

        Merge(List<ShardKey> shards, @Nullable Position after, MessageQuery query) {
            this.query = query;
            int share = 2 * query.size() / shards.size();
            this.piece = Math.min(query.size(), Math.max(LEAST_PIECE, share));
            for (ShardKey shard : shards) {
                each.attempt(shard, key -> {
                    Browsed first = store.browse(key, browse(query, after, piece));
                    total += first.total();
                    rank += first.before();
                    sources.add(new Source(key, first));
                });
            }
        }

        MessagePage page() {
            Comparator<Source> byPosition = Comparator.comparing(Source::position);
            Comparator<Source> inOrder = query.isNewestFirst() ? byPosition.reversed() : byPosition;
            List<MessageSummary> messages = new ArrayList<>();
            Position last = null;
            while (messages.size() < query.size()) {
                sources.forEach(Source::refill);
                Source next =
                        sources.stream().filter(Source::hasMessage).min(inOrder).orElse(null);
                if (next == null) {
                    break;
                }
                last = next.position();
                messages.add(MessageSummaries.of(next.shard.shard(), query.state(), next.take()));
            }
            boolean hasMore = sources.stream().anyMatch(source -> source.hasMessage() || source.hasMore);
            return new MessagePage(
                    total,
                    rank,
                    null,
                    messages,
                    hasMore && last != null ? new PageCursor(PageCursor.MERGED, last).encode() : null,
                    each.refused());
        }

        /** The messages of one shard that are not on the page yet. */
        private final class Source {

            private final ShardKey shard;
            private final Deque<Browsed.Entry> entries = new ArrayDeque<>();
            private boolean hasMore;
            private @Nullable Position taken;

            Source(ShardKey shard, Browsed first) {
                this.shard = shard;
                add(first);
            }

            private void add(Browsed browsed) {
                entries.addAll(browsed.entries());
                hasMore = browsed.hasMore();
            }

            boolean hasMessage() {
                return !entries.isEmpty();
            }

            Position position() {
                return entries.element().position();
            }

            Browsed.Entry take() {
                Browsed.Entry next = entries.remove();
                taken = next.position();
                return next;
            }

            /** Reads a further piece if the last one is used up. */
            void refill() {
                if (entries.isEmpty() && hasMore) {
                    hasMore = false;
                    each.attempt(shard, key -> add(store.browse(key, browse(query, taken, piece))));
                }
            }
        }
    }
}
