package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.RedisServer;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A composed stage, as that of a replicated write, wraps the failure of its command. Both must count the same. */
class FailureDetectorIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);

    /** Longer than a lost connection may last, and shorter than a silence. */
    private static final Duration SHORT = Duration.ofSeconds(1);

    private static final Duration LONG = Duration.ofSeconds(10);

    private final RedisServer redis = RedisServer.shared();
    private final AtomicInteger replacements = new AtomicInteger();
    private LettuceConnectionFactory factory;
    private FailureDetector failures;

    @BeforeEach
    void connect() {
        factory = DedicatedConnections.copyOf(
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(redis.host(), redis.port())), TIMEOUT);
        factory.start();
        SharedConnection connection = new SharedConnection(factory);
        connection.onReplacement(replacements::incrementAndGet);
        var unused = connection.get().join();
        failures = new FailureDetector(
                connection, new ClusterTopology(factory, connection), Transfers.of(factory), TIMEOUT, LONG);
    }

    @AfterEach
    void close() {
        factory.destroy();
    }

    static Stream<Case> cases() {
        return Stream.of(
                        new Case("OOM command not allowed when used memory > 'maxmemory'.", LONG, 0),
                        new Case("NOPERM User shop has no permissions to run the 'wait' command", LONG, 0),
                        new Case("READONLY You can't write against a read only replica.", Duration.ZERO, 1),
                        new Case(new RedisCommandTimeoutException("No reply"), SHORT, 0),
                        new Case(new RedisCommandTimeoutException("No reply"), LONG, 1),
                        new Case(new RedisException("Connection closed"), Duration.ZERO, 0),
                        new Case(new RedisException("Connection closed"), SHORT, 1))
                .flatMap(plain -> Stream.of(
                        plain, new Case(new CompletionException(plain.failure), plain.age, plain.replacements)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void leavesTheServerForTheFailureItselfHoweverItIsWrapped(Case given) {
        long sent = System.nanoTime() - given.age.toNanos();

        failures.failed(failures.watchOf(new byte[0]), sent, given.failure);

        assertThat(replacements).hasValue(given.replacements);
    }

    /**
     * A failure that counts.
     *
     * @param age time since the command was sent
     * @param replacements connections that are replaced for it
     */
    record Case(Throwable failure, Duration age, int replacements) {

        Case(String error, Duration age, int replacements) {
            this(new RedisCommandExecutionException(error), age, replacements);
        }
    }
}
