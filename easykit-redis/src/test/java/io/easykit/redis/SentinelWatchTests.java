package io.easykit.redis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class SentinelWatchTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);

    @Test
    void isNeededWithSentinelsOnly() {
        LettuceConnectionFactory single = new LettuceConnectionFactory(new RedisStandaloneConfiguration());

        assertThat(SentinelWatch.of(single, new SharedConnection(single), () -> {}))
                .isNull();
    }

    /** The driver logs each sentinel that it cannot reach. */
    @Test
    void triesTheSentinelsRarelyWhileNoneCanBeReached() throws IOException {
        AtomicInteger attempts = new AtomicInteger();
        try (ServerSocket broken = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            closeConnections(broken, attempts);
            LettuceConnectionFactory factory = DedicatedConnections.copyOf(
                    new LettuceConnectionFactory(new RedisSentinelConfiguration()
                            .master("master")
                            .sentinel(broken.getInetAddress().getHostAddress(), broken.getLocalPort())),
                    TIMEOUT);
            factory.start();
            SentinelWatch watch = requireNonNull(
                    SentinelWatch.of(factory, new SharedConnection(factory), () -> fail("There is no other master")));
            long now = System.nanoTime();

            for (int second = 0; second < 10; second++) {
                watch.queryIfDue(now + Duration.ofSeconds(second).toNanos());
                awaitEndOfTheAttempt();
            }
            assertThat(attempts).hasValue(1);

            watch.queryIfDue(now + Duration.ofSeconds(10).toNanos());
            awaitEndOfTheAttempt();
            assertThat(attempts).hasValue(2);
            factory.destroy();
        }
    }

    private static void closeConnections(ServerSocket server, AtomicInteger accepted) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    server.accept().close();
                    accepted.incrementAndGet();
                }
            } catch (IOException end) {
                // The test is over.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void awaitEndOfTheAttempt() {
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("easykit-redis-sentinel")));
    }
}
