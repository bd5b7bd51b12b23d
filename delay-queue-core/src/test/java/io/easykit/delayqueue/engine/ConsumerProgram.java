package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.test.RawRedis;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A consumer in a process of its own, which writes each run and its time to a list in Redis; see
 * {@link FleetIntegrationTests}. A handler whose lease is lost returns normally, so its late acknowledgement goes to the
 * store. The payload {@link #POISON} ends the process.
 */
final class ConsumerProgram {

    static final String POISON = "poison";

    private ConsumerProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        String host = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        int workMillis = Integer.parseInt(arguments[2]);
        Duration lease = Duration.ofMillis(Long.parseLong(arguments[3]));
        RedisQueue queue = new RedisQueue(host, port);
        RawRedis diary = RawRedis.connect(host, port, Duration.ofSeconds(10));
        ListenerContainer container = queue.engine.container(endpoint(lease), (DelayMessage<String> message) -> {
            write(diary, "begun", message.id());
            if (message.payload().equals(POISON)) {
                Runtime.getRuntime().halt(1);
            }
            write(diary, work(workMillis, message.acknowledgment()), message.id());
        });
        Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
        container.start();
        System.out.println("ready " + ProcessHandle.current().pid());
        Thread.currentThread().join();
    }

    static ListenerEndpoint endpoint(Duration lease) {
        return ListenerEndpoint.builder("close", "orders", String.class)
                .concurrency(4)
                .lease(lease)
                .maxLeaseExpirations(3)
                .stopTimeout(Duration.ofSeconds(1))
                .build();
    }

    private static String work(int millis, Acknowledgment acknowledgment) {
        try {
            boolean never = new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
            return acknowledgment.isLost() || never ? "lost" : "done";
        } catch (InterruptedException e) {
            return "lost";
        }
    }

    private static synchronized void write(RawRedis diary, String list, String id) {
        diary.command("RPUSH", list, id + " " + System.currentTimeMillis());
    }
}
