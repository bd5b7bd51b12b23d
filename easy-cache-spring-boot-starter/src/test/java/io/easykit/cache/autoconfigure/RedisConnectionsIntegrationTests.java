package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

@ExtendWith(OutputCaptureExtension.class)
class RedisConnectionsIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final RedisServer redis = RedisServer.shared();
    private final RedisConnections connections =
            new RedisConnections(new LettuceConnectionFactory(redis.host(), redis.port()), "ec:", TIMEOUT, false);

    @AfterEach
    void destroy() {
        connections.destroy();
    }

    @Test
    void worksBeforeItIsStarted() {
        assertThatCode(connections::ping).doesNotThrowAnyException();
    }

    @Test
    void worksAgainAfterAPause() {
        for (int i = 0; i < 3; i++) {
            connections.start();
            assertThat(connections.isRunning()).isTrue();
            assertThatCode(connections::ping).doesNotThrowAnyException();
            connections.stop();
            assertThat(connections.isRunning()).isFalse();
        }
    }

    @Test
    void giveTheFirstReplyMoreTime() {
        Duration timeout = Duration.ofMillis(30);
        try (TcpProxy line = TcpProxy.to(redis)) {
            line.holdReplies(true);
            LettuceConnectionFactory factory = new LettuceConnectionFactory(line.host(), line.port());
            RedisConnections slow = new RedisConnections(factory, "ec:", timeout, false);
            try {
                CompletableFuture<Void> first = CompletableFuture.runAsync(slow::ping);
                await().until(() -> line.connections() > 0);
                assertThatThrownBy(() -> first.get(2 * timeout.toMillis(), TimeUnit.MILLISECONDS))
                        .as("it waits for longer than the command timeout")
                        .isInstanceOf(TimeoutException.class);
                line.heal();
                await().until(first::isDone);
            } finally {
                slow.destroy();
            }
        }
    }

    @Test
    void endsTheThreadsOfItsConnections() {
        connections.start();
        connections.ping();
        Set<Thread> before = driverThreads();
        RedisConnections others =
                new RedisConnections(new LettuceConnectionFactory(redis.host(), redis.port()), "ec:", TIMEOUT, false);
        others.ping();
        Set<Thread> added = driverThreads();
        // A pool of another application context, which tests share, may grow meanwhile.
        Set<String> pools =
                before.stream().map(RedisConnectionsIntegrationTests::poolOf).collect(Collectors.toSet());
        added.removeIf(thread -> pools.contains(poolOf(thread)));
        assertThat(added).isNotEmpty();

        others.destroy();

        await().untilAsserted(() -> assertThat(driverThreads()).doesNotContainAnyElementsOf(added));
    }

    private static String poolOf(Thread thread) {
        return thread.getName().substring(0, thread.getName().lastIndexOf('-'));
    }

    private static Set<Thread> driverThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("lettuce-"))
                .collect(Collectors.toSet());
    }

    @Test
    void saysThatTheTimeoutsOfAForeignFactoryApply(CapturedOutput output) {
        RedisConnectionFactory foreign = (RedisConnectionFactory) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {RedisConnectionFactory.class}, (proxy, method, args) -> {
                    throw new IllegalStateException("away");
                });
        RedisConnections through = new RedisConnections(foreign, "ec:", TIMEOUT, false);
        assertThat(output).contains("which is neither Lettuce nor Jedis. Its own timeouts apply");
        assertThatThrownBy(through::ping).isInstanceOf(StoreUnavailableException.class);
    }
}
