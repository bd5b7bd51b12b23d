package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.test.RawRedis;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A node in a process of its own; see {@link OperatorsIntegrationTests}. As {@link #STARTS} it redrives all dead letters so
 * many a second. As {@link #LISTENS} it writes the id of each delivery to the list {@link #RUNS} in Redis. As {@link #ASKS} it
 * does the same, and reads the jobs all the time, as the console does, as soon as the test has set the key {@link #ASK}.
 */
final class OperatorProgram {

    static final String TOPIC = "orders";
    static final String RUNS = "runs";
    static final String STARTS = "starts";
    static final String LISTENS = "listens";
    static final String ASKS = "asks";
    static final String ASK = "ask";

    private OperatorProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        String host = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        Duration interval = Duration.ofMillis(Long.parseLong(arguments[2]));
        RedisQueue queue =
                new RedisQueue(host, port, RedisQueue.PATIENT, builder -> builder.heartbeatInterval(interval));
        queue.engine.join();
        if (arguments[3].equals(STARTS)) {
            int perSecond = Integer.parseInt(arguments[4]);
            System.out.println(
                    "job " + queue.engine.admin().redriveAll(TOPIC, perSecond).id());
        } else {
            listen(queue, RawRedis.connect(host, port, Duration.ofSeconds(10)));
        }
        if (arguments[3].equals(ASKS)) {
            RawRedis test = RawRedis.connect(host, port, Duration.ofSeconds(10));
            var unused = Executors.newSingleThreadScheduledExecutor()
                    .scheduleWithFixedDelay(() -> askIfToldTo(test, queue), 0, 100, TimeUnit.MILLISECONDS);
        }
        System.out.println("node " + queue.engine.fleet().thisNode());
        Thread.currentThread().join();
    }

    private static void askIfToldTo(RawRedis test, RedisQueue queue) {
        if (Long.valueOf(1).equals(test.command("EXISTS", ASK))) {
            queue.engine.admin().jobs();
        }
    }

    private static void listen(RedisQueue queue, RawRedis runs) {
        ListenerEndpoint endpoint =
                ListenerEndpoint.builder("close", TOPIC, String.class).build();
        queue.engine
                .container(endpoint, (DelayMessage<String> message) -> {
                    synchronized (runs) {
                        runs.command("RPUSH", RUNS, message.id());
                    }
                })
                .start();
    }
}
