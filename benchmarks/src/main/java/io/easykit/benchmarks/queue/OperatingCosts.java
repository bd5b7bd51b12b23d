package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Q13: costs of observation in Redis. {@value #TOPICS} topics with {@value #DEAD} dead letters each: the counts of all topics (a
 * scrape of the meters, or one look of the console), a page of dead letters, their groups; then a minute without a viewer,
 * and a minute with an open console.
 */
public final class OperatingCosts {

    private static final int TOPICS = 20;
    private static final int DEAD = 5_000;
    private static final int BODY = 140;
    private static final int LARGE = 100;
    private static final int LARGE_BODY = 1_048_576;
    private static final int CALLS = 100;
    private static final int ROUNDS = 5;
    private static final Duration WATCHED = Duration.ofMinutes(1);

    /** As the page asks while it is visible. */
    private static final Duration CONSOLE_INTERVAL = Duration.ofSeconds(2);

    private static final int CONSOLE_LOOKS_PER_GROUPING = 15;

    private final RedisServer server;
    private final RedisQueueStore store;
    private final DelayQueueEngine engine;

    private OperatingCosts(RedisServer server, RedisQueueStore store, DelayQueueEngine engine) {
        this.server = server;
        this.store = store;
        this.engine = engine;
    }

    /** Takes a size: 1 for {@value #DEAD} dead letters a topic, and a minute of watching. */
    public static void run(String... arguments) throws InterruptedException {
        Size size = Size.of(arguments);
        try (RedisServer server = RedisServer.start()) {
            System.out.println("## Q13: " + TOPICS + " topics with " + size.of(DEAD) + " dead letters each" + size
                    + ", " + Machine.describe(server) + ", " + Machine.load() + "\n");
            LettuceConnectionFactory application = new LettuceConnectionFactory(server.host(), server.port());
            LettuceConnectionFactory connections = DedicatedConnections.copyOf(application, Duration.ofSeconds(10));
            connections.start();
            try (RedisQueueStore store = new RedisQueueStore(connections);
                    DelayQueueEngine engine = DelayQueueEngine.builder(store)
                            .codec(new JacksonPayloadCodec())
                            .build()) {
                new OperatingCosts(server, store, engine).run(size);
            } finally {
                connections.destroy();
            }
        }
    }

    private void run(Size size) throws InterruptedException {
        for (int i = 0; i < TOPICS; i++) {
            store.declare(topic(i), 1);
            bury(topic(i), size.of(DEAD), BODY);
        }
        store.declare("large", 1);
        bury("large", LARGE, LARGE_BODY);
        calls();
        watching(size.ofMillis(WATCHED.toMillis()));
    }

    private static String topic(int number) {
        return "topic-" + number;
    }

    /** Sends messages, and gives each of them up at its first run. */
    private void bury(String topic, int count, int body) {
        int batch = Math.min(QueueStore.MAX_BATCH, Math.max(1, 4 * LARGE_BODY / body));
        ShardKey shard = new ShardKey(topic, 0);
        OutgoingMessage message = OutgoingMessage.of(topic, "x".repeat(body)).at(Instant.EPOCH);
        long request = 0;
        for (int sent = 0; sent < count; sent += batch) {
            engine.template()
                    .sendAll(Stream.generate(() -> message)
                            .limit(Math.min(batch, count - sent))
                            .toList());
            List<Failure> failures = store
                    .claim(shard, new Claim("bury", ++request, batch, batch, Duration.ofMinutes(1), List.of()))
                    .deliveries()
                    .stream()
                    .map(delivery -> new Failure(
                            delivery.lease(),
                            null,
                            "java.lang.IllegalStateException: no " + delivery.id() + "\n\tat shop.Orders"))
                    .toList();
            store.fail(shard, failures);
        }
    }

    private void calls() {
        DelayQueueAdmin admin = engine.admin();
        Table.header("call", "Redis CPU, µs", "calls", "bytes of the replies");
        measure("counts of " + TOPICS + " topics", () -> IntStream.range(0, TOPICS)
                .forEach(i -> store.stats(new ShardKey(topic(i), 0))));
        measure("page of 50 dead letters", () -> admin.messages(topic(0), MessageQuery.dead()));
        measure(
                "page of 100 dead letters",
                () -> admin.messages(topic(0), MessageQuery.dead().size(100)));
        String middle = admin.messages(topic(0), MessageQuery.dead().size(100)).next();
        measure(
                "the next page of 100",
                () -> admin.messages(topic(0), MessageQuery.dead().size(100).after(middle)));
        measure(
                "page of 100 with bodies of 1 MiB",
                () -> admin.messages("large", MessageQuery.dead().size(100)));
        measure("groups of one topic", () -> admin.groups(topic(0)));
        System.out.println();
    }

    private void measure(String what, Runnable call) {
        List<Double> micros = new ArrayList<>();
        double calls = 0;
        double bytes = 0;
        for (int round = 0; round <= ROUNDS; round++) {
            int repetitions = what.startsWith("groups") ? CALLS / 10 : CALLS;
            Counts before = counts();
            for (int i = 0; i < repetitions; i++) {
                call.run();
            }
            Counts after = counts();
            if (round > 0) {
                micros.add((after.micros() - before.micros()) / repetitions);
            }
            calls = (double) (after.scripts() - before.scripts()) / repetitions;
            bytes = (double) (after.bytes() - before.bytes()) / repetitions;
        }
        Table.row(
                what,
                Spread.of(micros).text(0),
                String.format(Locale.ROOT, "%.0f", calls),
                String.format(Locale.ROOT, "%,.0f", bytes));
    }

    private void watching(long millis) throws InterruptedException {
        Table.header(
                "for " + millis / 1_000 + " s",
                "Redis CPU, ms/s",
                "of one core",
                "calls of scripts/s",
                "bytes/s to clients");
        watch("nothing, no node", millis, () -> {});
        engine.join();
        watch("one node, no console, first minute", millis, () -> {});
        watch("one node, no console, a later one", millis, () -> {});
        int[] looks = new int[1];
        watch("one node, an open console", millis, () -> {
            engine.fleet().snapshot();
            engine.admin().messages(topic(0), MessageQuery.dead());
            if (looks[0]++ % CONSOLE_LOOKS_PER_GROUPING == 0) {
                engine.admin().groups(topic(0));
            }
        });
    }

    private void watch(String what, long millis, Runnable look) throws InterruptedException {
        Counts before = counts();
        long began = System.nanoTime();
        while (System.nanoTime() - began < TimeUnit.MILLISECONDS.toNanos(millis)) {
            look.run();
            TimeUnit.MILLISECONDS.sleep(CONSOLE_INTERVAL.toMillis());
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        Counts after = counts();
        double cpu = (after.micros() - before.micros()) / 1e3 / seconds;
        Table.row(
                what,
                String.format(Locale.ROOT, "%.2f", cpu),
                String.format(Locale.ROOT, "%.2f %%", cpu / 10),
                String.format(Locale.ROOT, "%.2f", (after.scripts() - before.scripts()) / seconds),
                String.format(Locale.ROOT, "%,.0f", (after.bytes() - before.bytes()) / seconds));
    }

    private record Counts(double micros, long scripts, long bytes) {}

    private Counts counts() {
        try (RawRedis redis = server.connect()) {
            RedisCost cost = RedisCost.of(redis);
            return new Counts(
                    cost.cpu(),
                    cost.scriptCalls(),
                    Long.parseLong(redis.info("stats").getOrDefault("total_net_output_bytes", "0")));
        }
    }
}
