package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.test.RedisServer;
import io.lettuce.core.RedisConnectionException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class SharedConnectionTests {

    /** What Lettuce says instead of the reason, by the moment at which the server closes the connection. */
    private static final Set<String> HIDDEN =
            Set.of("Connection closed prematurely", "RedisHandshakeHandler not registered");

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @ParameterizedTest
    @ValueSource(strings = {"Connection closed prematurely", "RedisHandshakeHandler not registered"})
    void namesTheReasonOfTheServerAlthoughLettuceHidesItAtFirst(String hidden) {
        try (RedisServer server = RedisServer.start("--requirepass", "secret")) {
            RedisStandaloneConfiguration redis = new RedisStandaloneConfiguration(server.host(), server.port());
            redis.setPassword(RedisPassword.of("wrong"));

            assertThat(failureOf(new HidesItsReasonTwice(redis, hidden)))
                    .rootCause()
                    .hasMessageStartingWith("WRONGPASS");
        }
    }

    @Test
    void endsAfterThreeConnectionsThatWereClosedWithoutAReason() throws IOException {
        AtomicInteger accepted = new AtomicInteger();
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread closes = new Thread(() -> closeEachConnection(server, accepted));
            closes.setDaemon(true);
            closes.start();

            Throwable failure = failureOf(
                    new LettuceConnectionFactory(server.getInetAddress().getHostAddress(), server.getLocalPort()));

            assertThat(failure).hasRootCauseMessage("Connection closed prematurely");
            assertThat(accepted).hasValue(3);
        }
    }

    /** For example one of a library that copies a value which it cannot copy on this thread. */
    @Test
    void connectsAlthoughAnInheritableThreadLocalOfTheCallerThrows() {
        InheritableThreadLocal<String> uncopied = new InheritableThreadLocal<>() {
            @Override
            protected String childValue(String parentValue) {
                throw new IllegalStateException("cannot be copied");
            }
        };
        try (RedisServer server = RedisServer.start()) {
            LettuceConnectionFactory factory = started(new LettuceConnectionFactory(server.host(), server.port()));
            SharedConnection connection = new SharedConnection(factory);
            uncopied.set("value");
            try {
                var unused = connection.get();
            } catch (IllegalStateException alsoTheCaller) {
                // The next call connects.
            } finally {
                uncopied.remove();
            }

            assertThat(connection.get()).succeedsWithin(PATIENCE);
            factory.destroy();
        }
    }

    @Test
    void anAttemptEndsAlthoughItsFailureCannotBeDescribed() {
        AtomicInteger calls = new AtomicInteger();
        try (RedisServer server = RedisServer.start()) {
            LettuceConnectionFactory factory = started(new LettuceConnectionFactory(server.host(), server.port()) {
                @Override
                public RedisConnection getConnection() {
                    if (calls.incrementAndGet() == 1) {
                        throw new Indescribable();
                    }
                    return super.getConnection();
                }
            });
            SharedConnection connection = new SharedConnection(factory);

            SharedConnection.Attempt first = connection.get();

            await().atMost(PATIENCE).until(first::isCompletedExceptionally);
            await().atMost(PATIENCE).until(() -> connection.get().isConnected());
            factory.destroy();
        }
    }

    private static LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    private static final class Indescribable extends IllegalStateException {

        @Override
        public String getMessage() {
            throw new NoClassDefFoundError("Message");
        }
    }

    private static void closeEachConnection(ServerSocket server, AtomicInteger accepted) {
        try {
            while (true) {
                Socket connection = server.accept();
                accepted.incrementAndGet();
                // What is not read would reset the connection.
                assertThat(connection.getInputStream().read(new byte[1000])).isPositive();
                connection.close();
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private static Throwable failureOf(LettuceConnectionFactory factory) {
        started(factory);
        try {
            return catchThrowable(() -> new SharedConnection(factory).get().join())
                    .getCause();
        } finally {
            factory.destroy();
        }
    }

    /** Its first two failures are those of the race in Lettuce. A third one of the same kind is repeated. */
    private static final class HidesItsReasonTwice extends LettuceConnectionFactory {

        private final String hidden;
        private int calls;

        HidesItsReasonTwice(RedisStandaloneConfiguration redis, String hidden) {
            super(redis);
            this.hidden = hidden;
        }

        /** Until the race is not met. */
        private RedisConnection withReason() {
            while (true) {
                try {
                    return super.getConnection();
                } catch (RuntimeException failed) {
                    String reason =
                            NestedExceptionUtils.getMostSpecificCause(failed).getMessage();
                    if (!HIDDEN.contains(String.valueOf(reason))) {
                        throw failed;
                    }
                }
            }
        }

        @Override
        public RedisConnection getConnection() {
            if (++calls > 2) {
                return withReason();
            }
            throw new RedisConnectionFailureException(
                    "Unable to connect to Redis",
                    new RedisConnectionException("Unable to connect", new IllegalStateException(hidden)));
        }
    }
}
