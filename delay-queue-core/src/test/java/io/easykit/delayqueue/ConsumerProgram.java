package io.easykit.delayqueue;

import io.easykit.test.RawRedis;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A consumer in a process of its own, which writes each run to a list in Redis; see {@link FleetIntegrationTests}. */
final class ConsumerProgram {

    static final Duration LEASE = Duration.ofSeconds(3);

    private ConsumerProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        String host = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        int workMillis = Integer.parseInt(arguments[2]);
        RedisQueue queue = new RedisQueue(host, port);
        ListenerEndpoint endpoint = ListenerEndpoint.builder("close", "orders", String.class)
                .concurrency(4)
                .lease(LEASE)
                .stopTimeout(Duration.ofSeconds(1))
                .build();
        RawRedis diary = RawRedis.connect(host, port, Duration.ofSeconds(10));
        ListenerContainer container = queue.engine.container(endpoint, (DelayMessage<String> message) -> {
            write(diary, "begun", message.id());
            try {
                boolean never = new CountDownLatch(1).await(workMillis, TimeUnit.MILLISECONDS);
                write(diary, message.acknowledgment().isLost() || never ? "lost" : "done", message.id());
            } catch (InterruptedException e) {
                write(diary, "lost", message.id());
                throw e;
            }
        });
        Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
        container.start();
        System.out.println("ready");
        Thread.currentThread().join();
    }

    private static synchronized void write(RawRedis diary, String list, String id) {
        diary.command("RPUSH", list, id);
    }
}
