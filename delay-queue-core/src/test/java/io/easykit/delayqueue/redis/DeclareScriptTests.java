package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.test.RawRedis;
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
        assertThat(shard.store.declared("t")).isZero();
        assertThat(shard.state()).isEmpty();
        assertThat(shard.store.declare("t", 3)).isEqualTo(3);
        assertThat(shard.store.declared("t")).isEqualTo(3);
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

        assertThat(shard.store.declared("t")).isEqualTo(3);
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

        assertThat(shard.store.declared("t")).isEqualTo(2);
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

        assertThat(shard.store.declared("t")).isZero();
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
                        fields.get("shards") + " at " + fields.get("declared"));
            }
        }
        return found;
    }
}
