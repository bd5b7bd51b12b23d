package io.easykit.delayqueue.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.test.ChildJvm;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Four processes that run ordered messages, of which one after the other is killed and replaced. */
@Tag("heavy")
class OrderingFleetIntegrationTests {

    private static final int KEYS = 100;
    private static final int MESSAGES = 100;
    private static final int PRODUCERS = 4;
    private static final int CONSUMERS = 4;
    private static final int KILLS = 12;
    private static final Duration JVM_START = ChildJvm.START;
    private static final Duration DRAIN = Duration.ofMinutes(10);

    private final RedisServer server = RedisServer.start();
    private final RedisQueue queue = new RedisQueue(server.host(), server.port());
    private final RawRedis redis = server.connect();
    private final List<Consumer> consumers = new ArrayList<>();
    private final Set<String> killed = new HashSet<>();

    private record Consumer(ChildJvm process, String pid) {}

    /** One line of the diary. */
    private record Entry(String what, String key, int number, String pid) {

        static Entry of(String line) {
            List<String> words = List.of(line.split(" ", -1));
            return new Entry(words.get(0), words.get(1), Integer.parseInt(words.get(2)), words.get(3));
        }
    }

    @AfterEach
    void close() {
        consumers.forEach(consumer -> consumer.process.close());
        redis.close();
        queue.close();
        server.close();
    }

    @Test
    void messagesOfEachKeyRunInOrderAndAloneAlthoughProcessesDie() throws Exception {
        long seed = Long.getLong("easykit.ordering.seed", System.nanoTime());
        System.out.println("Repeat the kills with -Deasykit.ordering.seed=" + seed);
        Random random = new Random(seed);
        launch(CONSUMERS);
        ExecutorService producers = Executors.newFixedThreadPool(PRODUCERS);
        try {
            List<Future<?>> sends = IntStream.range(0, PRODUCERS)
                    .<Future<?>>mapToObj(first -> producers.submit(() -> send(first)))
                    .toList();
            int total = KEYS * MESSAGES;
            for (int kill = 1; kill <= KILLS; kill++) {
                int enough = total * kill / (KILLS + 1);
                await().atMost(DRAIN).until(() -> diaryLength() > enough);
                replace(random.nextInt(CONSUMERS));
            }
            for (Future<?> send : sends) {
                send.get();
            }
        } finally {
            producers.shutdown();
        }
        await().atMost(DRAIN).ignoreExceptions().until(() -> queue.isDrained(OrderedConsumerProgram.TOPIC));

        Map<String, List<Entry>> byKey = new HashMap<>();
        diary().forEach(entry ->
                byKey.computeIfAbsent(entry.key, key -> new ArrayList<>()).add(entry));
        assertThat(byKey).hasSize(KEYS);
        byKey.forEach(this::verify);
        assertThat(queue.stats(OrderedConsumerProgram.TOPIC).dead()).isZero();
        assertThat(queue.stats(OrderedConsumerProgram.TOPIC).imbalance()).isZero();
    }

    /** Each message is done, in order; a repetition comes before the next one; only the run of a killed process stays open. */
    private void verify(String key, List<Entry> entries) {
        Entry open = null;
        List<Integer> done = new ArrayList<>();
        for (Entry entry : entries) {
            if (entry.what.equals("begun")) {
                assertThat(open == null || killed.contains(open.pid))
                        .as("%s begins beside %s", entry, open)
                        .isTrue();
                open = entry;
            } else {
                assertThat(open).as("the begin of %s", entry).isNotNull();
                assertThat(entry.number).isEqualTo(Objects.requireNonNull(open).number);
                open = null;
                if (entry.what.equals("done")) {
                    done.add(entry.number);
                }
            }
        }
        assertThat(done).as(key).isSorted();
        assertThat(done.stream().distinct())
                .as(key)
                .containsExactlyElementsOf(IntStream.range(0, MESSAGES).boxed().toList());
    }

    /** Each key is sent by one producer, in the order of its numbers. */
    private void send(int first) {
        try (RedisQueue producer = new RedisQueue(server.host(), server.port())) {
            for (int number = 0; number < MESSAGES; number++) {
                for (int key = first; key < KEYS; key += PRODUCERS) {
                    producer.engine
                            .template()
                            .send(OutgoingMessage.of(OrderedConsumerProgram.TOPIC, number)
                                    .orderingKey("key-" + key));
                }
            }
        }
    }

    private void launch(int count) {
        List<ChildJvm> starting = IntStream.range(0, count)
                .mapToObj(
                        i -> ChildJvm.start(OrderedConsumerProgram.class, server.host(), String.valueOf(server.port())))
                .toList();
        for (ChildJvm child : starting) {
            String ready = child.awaitLine(line -> line.startsWith("ready "), JVM_START);
            consumers.add(new Consumer(child, ready.substring("ready ".length())));
        }
    }

    private void replace(int index) {
        Consumer victim = consumers.remove(index);
        killed.add(victim.pid);
        victim.process.kill();
        launch(1);
    }

    private long diaryLength() {
        return ((Number) Objects.requireNonNull(redis.command("LLEN", OrderedConsumerProgram.DIARY))).longValue();
    }

    private List<Entry> diary() {
        return ((List<?>) Objects.requireNonNull(redis.command("LRANGE", OrderedConsumerProgram.DIARY, "0", "-1")))
                .stream()
                        .map(line -> Entry.of(new String((byte[]) line, UTF_8)))
                        .toList();
    }
}
