package io.easykit.example;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.redis.DedicatedConnections;
import java.time.Duration;
import java.util.function.Consumer;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A queue without an application context, as the documentation prints it. */
class OrderQueue implements AutoCloseable {

    private final LettuceConnectionFactory connections;
    private final RedisQueueStore store;
    private final DelayQueueEngine engine;
    private final ListenerContainer closing;

    OrderQueue(LettuceConnectionFactory redis, Duration commandTimeout, Consumer<String> close) {
        connections = DedicatedConnections.copyOf(redis, commandTimeout);
        connections.afterPropertiesSet();
        connections.start();
        store = new RedisQueueStore(connections);
        engine = DelayQueueEngine.builder(store)
                .codec(new JacksonPayloadCodec())
                .commandTimeout(commandTimeout)
                .build();
        closing = engine.container(
                ListenerEndpoint.builder("close", "order-close", String.class)
                        .concurrency(8)
                        .build(),
                (DelayMessage<String> order) -> close.accept(order.payload()));
        closing.start();
        engine.join();
    }

    DelayQueueTemplate template() {
        return engine.template();
    }

    @Override
    public void close() {
        closing.stop();
        engine.close();
        store.close();
        connections.destroy();
    }
}
