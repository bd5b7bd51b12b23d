package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.Due;
import io.easykit.delayqueue.Envelope;
import io.easykit.delayqueue.QueueStore.Claim;
import io.easykit.delayqueue.QueueStore.Delivery;
import io.easykit.delayqueue.QueueStore.Lease;
import io.easykit.delayqueue.QueueStore.NewMessage;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * What the protocol costs a Redis: CPU a message, memory a message, the longest script. Prints its figures; the bounds are the
 * product's promises. A busy machine inflates CPU time as well as elapsed time, so those two take the best of three rounds and
 * mean something on an idle machine only.
 */
class ProtocolFiguresTests {

    private static final Bytes BODY = Bytes.of(new byte[140]);

    private final RedisServer server = RedisServer.start();
    private final LettuceConnectionFactory connections = TestShard.connections(server);
    private final RedisQueueStore store = new RedisQueueStore(connections);
    private final RawRedis redis = server.connect();

    @AfterEach
    void close() {
        redis.close();
        store.close();
        connections.destroy();
        server.close();
    }

    @Test
    void takesAtMost420BytesAPendingMessage() {
        int messages = 20_000;
        store.stats(KEY);
        long before = usedMemory();
        sendAll(messages, 100, Duration.ofHours(1));
        long bytes = (usedMemory() - before) / messages;

        System.out.printf("Pending message with a body of 140 bytes: %d bytes%n", bytes);
        assertThat(bytes).isLessThanOrEqualTo(420);
    }

    @Test
    @Tag("heavy")
    void takesAtMost25MicrosecondsOfRedisAMessage() {
        for (int size : new int[] {1, 10, 50, 100}) {
            int messages = size == 1 ? 24_000 : 48_000;
            runAll(messages / 3, size, size);
            redis.command("FLUSHALL");
            double[] cost = runAll(messages, size, size);
            System.out.printf(
                    "Batches of %d: send %.1f, claim with acknowledge %.1f us a message%n", size, cost[0], cost[1]);
            redis.command("FLUSHALL");
        }
        double[] typical = runAll(48_000, 1, 50);
        for (int again = 0; again < 2; again++) {
            redis.command("FLUSHALL");
            double[] next = runAll(48_000, 1, 50);
            typical = next[0] + next[1] < typical[0] + typical[1] ? next : typical;
        }
        System.out.printf(
                "Sent one by one, handled 50 at a time: send %.1f, claim with acknowledge %.1f us a message%n",
                typical[0], typical[1]);
        assertThat(typical[0] + typical[1]).isLessThanOrEqualTo(25);
    }

    @Test
    @Tag("heavy")
    void runsNoScriptLongerThanTenMillisecondsWith20000DueAtOnce() {
        redis.command("CONFIG", "SET", "slowlog-log-slower-than", "10000");
        long fewest = Long.MAX_VALUE;
        for (int round = 0; round < 3; round++) {
            redis.command("FLUSHALL");
            sendAll(20_000, 100, Duration.ZERO);
            redis.command("CONFIG", "RESETSTAT");
            redis.command("SLOWLOG", "RESET");
            assertThat(drain(100)).isEqualTo(20_000);
            fewest = Math.min(fewest, (Long) Objects.requireNonNull(redis.command("SLOWLOG", "LEN")));
        }

        System.out.printf(
                "20,000 due at once, 100 a claim: %s%n",
                redis.info("commandstats").get("cmdstat_evalsha"));
        assertThat(fewest)
                .as("slow scripts in the best of three rounds: one that is too long is so in each")
                .isZero();
    }

    /** CPU of Redis in microseconds a message, of sends and of claims that acknowledge. */
    private double[] runAll(int messages, int sendBatch, int claimBatch) {
        double start = cpuMicros();
        sendAll(messages, sendBatch, Duration.ZERO);
        double sent = cpuMicros();
        assertThat(drain(claimBatch)).isEqualTo(messages);
        double drained = cpuMicros();
        return new double[] {(sent - start) / messages, (drained - sent) / messages};
    }

    /** From eight threads over one connection, as an application sends. */
    private void sendAll(int messages, int batch, Duration delay) {
        inEightThreads(thread -> () -> {
            for (int i = 0; i < messages / 8; i += batch) {
                List<NewMessage> list = new ArrayList<>();
                for (int n = 0; n < Math.min(batch, messages / 8 - i); n++) {
                    list.add(message(delay));
                }
                store.send(KEY, list);
            }
        });
    }

    private static NewMessage message(Duration delay) {
        byte[] random = new byte[16];
        ThreadLocalRandom.current().nextBytes(random);
        String id = "~0~" + Base64.getUrlEncoder().encodeToString(random).substring(0, 16);
        Bytes frame = new Envelope(ThreadLocalRandom.current().nextLong(), Map.of(), null, BODY).encode();
        return new NewMessage(id, Due.in(delay), frame);
    }

    private int drain(int batch) {
        int handled = 0;
        List<Lease> done = List.of();
        for (int request = 1; ; request++) {
            List<Delivery> deliveries = store.claim(KEY, new Claim("o", request, batch, Duration.ofSeconds(30), done))
                    .deliveries();
            if (deliveries.isEmpty() && done.isEmpty()) {
                return handled;
            }
            handled += deliveries.size();
            done = deliveries.stream().map(Delivery::lease).toList();
        }
    }

    private static void inEightThreads(IntFunction<Runnable> work) {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        CountDownLatch done = new CountDownLatch(8);
        try {
            for (int i = 0; i < 8; i++) {
                Runnable part = work.apply(i);
                threads.execute(() -> {
                    part.run();
                    done.countDown();
                });
            }
            assertThat(done.await(5, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            threads.shutdownNow();
        }
    }

    private double cpuMicros() {
        Map<String, String> cpu = redis.info("cpu");
        return 1e6 * (seconds(cpu, "used_cpu_sys") + seconds(cpu, "used_cpu_user"));
    }

    private static double seconds(Map<String, String> info, String field) {
        return Double.parseDouble(Objects.requireNonNull(info.get(field)));
    }

    private long usedMemory() {
        return Long.parseLong(Objects.requireNonNull(redis.info("memory").get("used_memory")));
    }
}
