package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Two engines, four senders and a hundred ordering keys on a real Redis, with runs that fail at random. */
class OrderingIntegrationTests {

    private static final String TOPIC = "orders";
    private static final int KEYS = 100;
    private static final int SENDERS = 4;
    private static final int MESSAGES = 20;

    private final Map<String, List<Integer>> done = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
    private final List<String> overlaps = new CopyOnWriteArrayList<>();

    @Test
    void messagesOfEachKeyRunOneAfterTheOtherInTheOrderOfSending() throws Exception {
        try (RedisServer server = RedisServer.start();
                RedisQueue one = new RedisQueue(server.host(), server.port(), Duration.ofSeconds(10));
                RedisQueue two = new RedisQueue(server.host(), server.port(), Duration.ofSeconds(10))) {
            List<ListenerContainer> containers = List.of(container(one), container(two));
            containers.forEach(ListenerContainer::start);
            ExecutorService senders = Executors.newFixedThreadPool(SENDERS);
            try {
                List<Future<?>> sends = new ArrayList<>();
                for (int sender = 0; sender < SENDERS; sender++) {
                    int first = sender;
                    RedisQueue queue = sender % 2 == 0 ? one : two;
                    sends.add(senders.submit(() -> send(queue, first)));
                }
                for (Future<?> send : sends) {
                    send.get();
                }
                await().atMost(Duration.ofMinutes(3)).ignoreExceptions().until(() -> one.isDrained(TOPIC));
            } finally {
                senders.shutdownNow();
                containers.forEach(ListenerContainer::stop);
            }
            assertThat(overlaps).isEmpty();
            assertThat(done).hasSize(KEYS);
            done.forEach((key, numbers) -> assertThat(numbers)
                    .as("messages of " + key)
                    .hasSize(MESSAGES)
                    .isSorted());
            assertThat(one.stats(TOPIC).parked()).isZero();
            assertThat(one.store.stoppedKeys(new ShardKey(TOPIC, 0), "0").keys())
                    .isEmpty();
        }
    }

    private ListenerContainer container(RedisQueue queue) {
        return queue.engine.container(
                ListenerEndpoint.builder("close", TOPIC, Integer.class)
                        .concurrency(8)
                        .retry(RetryPolicy.fixed(1000, Duration.ofMillis(5)))
                        .build(),
                this::run);
    }

    /** Each key is sent by one thread, in the order of its numbers. */
    private static void send(RedisQueue queue, int first) {
        for (int number = 0; number < MESSAGES; number++) {
            for (int key = first; key < KEYS; key += SENDERS) {
                queue.engine.template().send(OutgoingMessage.of(TOPIC, number).orderingKey("key-" + key));
            }
        }
    }

    private void run(DelayMessage<Integer> message) {
        String key = Objects.requireNonNull(message.orderingKey());
        AtomicInteger runs = running.computeIfAbsent(key, k -> new AtomicInteger());
        if (runs.incrementAndGet() > 1) {
            overlaps.add(key + " " + message.payload());
        }
        try {
            if (ThreadLocalRandom.current().nextInt(10) == 0) {
                throw new IllegalStateException("at random");
            }
            done.computeIfAbsent(key, k -> new CopyOnWriteArrayList<>()).add(message.payload());
        } finally {
            runs.decrementAndGet();
        }
    }
}
