package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Replacement.Outcome;
import io.easykit.delayqueue.store.DeadLetterStore;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoppedKeys;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.util.List;

/** The part of the store that handles dead letters. */
abstract class DeadLetterScripts extends ShardReader implements DeadLetterStore {

    DeadLetterScripts(ShardScripts scripts) {
        super(scripts);
    }

    @Override
    public final List<Boolean> redrive(ShardKey shard, List<DeadLetterRef> deaths) {
        return flags(QueueScript.REDRIVE, shard, new Arguments(), deaths);
    }

    @Override
    public final Outcome replace(ShardKey shard, DeadLetterRef death, Bytes incarnation, Bytes frame) {
        Arguments arguments = new Arguments()
                .add(death.id())
                .add(death.diedAt())
                .add(incarnation)
                .add(frame);
        return Replies.replacement(scripts.number(QueueScript.REPLACE, shard, arguments));
    }

    @Override
    public final List<Boolean> purge(ShardKey shard, List<DeadLetterRef> deaths) {
        return flags(QueueScript.PURGE, shard, new Arguments().add("ids"), deaths);
    }

    @Override
    public final int purge(ShardKey shard, Duration age, int count) {
        Arguments arguments = new Arguments().add("age").add(age).add(count).add(latestDeath(age));
        return (int) scripts.number(QueueScript.PURGE, shard, arguments);
    }

    /**
     * By the clock of this node. A server that takes over may have a clock that is days ahead. So letters go only when both clocks say
     * that they are old enough. Zero means all letters.
     */
    private static long latestDeath(Duration age) {
        if (age.isZero()) {
            return QueueStore.ANY_END.toEpochMilli();
        }
        Duration since = Duration.ofMillis(System.currentTimeMillis());
        return age.compareTo(since) < 0 ? since.minus(age).toMillis() : 0;
    }

    @Override
    public final List<Boolean> announced(ShardKey shard, List<DeadLetterRef> deaths) {
        return flags(QueueScript.ANNOUNCE, shard, new Arguments(), deaths);
    }

    @Override
    public final StoppedKeys stoppedKeys(ShardKey shard, String cursor) {
        Arguments arguments = new Arguments().add(cursor).add(QueueStore.MAX_BATCH);
        return InspectionReplies.stoppedKeys(scripts.list(QueueScript.STOPPED_KEYS, shard, arguments));
    }

    @Override
    public final boolean freeKey(ShardKey shard, String key, String id) {
        return scripts.number(
                        QueueScript.FREE_KEY, shard, new Arguments().add(key).add(id))
                == 1;
    }

    private List<Boolean> flags(QueueScript name, ShardKey shard, Arguments arguments, List<DeadLetterRef> deaths) {
        bounded(deaths).forEach(death -> arguments.add(death.id()).add(death.diedAt()));
        return Replies.flags(scripts.codes(name, shard, arguments));
    }

    static <T> List<T> bounded(List<T> batch) {
        if (batch.size() > QueueStore.MAX_BATCH) {
            throw new IllegalArgumentException(
                    "A call takes at most " + QueueStore.MAX_BATCH + " messages, not " + batch.size() + ": split it.");
        }
        return batch;
    }
}
