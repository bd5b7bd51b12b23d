package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.DedicatedConnections;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A queue on a real Redis, over a connection with the settings that {@link RedisQueueStore} requires. */
final class RedisQueue implements AutoCloseable {

    static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);
    static final Duration PATIENT = Duration.ofSeconds(10);

    final RedisQueueStore store;
    final DelayQueueEngine engine;
    private final LettuceConnectionFactory connections;

    /** Waits long for replies: a busy machine must not make calls fail. */
    RedisQueue(String host, int port) {
        this(host, port, PATIENT);
    }

    RedisQueue(String host, int port, Duration commandTimeout) {
        this(host, port, commandTimeout, builder -> builder);
    }

    RedisQueue(String host, int port, Duration commandTimeout, UnaryOperator<DelayQueueEngine.Builder> settings) {
        connections = DedicatedConnections.copyOf(new LettuceConnectionFactory(host, port), commandTimeout);
        connections.afterPropertiesSet();
        connections.start();
        store = new RedisQueueStore(connections);
        engine = settings.apply(DelayQueueEngine.builder(store).codec(new JacksonPayloadCodec()))
                .build();
    }

    ShardStats stats(String topic) {
        return store.stats(new ShardKey(topic, 0));
    }

    /** Whether everything that was sent has ended. */
    boolean isDrained(String topic) {
        ShardStats stats = stats(topic);
        return stats.waiting() == 0 && stats.inFlight() == 0;
    }

    @Override
    public void close() {
        engine.close();
        store.close();
        connections.destroy();
    }
}
