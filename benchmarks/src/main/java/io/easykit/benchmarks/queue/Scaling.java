package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Q11: a burst of one topic, in one shard on one Redis and in eight shards on the three masters of a cluster. */
public final class Scaling {

    private static final int ROUNDS = 5;
    private static final int MESSAGES = 20_000;
    private static final int MASTERS = 3;
    private static final int SHARDS = 8;
    private static final int CONCURRENCY = 8;
    private static final int LIST = 1_000;
    private static final String TOPIC = "burst";

    /** Long enough to send everything before the due time. */
    private static final Duration DELAY_PER_THOUSAND = Duration.ofMillis(250);

    private Scaling() {}

    /** @param busiest CPU of the busiest master, in microseconds per message of the whole topic */
    private record Drain(double busiest, double all, double perSecond) {}

    /** Takes a size: 1 for {@value #MESSAGES} messages. */
    public static void run(String... arguments) throws InterruptedException {
        int messages = arguments.length == 0 ? MESSAGES : (int) (Double.parseDouble(arguments[0]) * MESSAGES);
        System.out.println("## Q11: " + messages + " due at once, " + SHARDS + " shards over " + MASTERS
                + " masters against one shard on one Redis, " + Machine.describe() + ", " + ROUNDS + " rounds\n");
        List<Drain> single = new ArrayList<>();
        List<Drain> spread = new ArrayList<>();
        try (RedisServer server = RedisServer.start();
                RedisCluster cluster = RedisCluster.start(MASTERS, 0)) {
            System.out.println("Shards by master: "
                    + cluster.masters().stream()
                            .map(master -> IntStream.range(0, SHARDS)
                                    .filter(shard -> cluster.masterOf("{" + TOPIC + ":" + shard + "}") == master)
                                    .count())
                            .toList()
                    + "\n");
            String address = "--spring.data.redis.url=" + server.uri();
            String nodes = "--spring.data.redis.cluster.nodes=" + cluster.addresses();
            for (int round = 0; round < ROUNDS; round++) {
                single.add(drain(messages, 1, List.of(server), address));
                spread.add(drain(messages, SHARDS, cluster.masters(), nodes));
            }
        }
        Table.header("", "CPU of the busiest master, µs a message", "CPU of all masters", "messages/s");
        print("one shard, one Redis", single);
        print(SHARDS + " shards, " + MASTERS + " masters", spread);
        List<Double> ratios = IntStream.range(0, ROUNDS)
                .mapToObj(i -> spread.get(i).busiest() / single.get(i).busiest())
                .toList();
        System.out.println("\nBusiest master against the single server, inside the rounds: "
                + Spread.of(ratios).text(2));
    }

    private static void print(String name, List<Drain> drains) {
        Table.row(
                name,
                Spread.of(drains, Drain::busiest).text(1),
                Spread.of(drains, Drain::all).text(1),
                Spread.of(drains, Drain::perSecond).text(0));
    }

    private static Drain drain(int messages, int shards, List<RedisServer> masters, String connection)
            throws InterruptedException {
        masters.forEach(RedisServer::flush);
        CountDownLatch left = new CountDownLatch(messages);
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false)
                .run(connection, "--delay-queue.defaults.shards=" + shards)) {
            DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
            MessageHandler<String> handler = message -> left.countDown();
            context.getBean(DelayListenerRegistry.class)
                    .register(engine.container(
                            ListenerEndpoint.builder(TOPIC, TOPIC, String.class)
                                    .concurrency(CONCURRENCY)
                                    .build(),
                            handler));
            Instant due = Instant.now().plus(DELAY_PER_THOUSAND.multipliedBy(4 + messages / 1_000));
            send(context.getBean(DelayQueueTemplate.class), messages, due);
            requireAhead(due, left, messages);
            List<RedisCost> before = costs(masters);
            TimeUnit.MILLISECONDS.sleep(
                    Math.max(0, Duration.between(Instant.now(), due).toMillis()));
            long began = System.nanoTime();
            if (!left.await(2, TimeUnit.MINUTES)) {
                throw new IllegalStateException(left.getCount() + " messages were not delivered");
            }
            double seconds = (System.nanoTime() - began) / 1e9;
            List<RedisCost> after = costs(masters);
            List<Double> micros = IntStream.range(0, masters.size())
                    .mapToObj(i -> after.get(i).since(before.get(i)).cpu() / messages)
                    .toList();
            return new Drain(
                    micros.stream().mapToDouble(Double::doubleValue).max().orElseThrow(),
                    micros.stream().mapToDouble(Double::doubleValue).sum(),
                    messages / seconds);
        }
    }

    private static void send(DelayQueueTemplate template, int messages, Instant due) {
        String body = "x".repeat(100);
        for (int sent = 0; sent < messages; sent += LIST) {
            template.sendAll(IntStream.range(sent, Math.min(messages, sent + LIST))
                    .mapToObj(i -> OutgoingMessage.of(TOPIC, body).at(due))
                    .toList());
        }
    }

    private static void requireAhead(Instant due, CountDownLatch left, int messages) {
        if (Instant.now().isAfter(due) || left.getCount() != messages) {
            throw new IllegalStateException("Sending took longer than expected; run it on a quieter machine");
        }
    }

    private static List<RedisCost> costs(List<RedisServer> masters) {
        return masters.stream()
                .map(master -> {
                    try (RawRedis redis = master.connect()) {
                        return RedisCost.of(redis);
                    }
                })
                .toList();
    }

    @Configuration
    @EnableAutoConfiguration(exclude = EasyCacheAutoConfiguration.class)
    static class Application {}
}
