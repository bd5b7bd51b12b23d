package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Messages of 1 byte to 4 MB over a line of 100 Mbit/s, with the default command timeout, beside a topic of small ones. */
class ThrottledLineIntegrationTests {

    private static final long BYTES_PER_SECOND = 100_000_000 / 8;
    private static final Duration TIMEOUT = Duration.ofMillis(250);

    @Test
    void runsEachOnceAndHoldsUpNobodyElse() throws InterruptedException {
        // A loaded machine delays some of them.
        assertThat(run(3, 60).get(0)).isLessThan(Duration.ofMillis(250));
    }

    @Test
    @Tag("heavy")
    void runsEachOnceAndHoldsUpNobodyElseForLonger() throws InterruptedException {
        assertThat(run(40, 2_000).get(1)).isLessThan(Duration.ofMillis(250));
    }

    /** Returns median and 99th percentile of the lateness of the small ones. */
    private static List<Duration> run(int ofFourMegabytes, int mixed) throws InterruptedException {
        try (RedisServer server = RedisServer.start();
                TcpProxy line = TcpProxy.to(server);
                RedisQueue direct = new RedisQueue(server.host(), server.port());
                RedisQueue throttled = new RedisQueue(line.host(), line.port(), TIMEOUT)) {
            throttled.store.prepare();
            line.bandwidth(BYTES_PER_SECOND);
            Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
            List<Duration> late = Collections.synchronizedList(new ArrayList<>());
            ListenerContainer large = throttled.engine.container(
                    ListenerEndpoint.builder("large", "large", String.class)
                            .concurrency(8)
                            .build(),
                    (DelayMessage<String> message) -> {
                        assertThat(message.id()).startsWith(message.payload().length() + "-");
                        runs.computeIfAbsent(message.id(), id -> new AtomicInteger())
                                .incrementAndGet();
                    });
            DelayQueueEngine measured = DelayQueueEngine.builder(throttled.store)
                    .codec(new TestQueue.TextCodec())
                    .listener(new DelayQueueListener() {
                        @Override
                        public void onDelivered(DelayQueueEvent.Delivered event) {
                            late.add(event.lateness());
                        }
                    })
                    .build();
            ListenerContainer small = measured.container(
                    ListenerEndpoint.builder("small", "small", String.class).build(), message -> {});

            List<OutgoingMessage> messages = messages(ofFourMegabytes, mixed);
            long bytes = messages.stream()
                    .mapToLong(message -> message.payload().toString().length())
                    .sum();
            direct.engine.template().sendAll(messages);
            small.start();
            ScheduledExecutorService sender = Executors.newSingleThreadScheduledExecutor();
            ScheduledFuture<?> sending = sender.scheduleAtFixedRate(
                    () -> direct.engine.template().send("small", "x", Duration.ZERO), 0, 10, TimeUnit.MILLISECONDS);
            // The first ones come before the wakeup, and run on code that is not compiled yet.
            await().atMost(Duration.ofMinutes(1)).until(() -> late.size() >= 200);
            late.clear();
            long before = line.replyBytes();
            large.start();
            await().atMost(Duration.ofMinutes(5)).until(() -> runs.size() == messages.size());
            long replied = line.replyBytes() - before;
            sending.cancel(false);
            sender.shutdown();
            assertThat(sender.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
            await().atMost(Duration.ofMinutes(1)).until(() -> direct.isDrained("large") && direct.isDrained("small"));
            large.stop();
            small.stop();
            measured.close();

            List<Duration> sorted = late.stream().sorted().toList();
            Duration p99 = sorted.get(sorted.size() * 99 / 100);
            System.out.printf(
                    "throttled line: %d messages, %.1f MB of bodies, %.1f MB of replies, %d small ones, p50 %d ms, p99 %d"
                            + " ms, longest %d ms%n",
                    messages.size(),
                    bytes / 1e6,
                    replied / 1e6,
                    sorted.size(),
                    sorted.get(sorted.size() / 2).toMillis(),
                    p99.toMillis(),
                    sorted.get(sorted.size() - 1).toMillis());
            assertThat(runs.values()).allMatch(count -> count.get() == 1);
            assertThat(direct.stats("large").counters().leaseExpirations()).isZero();
            assertThat(replied).isLessThan(2 * bytes);
            return List.of(sorted.get(sorted.size() / 2), p99);
        }
    }

    /** The length of each is in its id. */
    private static List<OutgoingMessage> messages(int ofFourMegabytes, int mixed) {
        Random random = new Random(1);
        List<OutgoingMessage> messages = new ArrayList<>();
        for (int i = 0; i < ofFourMegabytes + mixed; i++) {
            int length = i < ofFourMegabytes ? 4 << 20 : 1 << random.nextInt(21);
            messages.add(OutgoingMessage.of("large", "x".repeat(length)).id(length + "-" + i));
        }
        Collections.shuffle(messages, random);
        return messages;
    }
}
