package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.test.RawRedis;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeclareScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void keepsTheFirstShardCountInEachShard() {
        assertThat(shard.store.declared("t").all()).isZero();
        assertThat(shard.state()).isEmpty();
        assertThat(shard.store.declare("t", 3)).isEqualTo(3);
        assertThat(shard.store.declared("t").all()).isEqualTo(3);
        assertThat(shard.store.declare("t", 8)).isEqualTo(3);

        assertThat(settings()).isEqualTo(Map.of(0, "3 at 1000000", 1, "3 at 1000000", 2, "3 at 1000000"));
    }

    @Test
    void copiesACountToSixteenShardsAtMost() {
        assertThat(shard.store.declare("t", 1024)).isEqualTo(1024);

        assertThat(settings()).hasSize(16).containsKey(15);
    }

    @Test
    void completesWhatAWriteLeftHalfDone() {
        seed(0, "shards", "3", "declared", "500");

        assertThat(shard.store.declare("t", 8)).isEqualTo(3);

        assertThat(settings()).isEqualTo(Map.of(0, "3 at 500", 1, "3 at 500", 2, "3 at 500"));
    }

    @Test
    void copiesTheCountOfAnEarlierVersion() {
        seed(0, "shards", "2");

        assertThat(shard.store.declare("t", 2)).isEqualTo(2);

        assertThat(settings()).isEqualTo(Map.of(0, "2 at 1000000", 1, "2 at 1000000"));
    }

    @Test
    void restoresTheCountThatShardZeroLost() {
        seed(1, "shards", "3", "declared", "500", "number", "7");

        assertThat(shard.store.declared("t").all()).isEqualTo(3);
        assertThat(settings()).isEqualTo(Map.of(1, "3 at 500"));
        assertThat(shard.store.declare("t", 8)).isEqualTo(3);

        assertThat(settings()).isEqualTo(Map.of(0, "3 at 500", 1, "3 at 500", 2, "3 at 500"));
        assertThat(String.valueOf(
                        shard.redis().snapshot().get("dq:{t:1}:settings").content()))
                .contains("number=7");
    }

    @Test
    void theNewestDeclarationReplacesOthers() {
        seed(0, "shards", "2", "declared", "900");
        seed(1, "shards", "4", "declared", "500");
        seed(3, "shards", "4", "declared", "500");

        assertThat(shard.store.declared("t").all()).isEqualTo(2);
        assertThat(shard.store.declare("t", 4)).isEqualTo(2);

        assertThat(settings()).isEqualTo(Map.of(0, "2 at 900", 1, "2 at 900", 3, "4 at 500"));
    }

    @Test
    void takesAnUnreadableCountForNone() {
        seed(0, "shards", "many", "declared", "never");
        seed(1, "shards", "2", "declared", "soon");

        assertThat(shard.store.declare("t", 5)).isEqualTo(2);

        assertThat(settings()).isEqualTo(Map.of(0, "2 at 1000000", 1, "2 at 1000000"));
    }

    @Test
    void forgetsACountThatWasDeletedInShardZero() {
        shard.store.declare("t", 2);
        shard.redis().command("HDEL", "dq:{t:0}:settings", "shards");

        assertThat(shard.store.declared("t").all()).isZero();
        assertThat(shard.store.declare("t", 3)).isEqualTo(3);

        assertThat(settings()).isEqualTo(Map.of(0, "3 at 1000001", 1, "3 at 1000001", 2, "3 at 1000001"));
    }

    @Test
    void needsNoCopyThatCannotBeWritten() {
        shard.redis().command("SET", "dq:{t:1}:settings", "not a hash");

        assertThat(shard.store.declare("t", 2)).isEqualTo(2);

        shard.redis().command("DEL", "dq:{t:1}:settings");
        shard.redis().command("DEL", "dq:{t:0}:settings");
        shard.redis().command("SET", "dq:{t:0}:settings", "not a hash");
        assertThatThrownBy(() -> shard.store.declare("t", 2))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("dq:{t:0}:settings");
    }

    @Test
    void addsShardsAndKeepsTheDeclaredCount() {
        shard.store.declare("t", 3);
        shard.clock(2000);

        assertThat(shard.store.grow("t", 5)).isEqualTo(new ShardCount(3, 5, Duration.ZERO));

        assertThat(settings()).hasSize(5).allSatisfy((of, kept) -> assertThat(kept)
                .isEqualTo("3 at 1000000, 1000000:5:2000000"));
        shard.clock(5000);
        assertThat(shard.store.grow("t", 5)).isEqualTo(new ShardCount(3, 5, Duration.ofSeconds(3)));
        assertThat(shard.store.grow("t", 2)).as("fewer").isEqualTo(new ShardCount(3, 5, Duration.ofSeconds(3)));
        assertThat(shard.store.declare("t", 8))
                .as("of a node with another count")
                .isEqualTo(5);
        assertThat(settings()).hasSize(5).allSatisfy((of, kept) -> assertThat(kept)
                .isEqualTo("3 at 1000000, 1000000:5:2000000"));
    }

    @Test
    void addsNoShardsToATopicThatWasNeverUsed() {
        assertThat(shard.store.grow("t", 5)).isEqualTo(ShardCount.NONE);

        assertThat(settings()).isEmpty();
    }

    @Test
    void theGreatestOfSeveralGrowthsHoldsAndIsCompleted() {
        seed(0, "shards", "2", "declared", "500", "grown", "500:3:700");
        seed(1, "shards", "2", "declared", "500", "grown", "500:4:600");

        assertThat(shard.store.declared("t").all()).isEqualTo(4);
        shard.store.declare("t", 2);

        assertThat(settings()).hasSize(4).allSatisfy((of, kept) -> assertThat(kept)
                .isEqualTo("2 at 500, 500:4:600"));
    }

    @Test
    void ofEqualGrowthsTheLaterOneHolds() {
        seed(0, "shards", "1", "declared", "500", "grown", "500:2:600");
        seed(1, "shards", "1", "declared", "500", "grown", "500:2:700");

        shard.store.declare("t", 1);

        assertThat(settings()).isEqualTo(Map.of(0, "1 at 500, 500:2:700", 1, "1 at 500, 500:2:700"));
    }

    @Test
    void anotherDeclarationVoidsAGrowth() {
        seed(0, "shards", "2", "declared", "900", "grown", "500:4:600");
        seed(1, "shards", "2", "declared", "500", "grown", "500:4:600");

        assertThat(shard.store.declare("t", 2)).isEqualTo(2);

        assertThat(shard.store.declared("t").isGrown()).isFalse();
        shard.redis().command("HDEL", "dq:{t:0}:settings", "shards");
        assertThat(shard.store.declared("t")).isEqualTo(ShardCount.NONE);
    }

    @Test
    void takesAnUnreadableGrowthForNone() {
        for (String grown : List.of("500:many:600", "500:1025:600", "500:2:600", "500:5:9007199254740992", "5", "")) {
            seed(0, "shards", "2", "declared", "500", "grown", grown);

            assertThat(shard.store.declared("t")).as(grown).isEqualTo(ShardCount.of(2));
        }
    }

    @Test
    void restoresAGrowthThatANodeKnowsIfTheHomeShardsAreThoseThatAreKept() {
        assertThat(shard.store.declare("t", new ShardCount(2, 3, Duration.ZERO)))
                .isEqualTo(new ShardCount(2, 3, Duration.ZERO));
        assertThat(settings()).hasSize(3).allSatisfy((of, kept) -> assertThat(kept)
                .isEqualTo("2 at 1000000, 1000000:3:1000000"));

        assertThat(shard.store.declare("t", new ShardCount(1, 4, Duration.ZERO)).all())
                .isEqualTo(3);
    }

    /** It writes the declared count and its time, and knows no other field. */
    @Test
    void aNodeOfAnEarlierVersionKeepsTheGrowth() {
        seed(0, "shards", "2", "declared", "500", "grown", "500:4:600");
        seed(1, "shards", "2", "declared", "500");

        assertThat(settings().get(0)).as("what it reads").startsWith("2 at 500");
        seed(0, "shards", "2", "declared", "500");

        assertThat(shard.store.declared("t").all()).isEqualTo(4);
    }

    /** Another node has added more between the reading of this one and its call. */
    @Test
    void ofTwoThatAddShardsAtOnceTheGreaterNumberStays() {
        seed(0, "shards", "2", "declared", "500", "grown", "500:5:600");

        call(2, "500", 3, "");
        call(2, "500", 5, "550");

        assertThat(settings()).isEqualTo(Map.of(0, "2 at 500, 500:5:600"));
    }

    /** Another node has declared the topic anew meanwhile. */
    @Test
    void addsNoShardsToADeclarationThatIsNotMeant() {
        seed(0, "shards", "2", "declared", "900");

        call(2, "500", 5, "");
        call(3, "", 5, "");

        assertThat(settings()).isEqualTo(Map.of(0, "2 at 900"));
    }

    private void call(int shards, String declared, int all, String added) {
        Arguments arguments = new Arguments().add(shards).add(declared).add(all).add(added);
        shard.store.scripts.list(QueueScript.DECLARE, new ShardKey("t", 0), arguments);
    }

    private void seed(int of, String... fields) {
        String[] command = new String[fields.length + 2];
        command[0] = "HSET";
        command[1] = "dq:{t:" + of + "}:settings";
        System.arraycopy(fields, 0, command, 2, fields.length);
        shard.redis().command(command);
    }

    /** Count and time by shard. */
    private SortedMap<Integer, String> settings() {
        SortedMap<Integer, String> found = new TreeMap<>();
        for (Map.Entry<String, RawRedis.Stored> entry : shard.redis().snapshot().entrySet()) {
            if (entry.getKey().endsWith("}:settings")) {
                Map<?, ?> fields = (Map<?, ?>) entry.getValue().content();
                found.put(
                        Integer.valueOf(entry.getKey().replaceAll("\\D", "")),
                        fields.get("shards") + " at " + fields.get("declared")
                                + (fields.containsKey("grown") ? ", " + fields.get("grown") : ""));
            }
        }
        return found;
    }
}
