package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.store.StoredMessage;
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
        assertThat(shard.store.read(KEY, "b", Bytes.NONE, 0, 10)).isEmpty();
        assertThat(shard.state()).isEqualTo(before);
    }

    @Test
    void showsLargeBodiesWholeInPagesAndFinds() {
        String large = "x".repeat(300_000);
        String medium = "y".repeat(60_000);
        StringBuilder seed = new StringBuilder("ZADD dead 700 large");
        seed.append("\nSET m:large ").append(large);
        for (int i = 0; i < 8; i++) {
            seed.append("\nZADD dead 80").append(i).append(" m").append(i);
            seed.append("\nSET m:m").append(i).append(' ').append(medium);
        }
        shard.seed(seed.toString());

        assertThat(shard.store.list(KEY, State.DEAD, 0, 10).messages())
                .hasSize(9)
                .allSatisfy(message ->
                        assertThat(message.frame()).isEqualTo(frame(message.id().equals("large") ? large : medium)));
        assertThat(shard.store.find(KEY, "large")).map(StoredMessage::frame).contains(frame(large));
    }
}
