package io.easykit.test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.test.RawRedis.RedisError;
import io.easykit.test.RawRedis.Stored;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RawRedisIntegrationTests {
    private final RawRedis redis = RedisServer.shared().connect();

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    @AfterEach
    void disconnect() {
        redis.close();
    }

    @Test
    void readsEveryKindOfReply() {
        assertThat(redis.command("SET", "key", "value")).isEqualTo("OK");
        assertThat(redis.command("STRLEN", "key")).isEqualTo(5L);
        assertThat(Replies.text(redis.command("GET", "key"))).isEqualTo("value");
        assertThat(redis.command("GET", "missing")).isNull();
        assertThat(Replies.texts(redis.command("MGET", "key", "missing"))).containsExactly("value", null);
        assertThat(redis.command("EVAL", "return {1, {2, false}}", "0"))
                .asString()
                .isEqualTo("[1, [2, null]]");
        assertThat(redis.command("BLPOP", "missing", "0.1")).isNull();
    }

    @Test
    void throwsAnErrorReplyAndGoesOn() {
        assertThatThrownBy(() -> redis.command("NONSENSE"))
                .isInstanceOf(RedisError.class)
                .hasMessageStartingWith("ERR unknown command");
        assertThat(redis.command("PING")).isEqualTo("PONG");
    }

    @Test
    void sendsManyCommandsInOneRoundTrip() {
        List<byte[][]> commands = Stream.of("SET key value", "NONSENSE", "GET missing", "GET key")
                .map(command -> Stream.of(command.split(" "))
                        .map(part -> part.getBytes(UTF_8))
                        .toArray(byte[][]::new))
                .toList();

        List<Object> replies = redis.pipeline(commands);

        assertThat(replies).hasSize(4).element(0).isEqualTo("OK");
        assertThat(replies.get(1)).isInstanceOf(RedisError.class);
        assertThat(replies.get(2)).isNull();
        assertThat(Replies.text(replies.get(3))).isEqualTo("value");
        assertThat(redis.command("PING")).isEqualTo("PONG");
    }

    @Test
    void givesAnErrorInsideAListAsAnElement() {
        redis.command("SET", "text", "x");
        redis.command("MULTI");
        redis.command("INCR", "text");

        assertThat((List<?>) redis.command("EXEC")).hasOnlyElementsOfType(RedisError.class);
    }

    @Test
    void keepsBytesAsTheyAre() {
        byte[] binary = {0, '\r', '\n', (byte) 0xff};
        redis.command("SET".getBytes(UTF_8), "key".getBytes(UTF_8), binary);

        assertThat(redis.command("GET", "key")).isEqualTo(binary);
        assertThat(stored("key").content()).isEqualTo("\\x00\\x0d\\x0a\\xff");
    }

    @Test
    void readsASectionOfInfo() {
        assertThat(redis.info("replication")).containsEntry("role", "master").doesNotContainKey("redis_version");
    }

    @Test
    void snapshotHoldsTheWholeKeyspace() {
        redis.command("SET", "string", "Grüße");
        redis.command("RPUSH", "list", "b", "a");
        redis.command("SADD", "set", "b", "a");
        redis.command("HSET", "hash", "field", "value");
        redis.command("ZADD", "zset", "2", "a", "1.5", "b");

        assertThat(redis.snapshot())
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "string", new Stored("string", "Grüße", -1),
                        "list", new Stored("list", List.of("b", "a"), -1),
                        "set", new Stored("set", Set.of("a", "b"), -1),
                        "hash", new Stored("hash", Map.of("field", "value"), -1),
                        "zset", new Stored("zset", Map.of("a", "2", "b", "1.5"), -1)));
        assertThat((Map<?, ?>) stored("zset").content()).hasToString("{b=1.5, a=2}");
    }

    @Test
    void snapshotTellsTheRemainingLife() {
        redis.command("SET", "key", "value", "PX", "60000");

        assertThat(stored("key").pttl()).isBetween(1L, 60_000L);
    }

    @Test
    void snapshotRefusesATypeThatItCannotSpell() {
        redis.command("XADD", "stream", "*", "field", "value");

        assertThatIllegalStateException().isThrownBy(redis::snapshot).withMessageContaining("stream");
    }

    private Stored stored(String key) {
        return Objects.requireNonNull(redis.snapshot().get(key));
    }
}
