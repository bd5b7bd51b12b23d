package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.LargeBody;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.support.Bytes;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The reading half of the store. */
abstract class ShardReader implements QueueInspector {

    final ShardScripts scripts;

    ShardReader(ShardScripts scripts) {
        this.scripts = scripts;
    }

    @Override
    public final Optional<StoredMessage> find(ShardKey shard, String id, int frameBytes) {
        InspectionReplies.BodyReader rest = (unread, size) -> LargeBody.read(
                        Math.min(size, frameBytes),
                        LargeBody.PIECE,
                        (incarnation, from, count) -> read(shard, unread, incarnation, from, count))
                .orElse(null);
        return InspectionReplies.found(scripts.list(QueueScript.FIND, shard, new Arguments().add(id)), rest)
                .map(message -> message.cutAfter(frameBytes));
    }

    @Override
    public final Browsed browse(ShardKey shard, Browse page) {
        Arguments arguments = new Arguments()
                .add(InspectionReplies.place(page.place()))
                .add(page.newestFirst() ? "newest" : "oldest");
        addPosition(arguments, page.after());
        return InspectionReplies.browsed(scripts.list(
                QueueScript.BROWSE, shard, arguments.add(page.count()).add(page.frameBytes())));
    }

    @Override
    public final DeadLetterErrors errors(ShardKey shard, @Nullable Position after, int count) {
        Arguments arguments = new Arguments();
        addPosition(arguments, after);
        return InspectionReplies.errors(scripts.list(QueueScript.TRIAGE, shard, arguments.add(count)));
    }

    private static void addPosition(Arguments arguments, @Nullable Position position) {
        arguments.add(position == null ? "" : position.score()).add(position == null ? "" : position.id());
    }

    @Override
    public final Optional<Bytes> read(ShardKey shard, String id, Bytes incarnation, int from, int count) {
        Arguments arguments = new Arguments().add(id).add(incarnation).add(from).add(count);
        return Optional.ofNullable(scripts.bytes(QueueScript.READ, shard, arguments))
                .map(Bytes::of);
    }

    @Override
    public final ShardStats stats(ShardKey shard) {
        return InspectionReplies.stats(scripts.list(QueueScript.STATS, shard, new Arguments()));
    }
}
