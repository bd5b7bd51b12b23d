package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.redis.Replies.DeclareReply;
import io.easykit.delayqueue.redis.ShardScripts.Answer;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.ListReply;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The shard count of each topic, kept so that a node can start while some masters of a cluster are away.
 *
 * <p><b>Declaration.</b> One script declares a count in shard 0. Of two nodes with different settings one declares its count
 * and the other one reads it. While shard 0 is away no new topic can begin.
 *
 * <p><b>Growth.</b> The declared count never changes: own ids and ordering keys are spread over these home shards for ever.
 * Shards that are added later are one more number of the same declaration, and the greatest number holds. So a repeated
 * growth, two at once, and one that stopped half way need no care, and nobody has to agree on an order. Shard 0 keeps the new
 * number first, with the time by its clock. Earlier versions read and write the declared count only, so they do not disturb it.
 *
 * <p><b>Copies.</b> The first {@value #COPIES} shards of the topic keep a copy: the count and the time of its declaration, by
 * the clock of shard 0. Each node reads all of them at once when it first uses the topic. The newest declaration that answers
 * holds, and replaces older and missing ones. Later it reads shard 0 alone, where each change comes first, and all copies if it finds
 * something else there, or once in ten times. So a node needs only one of these shards, the next node finishes a write that
 * stopped half way, and a shard 0 that lost its count in a fail-over gets it back. To let a drained topic have another count,
 * an operator deletes the field {@code shards} of shard 0: the time that stays there voids the copies.
 *
 * <p><b>Limit.</b> If the count was changed by hand while the masters with the copies were away, a node that reaches only
 * those copies uses the older declaration. It notices this when it reads the count again ({@code TopicMonitor}).
 */
final class ShardCounts {

    /** Enough that they hardly ever lie all on one master; few enough to be read in one round trip. */
    static final int COPIES = 16;

    /** Readings of shard 0 alone between two of all copies. Without them 50 idle topics took 29 calls a second and not 18 ({@code q10}). */
    static final int SHORT_READINGS = 9;

    /**
     * A declaration.
     *
     * @param shards   the count; 0 if there is none
     * @param declared when, in microseconds of shard 0; 0 if it is missing or was declared by an earlier version
     * @param all      the count with the shards that were added later
     * @param grown    when they were added, in microseconds of shard 0; 0 if none were
     */
    private record Declaration(int shards, long declared, int all, long grown) {

        static final Declaration NONE = new Declaration(0, 0, 0, 0);

        static Declaration of(List<?> reply) {
            ListReply declaration = Replies.declared(reply);
            return new Declaration(
                    declaration.count(DeclareReply.SHARDS),
                    declaration.number(DeclareReply.DECLARED),
                    declaration.count(DeclareReply.ALL),
                    declaration.number(DeclareReply.GROWN));
        }

        boolean isKnown() {
            return shards > 0;
        }

        boolean isNewerThan(Declaration other) {
            if (declared != other.declared) {
                return declared > other.declared;
            }
            if (shards != other.shards) {
                return other.equals(NONE) && isKnown();
            }
            return all > other.all || (all == other.all && grown > other.grown);
        }

        /** @param now in microseconds, by any clock of the store */
        ShardCount count(long now) {
            Duration grownFor = all > shards ? Duration.of(Math.max(0, now - grown), ChronoUnit.MICROS) : Duration.ZERO;
            return new ShardCount(shards, all, grownFor);
        }

        /** The arguments of the script that keep it. */
        Arguments arguments() {
            return new Arguments().add(shards).add(declared).add(all).add(grown);
        }
    }

    /**
     * A declaration that all copies had.
     *
     * @param shortReadings how often shard 0 may be read alone
     */
    private record Complete(Declaration kept, int shortReadings) {}

    private final ShardScripts scripts;
    private final Map<String, Complete> completed = new ConcurrentHashMap<>();

    ShardCounts(ShardScripts scripts) {
        this.scripts = scripts;
    }

    /** The count that is kept. Writes nothing. */
    ShardCount declared(String topic) {
        List<Answer> answers = look(topic);
        return newest(answers).count(now(answers));
    }

    /** Declares the count unless one is kept, completes the copies that can be reached, and returns the one that is kept. */
    ShardCount declare(String topic, ShardCount count) {
        ShardCount unchanged = unchanged(topic, count);
        return unchanged == null ? declareEverywhere(topic, count) : unchanged;
    }

    /** The count that shard 0 keeps, if it still is the one that all copies had. Otherwise null. */
    private @Nullable ShardCount unchanged(String topic, ShardCount count) {
        Complete known = completed.remove(topic);
        if (known == null || known.shortReadings() == 0 || known.kept().all() < count.all()) {
            return null;
        }
        List<Answer> answers = look(topic, 1);
        Answer first = answers.get(0);
        if (first.failure() != null || !Declaration.of(first.reply()).equals(known.kept())) {
            return null;
        }
        completed.put(topic, new Complete(known.kept(), known.shortReadings() - 1));
        return known.kept().count(now(answers));
    }

    private ShardCount declareEverywhere(String topic, ShardCount count) {
        List<Answer> answers = look(topic);
        Declaration kept = newest(answers);
        if (kept.declared() == 0) {
            int home = kept.isKnown() ? kept.shards() : count.home();
            kept = call(topic, new Arguments().add(home).add("").add(kept.all()).add(0));
        }
        if (kept.shards() == count.home() && kept.all() < count.all()) {
            kept = add(topic, kept, count.all());
        }
        if (complete(answers, kept)) {
            completed.put(topic, new Complete(kept, SHORT_READINGS));
        }
        return kept.count(now(answers));
    }

    /** Adds shards to a count that is kept, and completes the copies that can be reached. */
    ShardCount grow(String topic, int all) {
        int home = declared(topic).home();
        return home == 0 ? ShardCount.NONE : declare(topic, new ShardCount(home, Math.max(home, all), Duration.ZERO));
    }

    /** In shard 0: of several nodes that add shards at once, it keeps the greatest number. */
    private Declaration add(String topic, Declaration kept, int all) {
        return call(
                topic,
                new Arguments().add(kept.shards()).add(kept.declared()).add(all).add(""));
    }

    private Declaration call(String topic, Arguments declaration) {
        return Declaration.of(scripts.list(QueueScript.DECLARE, new ShardKey(topic, 0), declaration));
    }

    private List<Answer> look(String topic) {
        return look(topic, COPIES);
    }

    private List<Answer> look(String topic, int copies) {
        List<ShardKey> shards =
                IntStream.range(0, copies).mapToObj(i -> new ShardKey(topic, i)).toList();
        Arguments readOnly = new Arguments().add(0).add("").add(0).add("");
        return scripts.lists(QueueScript.DECLARE, shards, readOnly);
    }

    /** The earliest of the clocks that answered, so that no growth counts as older than it is. */
    private static long now(List<Answer> answers) {
        return answers.stream()
                .filter(answer -> answer.failure() == null)
                .mapToLong(answer -> Replies.declared(answer.reply()).number(DeclareReply.NOW))
                .min()
                .orElse(0);
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

    /**
     * Best effort: what cannot be written now, the next node writes.
     *
     * @return whether all copies have the declaration now
     */
    private boolean complete(List<Answer> answers, Declaration kept) {
        List<ShardKey> incomplete = new ArrayList<>();
        for (Answer answer : answers) {
            boolean belongs = answer.shard().shard() < kept.all();
            if (belongs
                    && answer.failure() == null
                    && !Declaration.of(answer.reply()).equals(kept)) {
                incomplete.add(answer.shard());
            }
        }
        List<Answer> written =
                incomplete.isEmpty() ? List.of() : scripts.lists(QueueScript.DECLARE, incomplete, kept.arguments());
        return Stream.concat(answers.stream(), written.stream()).allMatch(answer -> answer.failure() == null);
    }
}
