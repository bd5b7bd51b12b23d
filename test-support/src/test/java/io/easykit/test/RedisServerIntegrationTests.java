package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedisServerIntegrationTests {
    private final RedisServer server = RedisServer.start();

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void startsEmptyAndAnswers() {
        try (RawRedis redis = server.connect()) {
            assertThat(redis.command("DBSIZE")).isEqualTo(0L);
            assertThat(Replies.texts(redis.command("CONFIG", "GET", "save"))).containsExactly("save", "");
        }
        assertThat(server.version()).matches("\\d+\\.\\d+\\.\\d+");
        assertThat(server.uri()).isEqualTo("redis://" + server.host() + ":" + server.port());
        assertThat(server.isRunning()).isTrue();
    }

    @Test
    void killedServerAnswersNobodyAndRestartsEmptyOnTheSamePort() {
        int port = server.port();
        set(server, "key", "value");

        server.kill();
        assertThat(server.isRunning()).isFalse();
        assertThatThrownBy(() -> get(server, "key")).isInstanceOf(UncheckedIOException.class);

        server.restart();
        assertThat(server.port()).isEqualTo(port);
        assertThat(get(server, "key")).isNull();
    }

    @Test
    void dataSurvivesARestartWithAnAppendOnlyFile() {
        try (RedisServer durable = RedisServer.start("--appendonly", "yes")) {
            set(durable, "key", "value");

            durable.restart();

            assertThat(get(durable, "key")).isEqualTo("value");
        }
    }

    @Test
    void pausedServerAnswersNothingUntilItIsResumed() {
        server.pause();
        assertThat(server.isRunning()).isTrue();
        try (RawRedis redis = RawRedis.connect(server.host(), server.port(), Duration.ofMillis(200))) {
            assertThatThrownBy(() -> redis.command("PING")).hasCauseInstanceOf(SocketTimeoutException.class);
        }

        server.resume();
        try (RawRedis redis = server.connect()) {
            assertThat(redis.command("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void pausedServerCanBeKilledAndRestarted() {
        server.pause();

        server.restart();

        assertThat(get(server, "key")).isNull();
    }

    @Test
    void replicaHoldsTheDataOfAKilledPrimaryAndTakesWritesAfterPromotion() {
        try (RedisServer replica = RedisServer.start()) {
            set(server, "key", "value");
            replica.replicaOf(server);

            server.kill();
            replica.promote();

            assertThat(get(replica, "key")).isEqualTo("value");
            set(replica, "key", "newer");
            assertThat(get(replica, "key")).isEqualTo("newer");
        }
    }

    @Test
    void knowsThePasswordItWasGiven() {
        try (RedisServer guarded = RedisServer.start("--requirepass", "secret")) {
            assertThat(guarded.uri()).startsWith("redis://:secret@");
            assertThat(get(guarded, "key")).isNull();
        }
    }

    @Test
    void closingTwiceIsHarmlessAndRestartingAfterwardsIsRefused() {
        server.close();
        server.close();

        assertThat(server.isRunning()).isFalse();
        assertThatIllegalStateException().isThrownBy(server::restart).withMessageContaining("is closed");
    }

    @Test
    void refusesOptionsThatItChoosesItself() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisServer.start("--port", "6379"))
                .withMessageContaining("Remove it");
    }

    @Test
    void saysWhatRedisSaidWhenItRefusesAnOption() {
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisServer.start("--no-such-option", "1"))
                .withMessageContaining("no-such-option");
    }

    @Test
    void sharedServerIsOneAndCannotBeDisturbed() {
        RedisServer shared = RedisServer.shared();
        set(shared, "key", "value");
        shared.flush();

        assertThat(RedisServer.shared()).isSameAs(shared);
        assertThat(get(shared, "key")).isNull();
        assertThatIllegalStateException().isThrownBy(shared::kill).withMessageContaining("RedisServer.start()");
        assertThatIllegalStateException().isThrownBy(shared::close);
        assertThat(shared.isRunning()).isTrue();
    }

    private static void set(RedisServer server, String key, String value) {
        try (RawRedis redis = server.connect()) {
            redis.command("SET", key, value);
        }
    }

    private static @Nullable String get(RedisServer server, String key) {
        try (RawRedis redis = server.connect()) {
            return Replies.text(redis.command("GET", key));
        }
    }
}
