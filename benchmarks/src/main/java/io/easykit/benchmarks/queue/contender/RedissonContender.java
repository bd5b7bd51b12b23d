package io.easykit.benchmarks.queue.contender;

import io.easykit.benchmarks.queue.node.Message;
import io.easykit.benchmarks.queue.node.QueueContender;
import io.easykit.benchmarks.queue.node.Setup;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RFuture;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Redisson's delayed queue, with threads that take due messages. There is no acknowledgement: a taken message is
 * removed, so delivery is at most once. There is no call for several messages either; a list is pipelined.
 */
@SuppressWarnings("deprecation") // RDelayedQueue; its successor is not free
final class RedissonContender implements QueueContender {

    /** Number of messages taken at once by a tuned consumer, after the first one. */
    private static final int LIST = 20;

    private final Map<String, RDelayedQueue<String>> queues;

    private RedissonContender(Map<String, RDelayedQueue<String>> queues) {
        this.queues = queues;
    }

    static QueueContender defaults(Setup setup) {
        RedissonClient redisson = connect(setup);
        return open(setup, redisson, redisson::<String>getBlockingQueue, 1);
    }

    static QueueContender tuned(Setup setup) {
        RedissonClient redisson = connect(setup);
        return open(setup, redisson, name -> redisson.getBlockingQueue(name, StringCodec.INSTANCE), LIST);
    }

    private static RedissonClient connect(Setup setup) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + setup.host() + ":" + setup.port());
        return Redisson.create(config);
    }

    private static QueueContender open(
            Setup setup, RedissonClient redisson, Function<String, RBlockingQueue<String>> target, int list) {
        Map<String, RDelayedQueue<String>> queues = setup.queues().stream()
                .collect(Collectors.toMap(name -> name, name -> redisson.getDelayedQueue(target.apply(name))));
        for (String name : setup.queues()) {
            for (int i = 0; i < setup.concurrency(); i++) {
                RBlockingQueue<String> due = target.apply(name);
                Thread consumer = new Thread(() -> consume(due, list, setup), name + "-" + i);
                consumer.setDaemon(true);
                consumer.start();
            }
        }
        return new RedissonContender(queues);
    }

    private static void consume(RBlockingQueue<String> due, int list, Setup setup) {
        try {
            while (true) {
                setup.listener().accept(due.take());
                if (list > 1) {
                    due.poll(list).forEach(setup.listener());
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void send(String queue, Message message) {
        queue(queue).offer(message.text(), message.delayMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void sendAll(String queue, List<Message> messages) {
        RDelayedQueue<String> target = queue(queue);
        List<RFuture<Void>> offers = messages.stream()
                .map(message -> target.offerAsync(message.text(), message.delayMillis(), TimeUnit.MILLISECONDS))
                .toList();
        offers.forEach(offer -> offer.toCompletableFuture().join());
    }

    private RDelayedQueue<String> queue(String name) {
        RDelayedQueue<String> queue = queues.get(name);
        if (queue == null) {
            throw new IllegalArgumentException("Unknown queue " + name);
        }
        return queue;
    }
}
