package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyIntegrationTests {
    private static final Duration PATIENT = Duration.ofSeconds(10);
    private static final Duration IMPATIENT = Duration.ofSeconds(1);

    private final RawRedis direct = RedisServer.shared().connect();
    private final TcpProxy proxy = TcpProxy.to(RedisServer.shared());

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    @AfterEach
    void close() {
        proxy.close();
        direct.close();
    }

    @Test
    void passesEverythingWhileNothingIsWrong() {
        String large = "x".repeat(1_000_000);
        try (RawRedis redis = connect(PATIENT)) {
            redis.command("SET", "key", large);
            assertThat(Replies.text(redis.command("GET", "key"))).isEqualTo(large);
            assertThat(proxy.connections()).isEqualTo(1);
        }
        await().until(() -> proxy.connections() == 0);
    }

    @Test
    void cutLineClosesConnectionsAndRefusesNewOnesUntilItIsHealed() {
        try (RawRedis redis = connect(PATIENT)) {
            redis.command("PING");

            proxy.cut();

            assertThatThrownBy(() -> redis.command("PING")).hasCauseInstanceOf(IOException.class);
            assertThatThrownBy(() -> connect(PATIENT))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasRootCauseInstanceOf(ConnectException.class);
        }
        proxy.heal();
        try (RawRedis redis = connect(PATIENT)) {
            assertThat(redis.command("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void lostReplyBelongsToARequestThatHasRun() {
        proxy.dropNextReply();
        try (RawRedis redis = connect(PATIENT)) {
            assertThatThrownBy(() -> redis.command("INCR", "count")).hasCauseInstanceOf(EOFException.class);
        }
        assertThat(count()).isEqualTo("1");
        try (RawRedis redis = connect(PATIENT)) {
            assertThat(redis.command("INCR", "count")).isEqualTo(2L);
        }
    }

    @Test
    void clientsWaitInVainWhileRepliesAreDropped() {
        proxy.dropReplies(true);
        try (RawRedis redis = connect(IMPATIENT)) {
            assertThatThrownBy(() -> redis.command("INCR", "count")).hasCauseInstanceOf(SocketTimeoutException.class);
            await().until(() -> "1".equals(count()));

            proxy.dropReplies(false);

            assertThatThrownBy(() -> redis.command("INCR", "count")).hasCauseInstanceOf(IOException.class);
        }
        try (RawRedis redis = connect(PATIENT)) {
            assertThat(Replies.text(redis.command("GET", "count"))).isEqualTo("1");
        }
    }

    @Test
    void requestsThatAreDroppedNeverRun() {
        proxy.dropRequests(true);
        try (RawRedis redis = connect(IMPATIENT)) {
            assertThatThrownBy(() -> redis.command("INCR", "count")).hasCauseInstanceOf(SocketTimeoutException.class);

            proxy.heal();

            assertThatThrownBy(() -> redis.command("INCR", "count")).hasCauseInstanceOf(IOException.class);
        }
        try (RawRedis redis = connect(PATIENT)) {
            assertThat(redis.command("INCR", "count")).isEqualTo(1L);
        }
    }

    @Test
    void frozenLineLosesNothing() {
        try (RawRedis redis = connect(PATIENT)) {
            redis.command("PING");
            proxy.freeze();
            CompletableFuture<Object> reply = CompletableFuture.supplyAsync(() -> redis.require("INCR", "count"));
            await().during(IMPATIENT).until(() -> count() == null && !reply.isDone());

            proxy.heal();

            assertThat(reply).succeedsWithin(PATIENT).isEqualTo(1L);
        }
    }

    @Test
    void delayHoldsRequestsBackUntilItIsLifted() {
        try (RawRedis redis = connect(PATIENT)) {
            proxy.delay(IMPATIENT);
            long start = System.nanoTime();
            redis.command("PING");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(IMPATIENT);

            proxy.delay(Duration.ofHours(1));
            CompletableFuture<Object> reply = CompletableFuture.supplyAsync(() -> redis.require("PING"));
            proxy.heal();
            assertThat(reply).succeedsWithin(PATIENT).isEqualTo("PONG");
        }
    }

    @Test
    void retargetedLineLeadsNewConnectionsToAnotherServer() {
        try (RedisServer other = RedisServer.start();
                RawRedis before = connect(PATIENT)) {
            before.command("SET", "key", "value");

            proxy.retarget(other);

            assertThatThrownBy(() -> before.command("PING")).hasCauseInstanceOf(IOException.class);
            try (RawRedis after = connect(PATIENT)) {
                assertThat(after.command("EXISTS", "key")).isEqualTo(0L);
            }
        }
    }

    @Test
    void strandedConnectionsSayNothingMoreAndNewOnesWork() {
        try (RawRedis stranded = connect(IMPATIENT)) {
            stranded.command("PING");

            proxy.strand();

            assertThatThrownBy(() -> stranded.command("PING")).hasCauseInstanceOf(SocketTimeoutException.class);
            try (RawRedis after = connect(PATIENT)) {
                assertThat(after.command("PING")).isEqualTo("PONG");
            }
        }
    }

    @Test
    void closedProxyCannotBeHealed() {
        proxy.close();

        assertThatThrownBy(() -> connect(PATIENT)).isInstanceOf(UncheckedIOException.class);
        assertThatIllegalStateException().isThrownBy(proxy::heal);
    }

    private RawRedis connect(Duration timeout) {
        return RawRedis.connect(proxy.host(), proxy.port(), timeout);
    }

    private @Nullable String count() {
        return Replies.text(direct.command("GET", "count"));
    }
}
