package io.easykit.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class SubscriptionConnectionIntegrationTests {

    private static final String THREAD = "test-subscriptions";

    private static RedisServer server;
    private static RawRedis redis;

    private final List<Throwable> lost = new CopyOnWriteArrayList<>();
    private @Nullable RedisConnectionFactory connections;
    private SubscriptionConnection subscriptions;

    enum Driver {
        LETTUCE,
        LETTUCE_BEHIND_ANOTHER_CLASS,
        JEDIS
    }

    /** Keeps what it hears. */
    private static final class Recorder implements MessageListener, SubscriptionListener {
        final List<String> heard = new CopyOnWriteArrayList<>();

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {
            heard.add(new String(message.getBody(), UTF_8));
        }

        @Override
        public void onChannelSubscribed(byte[] channel, long count) {
            heard.add("+" + new String(channel, UTF_8));
        }

        @Override
        public void onChannelUnsubscribed(byte[] channel, long count) {
            heard.add("-" + new String(channel, UTF_8));
        }
    }

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        redis = server.connect();
    }

    @AfterAll
    static void stop() {
        redis.close();
        server.close();
    }

    @AfterEach
    void end() {
        redis.command("ACL", "SETUSER", "default", "allchannels");
        subscriptions.close();
        if (connections instanceof LettuceConnectionFactory lettuce) {
            lettuce.destroy();
        } else if (connections instanceof JedisConnectionFactory jedis) {
            jedis.destroy();
        }
    }

    private SubscriptionConnection connect(Driver driver, String host, int port) {
        RedisStandaloneConfiguration address = new RedisStandaloneConfiguration(host, port);
        if (driver != Driver.JEDIS) {
            LettuceConnectionFactory application = new LettuceConnectionFactory(address);
            application.afterPropertiesSet();
            LettuceConnectionFactory own = DedicatedConnections.copyOf(application, Duration.ofSeconds(1));
            own.start();
            connections = own;
        } else {
            JedisConnectionFactory application = new JedisConnectionFactory(address);
            application.afterPropertiesSet();
            JedisConnectionFactory own = DedicatedJedis.copyOf(application, Duration.ofSeconds(1));
            own.start();
            connections = own;
        }
        RedisConnectionFactory used =
                driver == Driver.LETTUCE_BEHIND_ANOTHER_CLASS ? behindAnotherClass(connections) : connections;
        return new SubscriptionConnection(used, THREAD, (broken, failure) -> lost.add(failure));
    }

    /** As an application wraps its factory for tracing. */
    private static RedisConnectionFactory behindAnotherClass(RedisConnectionFactory factory) {
        return (RedisConnectionFactory) Proxy.newProxyInstance(
                RedisConnectionFactory.class.getClassLoader(),
                new Class<?>[] {RedisConnectionFactory.class},
                (proxy, method, arguments) -> method.invoke(factory, arguments));
    }

    private void connect(Driver driver) {
        subscriptions = connect(driver, server.host(), server.port());
    }

    private static boolean isBlocked() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals(THREAD));
    }

    private static Object publish(String channel, String text) {
        return redis.command("PUBLISH", channel, text);
    }

    @ParameterizedTest
    @EnumSource
    void eachListenerHearsOfItsChannels(Driver driver) {
        connect(driver);
        Recorder first = new Recorder();
        Recorder second = new Recorder();
        subscriptions.subscribe(first, List.of("a"));
        subscriptions.subscribe(second, List.of("b", "a"));
        assertThat(first.heard).containsExactly("+a");
        assertThat(second.heard).containsExactlyInAnyOrder("+b", "+a");

        assertThat(publish("a", "1")).isEqualTo(1L);
        await().until(() -> first.heard.contains("1") && second.heard.contains("1"));
        subscriptions.unsubscribe(second);
        await().until(() -> publish("b", "2").equals(0L));
        publish("a", "3");
        await().until(() -> first.heard.contains("3"));
        assertThat(second.heard).containsExactlyInAnyOrder("+b", "+a", "1", "-b");

        subscriptions.close();
        await().until(() -> publish("a", "4").equals(0L) && !isBlocked());
        assertThat(lost).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void aFailureOfAListenerKeepsTheMessageFromNoOther(Driver driver) {
        connect(driver);
        Recorder other = new Recorder();
        subscriptions.subscribe(
                (message, pattern) -> {
                    throw new IllegalStateException("bad listener");
                },
                List.of("a"));
        subscriptions.subscribe(other, List.of("a"));

        publish("a", "1");
        publish("a", "2");

        await().until(() -> other.heard.containsAll(List.of("1", "2")));
    }

    /** The container of Spring Data waits for ever for a later one. Then the pool must not get a connection that is subscribed. */
    @ParameterizedTest
    @CsvSource({
        "LETTUCE, true", "LETTUCE, false",
        "LETTUCE_BEHIND_ANOTHER_CLASS, true", "LETTUCE_BEHIND_ANOTHER_CLASS, false",
        "JEDIS, true", "JEDIS, false"
    })
    void tellsWhenRedisRefusesASubscription(Driver driver, boolean first) {
        redis.command("ACL", "SETUSER", "default", "resetchannels", "&a");
        connect(driver);
        if (!first) {
            subscriptions.subscribe(new Recorder(), List.of("a"));
        }

        assertRefused(subscriptions);

        await().until(() -> !isBlocked());
        assertRepliesAreRight(Objects.requireNonNull(connections));
    }

    /** The pools of the nodes have the connection back before the refusal is known. */
    @Test
    void aRefusalInAClusterLeavesNoReplyBehind() {
        try (RedisCluster cluster = RedisCluster.start(3, 0)) {
            for (RedisServer master : cluster.masters()) {
                try (RawRedis node = master.connect()) {
                    node.command("ACL", "SETUSER", "default", "resetchannels");
                }
            }
            JedisConnectionFactory application = new JedisConnectionFactory(
                    new RedisClusterConfiguration(List.of(cluster.addresses().split(",", -1))));
            application.afterPropertiesSet();
            JedisConnectionFactory own = DedicatedJedis.copyOf(application, Duration.ofSeconds(1));
            own.start();
            connections = own;
            subscriptions = new SubscriptionConnection(own, THREAD, (broken, failure) -> lost.add(failure));

            assertRefused(subscriptions);

            await().until(() -> !isBlocked());
            assertRepliesAreRight(own);
        }
    }

    private static void assertRefused(SubscriptionConnection subscriptions) {
        Throwable refusal = catchThrowable(() -> subscriptions.subscribe(new Recorder(), List.of("b")));
        assertThat(ErrorReply.of(refusal))
                .isNotNull()
                .extracting(ErrorReply::code)
                .isEqualTo("NOPERM");
        subscriptions.close();
    }

    private static void assertRepliesAreRight(RedisConnectionFactory factory) {
        for (int i = 0; i < 30; i++) {
            byte[] text = String.valueOf(i).getBytes(UTF_8);
            try (RedisConnection calls = factory.getConnection()) {
                calls.stringCommands().set(text, text);
                assertThat(calls.stringCommands().get(text)).isEqualTo(text);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void waitsTwoSecondsForAConfirmation(Driver driver) {
        try (TcpProxy line = TcpProxy.to(server)) {
            subscriptions = connect(driver, line.host(), line.port());
            subscriptions.subscribe(new Recorder(), List.of("a"));

            line.dropReplies(true);

            assertThatThrownBy(() -> subscriptions.subscribe(new Recorder(), List.of("b")))
                    .isInstanceOf(Exception.class);
            subscriptions.close();
        }
        await().until(() -> !isBlocked());
        assertThat(lost).isEmpty();
    }

    @Test
    void reportsALostConnectionOfADriverThatDoesNotConnectAgain() {
        connect(Driver.JEDIS);
        subscriptions.subscribe(new Recorder(), List.of("a"));

        redis.command("CLIENT", "KILL", "TYPE", "pubsub");

        await().until(() -> !lost.isEmpty());
        assertThat(lost).hasSize(1);
        assertThatThrownBy(() -> subscriptions.subscribe(new Recorder(), List.of("b")))
                .isInstanceOf(RedisConnectionFailureException.class);
    }

    @Test
    void hearsAgainWhenTheDriverHasConnectedAgain() {
        connect(Driver.LETTUCE);
        Recorder listener = new Recorder();
        subscriptions.subscribe(listener, List.of("a"));

        redis.command("CLIENT", "KILL", "TYPE", "pubsub");

        await().until(() -> listener.heard.equals(List.of("+a", "+a")));
        await().until(() -> publish("a", "1").equals(1L));
        assertThat(lost).isEmpty();
    }
}
