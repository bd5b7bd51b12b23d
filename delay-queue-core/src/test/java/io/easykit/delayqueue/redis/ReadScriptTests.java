package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.support.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReadScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void readsAPieceOfTheBodyThatIsMeant() {
        shard.seed("""
                ZADD inflight 1300 a
                SET m:a 12345678body""");
        String before = shard.state();

        assertThat(shard.store.read(KEY, "a", Bytes.NONE, 0, 10)).contains(frame("12345678bo"));
        assertThat(shard.store.read(KEY, "a", frame("12345678"), 10, 10)).contains(frame("dy"));
        assertThat(shard.store.read(KEY, "a", frame("12345678"), 12, 10)).isEmpty();
        assertThat(shard.store.read(KEY, "a", frame("another!"), 10, 10)).isEmpty();
        assertThat(shard.store.read(KEY, "a", frame("1234"), 10, 10)).isEmpty();
        assertThat(shard.store.read(KEY, "b", Bytes.NONE, 0, 10)).isEmpty();
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void findsLargeBodiesWholeOrCut() {
        String large = "x".repeat(300_000);
        shard.seed("ZADD dead 700 large\nSET m:large " + large);

        assertThat(shard.store.find(KEY, "large")).map(StoredMessage::frame).contains(frame(large));
        StoredMessage cut = shard.store.find(KEY, "large", 100_000).orElseThrow();
        assertThat(cut.frame()).isEqualTo(frame(large.substring(0, 100_000)));
        assertThat(cut.size()).isEqualTo(300_000);
        assertThat(shard.store.find(KEY, "large", 10).orElseThrow().frame()).isEqualTo(frame("x".repeat(10)));
    }
}
