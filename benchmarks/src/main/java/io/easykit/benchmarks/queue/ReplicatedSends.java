package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Q12: sends one by one that wait for no replica, for one and for two, to a master with two replicas. */
public final class ReplicatedSends {

    private static final int ROUNDS = 5;
    private static final int MESSAGES = 10_000;
    private static final int REPLICAS = 2;
    private static final String TOPIC = "replicated";
    private static final Duration DELAY = Duration.ofHours(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private ReplicatedSends() {}

    /** One row of the table. */
    private record Row(int threads, int replicas) {}

    /**
     * One measurement.
     *
     * @param master   CPU of the master, in microseconds a send
     * @param replicas CPU of both replicas, in microseconds a send
     */
    private record Run(
            double perSecond, double p50, double p99, double master, double replicas, double waits, long missing) {}

    /** Takes a size: 1 for {@value #MESSAGES} messages a thread. */
    public static void run(String... arguments) throws InterruptedException, ExecutionException {
        int messages = Size.of(arguments).of(MESSAGES);
        Map<Row, List<Run>> runs = new LinkedHashMap<>();
        try (RedisServer master = RedisServer.start();
                RedisServer first = RedisServer.start();
                RedisServer second = RedisServer.start()) {
            System.out.println("## Q12: " + messages + " sends a thread, waiting for replicas, "
                    + Machine.describe(master) + ", " + ROUNDS + " rounds, " + Machine.load() + "\n");
            List<RedisServer> replicas = List.of(first, second);
            replicas.forEach(replica -> replica.replicaOf(master));
            LettuceConnectionFactory application = new LettuceConnectionFactory(master.host(), master.port());
            LettuceConnectionFactory connections = DedicatedConnections.copyOf(application, TIMEOUT);
            connections.start();
            try (RedisQueueStore store = new RedisQueueStore(connections);
                    DelayQueueEngine engine = DelayQueueEngine.builder(store)
                            .codec(new JacksonPayloadCodec())
                            .build()) {
                for (int round = 0; round <= ROUNDS; round++) {
                    for (Row row : rows()) {
                        master.flush();
                        Run run = measure(engine.template(), messages, row, master, replicas);
                        if (round > 0) {
                            runs.computeIfAbsent(row, key -> new ArrayList<>()).add(run);
                        }
                    }
                }
            } finally {
                connections.destroy();
            }
        }
        print(runs);
    }

    private static List<Row> rows() {
        return IntStream.of(1, 8, 64)
                .boxed()
                .flatMap(threads -> IntStream.rangeClosed(0, REPLICAS).mapToObj(count -> new Row(threads, count)))
                .toList();
    }

    private static Run measure(
            DelayQueueTemplate template, int messages, Row row, RedisServer master, List<RedisServer> replicas)
            throws InterruptedException, ExecutionException {
        RedisCost before = cost(master);
        double replicasBefore = cpu(replicas);
        ExecutorService threads = Executors.newFixedThreadPool(row.threads());
        long began = System.nanoTime();
        List<Future<Sent>> senders = IntStream.range(0, row.threads())
                .mapToObj(i -> threads.submit(() -> send(template, messages / row.threads(), row.replicas())))
                .toList();
        List<Sent> sent = new ArrayList<>();
        for (Future<Sent> sender : senders) {
            sent.add(sender.get());
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        threads.shutdown();
        RedisCost cost = cost(master).since(before);
        long[] nanos = sent.stream()
                .flatMapToLong(one -> Arrays.stream(one.nanos()))
                .sorted()
                .toArray();
        return new Run(
                nanos.length / seconds,
                nanos[nanos.length / 2] / 1e6,
                nanos[nanos.length * 99 / 100] / 1e6,
                cost.cpu() / nanos.length,
                (cpu(replicas) - replicasBefore) / nanos.length,
                (double) cost.calls().getOrDefault("wait", 0L) / nanos.length,
                sent.stream().mapToLong(Sent::missing).sum());
    }

    private static final class Sent {

        private final long[] nanos;
        private final long missing;

        Sent(long[] nanos, long missing) {
            this.nanos = nanos;
            this.missing = missing;
        }

        long[] nanos() {
            return nanos;
        }

        /** Number of sends that too few replicas confirmed. */
        long missing() {
            return missing;
        }
    }

    private static Sent send(DelayQueueTemplate template, int messages, int replicas) {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "x".repeat(100)).after(DELAY);
        @Nullable ReplicaWait wait = replicas == 0 ? null : new ReplicaWait(replicas, TIMEOUT);
        OutgoingMessage waiting = wait == null ? message : message.waitForReplicas(wait);
        long[] nanos = new long[messages];
        long missing = 0;
        for (int i = 0; i < messages; i++) {
            long began = System.nanoTime();
            SendResult result = template.send(waiting);
            nanos[i] = System.nanoTime() - began;
            missing += result.isUnderReplicated() ? 1 : 0;
        }
        return new Sent(nanos, missing);
    }

    private static void print(Map<Row, List<Run>> runs) {
        Table.header(
                "threads",
                "replicas waited for",
                "sends/s",
                "p50 ms",
                "p99 ms",
                "CPU of the master, µs a send",
                "CPU of both replicas, µs",
                "WAIT a send",
                "unconfirmed");
        runs.forEach((row, all) -> Table.row(
                row.threads(),
                row.replicas(),
                Spread.of(all, Run::perSecond).text(0),
                Spread.of(all, Run::p50).text(2),
                Spread.of(all, Run::p99).text(2),
                Spread.of(all, Run::master).text(1),
                Spread.of(all, Run::replicas).text(1),
                Spread.of(all, Run::waits).text(2),
                all.stream().mapToLong(Run::missing).sum()));
    }

    private static RedisCost cost(RedisServer server) {
        try (RawRedis redis = server.connect()) {
            return RedisCost.of(redis);
        }
    }

    private static double cpu(List<RedisServer> servers) {
        return servers.stream()
                .mapToDouble(server -> {
                    try (RawRedis redis = server.connect()) {
                        return RedisCost.cpu(redis);
                    }
                })
                .sum();
    }
}
