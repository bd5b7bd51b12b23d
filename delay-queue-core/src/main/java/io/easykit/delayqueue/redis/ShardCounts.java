package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.redis.Replies.DeclareReply;
import io.easykit.delayqueue.redis.ShardScripts.Answer;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.ListReply;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The shard count of each topic, kept so that a node can start while some masters of a cluster are away.
 *
 * <p><b>Declaration.</b> One script declares a count in shard 0. Of two nodes with different settings one declares its count
 * and the other one reads it. While shard 0 is away no new topic can begin.
 *
 * <p><b>Copies.</b> The first {@value #COPIES} shards of the topic keep a copy: the count and the time of its declaration, by
 * the clock of shard 0. Each node reads all of them at once when it first uses the topic. The newest declaration that answers
 * holds, and replaces older and missing ones. So a node needs only one of these shards, the next node finishes a write that
 * stopped half way, and a shard 0 that lost its count in a fail-over gets it back. To let a drained topic have another count,
 * an operator deletes the field {@code shards} of shard 0: the time that stays there voids the copies.
 *
 * <p><b>Limit.</b> If the count was changed by hand while the masters with the copies were away, a node that reaches only
 * those copies uses the older declaration. It notices this when it reads the count again ({@code TopicMonitor}).
 */
final class ShardCounts {

    /** Enough that they hardly ever lie all on one master; few enough to be read in one round trip. */
    static final int COPIES = 16;

    /**
     * A declaration.
     *
     * @param shards   the count; 0 if there is none
     * @param declared when, in microseconds of shard 0; 0 if it is missing or was declared by an earlier version
     */
    private record Declaration(int shards, long declared) {

        static final Declaration NONE = new Declaration(0, 0);

        static Declaration of(List<?> reply) {
            ListReply declaration = Replies.declared(reply);
            return new Declaration(declaration.count(DeclareReply.SHARDS), declaration.number(DeclareReply.DECLARED));
        }

        boolean isKnown() {
            return shards > 0;
        }

        boolean isNewerThan(Declaration other) {
            return declared > other.declared || (other.equals(NONE) && isKnown());
        }
    }

    private final ShardScripts scripts;

    ShardCounts(ShardScripts scripts) {
        this.scripts = scripts;
    }

    /** The count that is kept, or 0. Writes nothing. */
    int declared(String topic) {
        return newest(look(topic)).shards();
    }

    /** Declares the count unless one is kept, completes the copies that can be reached, and returns the one that is kept. */
    int declare(String topic, int shards) {
        List<Answer> answers = look(topic);
        Declaration kept = newest(answers);
        if (kept.declared() == 0) {
            int count = kept.isKnown() ? kept.shards() : shards;
            Arguments declaration = new Arguments().add(count).add("");
            kept = Declaration.of(scripts.list(QueueScript.DECLARE, new ShardKey(topic, 0), declaration));
        }
        complete(answers, kept);
        return kept.shards();
    }

    private List<Answer> look(String topic) {
        List<ShardKey> shards =
                IntStream.range(0, COPIES).mapToObj(i -> new ShardKey(topic, i)).toList();
        return scripts.lists(QueueScript.DECLARE, shards, new Arguments().add(0).add(""));
    }

    /**
     * The newest declaration. If its count was deleted in shard 0, older ones do not hold.
     *
     * @throws RuntimeException the failure of shard 0, if no shard that answers has a count
     */
    private static Declaration newest(List<Answer> answers) {
        Answer first = answers.get(0);
        if (first.failure() != null && !(first.failure() instanceof StoreUnavailableException)) {
            throw first.failure();
        }
        Declaration newest = answers.stream()
                .filter(answer -> answer.failure() == null)
                .map(answer -> Declaration.of(answer.reply()))
                .reduce(Declaration.NONE, (a, b) -> b.isNewerThan(a) ? b : a);
        if (!newest.isKnown() && first.failure() != null) {
            throw first.failure();
        }
        return newest.isKnown() ? newest : Declaration.NONE;
    }

    /** Best effort: what cannot be written now, the next node writes. */
    private void complete(List<Answer> answers, Declaration kept) {
        List<ShardKey> incomplete = new ArrayList<>();
        for (Answer answer : answers) {
            boolean belongs = answer.shard().shard() < kept.shards();
            if (belongs
                    && answer.failure() == null
                    && !Declaration.of(answer.reply()).equals(kept)) {
                incomplete.add(answer.shard());
            }
        }
        if (!incomplete.isEmpty()) {
            Arguments copy = new Arguments().add(kept.shards()).add(kept.declared());
            scripts.lists(QueueScript.DECLARE, incomplete, copy);
        }
    }
}
