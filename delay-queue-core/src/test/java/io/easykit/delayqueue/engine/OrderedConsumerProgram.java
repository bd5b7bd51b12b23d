package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.test.RawRedis;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A consumer of ordered messages in a process of its own, which writes the begin and the end of each run to a list in Redis; see
 * {@link OrderingFleetIntegrationTests}. A tenth of the runs fails.
 */
final class OrderedConsumerProgram {

    static final String TOPIC = "accounts";
    static final String DIARY = "diary";
    static final Duration LEASE = Duration.ofSeconds(4);

    private OrderedConsumerProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        String host = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        RedisQueue queue = new RedisQueue(host, port);
        RawRedis diary = RawRedis.connect(host, port, Duration.ofSeconds(10));
        ListenerContainer container = queue.engine.container(
                ListenerEndpoint.builder("change", TOPIC, Integer.class)
                        .concurrency(8)
                        .lease(LEASE)
                        .maxLeaseExpirations(1000)
                        .retry(RetryPolicy.fixed(1000, Duration.ofMillis(5)))
                        .build(),
                (DelayMessage<Integer> message) -> run(message, diary));
        container.start();
        System.out.println("ready " + ProcessHandle.current().pid());
        Thread.currentThread().join();
    }

    private static void run(DelayMessage<Integer> message, RawRedis diary) {
        String key = Objects.requireNonNull(message.orderingKey());
        write(diary, "begun", key, message.payload());
        if (ThreadLocalRandom.current().nextInt(10) == 0) {
            write(diary, "failed", key, message.payload());
            throw new IllegalStateException("at random");
        }
        write(diary, "done", key, message.payload());
    }

    private static synchronized void write(RawRedis diary, String what, String key, int number) {
        diary.command(
                "RPUSH",
                DIARY,
                what + " " + key + " " + number + " " + ProcessHandle.current().pid());
    }
}
