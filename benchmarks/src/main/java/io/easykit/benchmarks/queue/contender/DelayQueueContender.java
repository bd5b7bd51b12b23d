package io.easykit.benchmarks.queue.contender;

import io.easykit.benchmarks.queue.node.Message;
import io.easykit.benchmarks.queue.node.QueueContender;
import io.easykit.benchmarks.queue.node.Setup;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import java.time.Instant;
import java.util.List;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * delay-queue in a Spring Boot application. Listeners are registered in code like those of annotated methods, one for
 * each queue, because annotations cannot have a variable number.
 */
final class DelayQueueContender implements QueueContender {

    /** Messages of one call of a batch listener. */
    static final int BATCH = 50;

    static final int SHARDS = 4;

    private final DelayQueueTemplate queue;

    private DelayQueueContender(DelayQueueTemplate queue) {
        this.queue = queue;
    }

    static QueueContender open(Setup setup, int shards, int batchSize) {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false)
                .run(
                        "--spring.data.redis.host=" + setup.host(),
                        "--spring.data.redis.port=" + setup.port(),
                        "--delay-queue.defaults.shards=" + shards);
        if (setup.listens()) {
            DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
            DelayListenerRegistry registry = context.getBean(DelayListenerRegistry.class);
            setup.queues().forEach(topic -> registry.register(container(engine, topic, setup, batchSize)));
        }
        return new DelayQueueContender(context.getBean(DelayQueueTemplate.class));
    }

    private static ListenerContainer container(DelayQueueEngine engine, String topic, Setup setup, int batchSize) {
        ListenerEndpoint endpoint = ListenerEndpoint.builder(topic, topic, String.class)
                .concurrency(setup.concurrency())
                .batchSize(batchSize)
                .build();
        MessageHandler<String> single = message -> setup.listener().accept(message.payload());
        MessageHandler.Batch<String> batch =
                messages -> messages.stream().map(DelayMessage::payload).forEach(setup.listener());
        return batchSize == 1 ? engine.container(endpoint, single) : engine.batchContainer(endpoint, batch);
    }

    @Override
    public void send(String topic, Message message) {
        queue.send(topic, message.text(), Instant.ofEpochMilli(message.due()));
    }

    @Override
    public void sendAll(String topic, List<Message> messages) {
        queue.sendAll(messages.stream()
                .map(message -> OutgoingMessage.of(topic, message.text()).at(Instant.ofEpochMilli(message.due())))
                .toList());
    }

    @Configuration
    @EnableAutoConfiguration(exclude = EasyCacheAutoConfiguration.class)
    static class Application {}
}
