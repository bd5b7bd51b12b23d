package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.test.RedisServer;
import io.lettuce.core.ClientOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Failures for which the driver has only a message. A new version of it may word them differently. */
class CallFailuresIntegrationTests {

    private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);

    /** A new JVM on a busy machine needs long for its first connection. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void nothingIsSentWhileNoNodeIsAMaster() {
        try (RedisServer master = RedisServer.start();
                RedisServer one = RedisServer.start();
                RedisServer other = RedisServer.start()) {
            one.replicaOf(master);
            other.replicaOf(master);
            RedisStaticMasterReplicaConfiguration replicas =
                    new RedisStaticMasterReplicaConfiguration(one.host(), one.port());
            replicas.addNode(other.host(), other.port());
            LettuceConnectionFactory factory =
                    started(replicas, LettuceClientConfiguration.builder().build());
            try {
                LettuceConnector connector = new LettuceConnector(factory, PATIENCE);

                Throwable failure = catchThrowable(() -> connector.<String>await(KEY, redis -> redis.set(KEY, KEY)));

                assertThat(failure).hasStackTraceContaining("Master is currently unknown");
                assertThat(CallFailures.isNotSent(failure)).isTrue();
            } finally {
                factory.destroy();
            }
        }
    }

    @Test
    void nothingIsSentBeyondTheLimitOfTheDriver() {
        try (RedisServer server = RedisServer.start()) {
            LettuceConnectionFactory factory = started(
                    new RedisStandaloneConfiguration(server.host(), server.port()),
                    LettuceClientConfiguration.builder()
                            .clientOptions(
                                    ClientOptions.builder().requestQueueSize(1).build())
                            .build());
            try {
                LettuceConnector connector = new LettuceConnector(factory, PATIENCE);
                connector.<Long>await(KEY, redis -> redis.exists(KEY));

                List<CompletableFuture<Long>> replies = Stream.generate(() -> connector
                                .<Long>call(KEY, redis -> redis.incr(KEY))
                                .toCompletableFuture())
                        .limit(1_000)
                        .toList();

                List<Throwable> failures = replies.stream()
                        .filter(reply -> reply.handle((value, failure) -> failure != null)
                                .join())
                        .map(reply -> CallFailures.unwrapped(catchThrowable(reply::join)))
                        .toList();
                assertThat(messages(failures, any -> true))
                        .isNotEmpty()
                        .allMatch(message -> message.contains("size exceeded"));
                assertThat(messages(failures, failure -> !CallFailures.isNotSent(failure)))
                        .isEmpty();
                long increments = connector.<Long>await(KEY, redis -> redis.incr(KEY)) - 1;
                assertThat(increments).isEqualTo(replies.size() - failures.size());
            } finally {
                factory.destroy();
            }
        }
    }

    private static Set<String> messages(List<Throwable> failures, Predicate<Throwable> chosen) {
        return failures.stream().filter(chosen).map(Throwable::toString).collect(Collectors.toSet());
    }

    /** An application's own connections. Those of a product have no such limit. */
    private static LettuceConnectionFactory started(RedisConfiguration redis, LettuceClientConfiguration client) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(redis, client);
        factory.start();
        return factory;
    }
}
