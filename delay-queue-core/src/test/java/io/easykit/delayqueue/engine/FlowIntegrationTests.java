package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.FlowLimits.Rate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three engines on a real Redis, in real time. {@link FlowTests} does more in virtual time. */
class FlowIntegrationTests {

    private static final String TOPIC = "partner";
    private static final int PER_SECOND = 50;
    private static final int BURST = 5;
    private static final int PLACES = 20;

    private final List<Long> begun = new CopyOnWriteArrayList<>();
    private long startedAt;

    /** It cannot be faster, however slow or fast the machine is. */
    @Test
    void threeNodesTogetherKeepTheRate() {
        run(2 * PER_SECOND + BURST);

        long nanos = begun.get(begun.size() - 1) - startedAt;
        assertThat(Duration.ofNanos(nanos)).isGreaterThanOrEqualTo(Duration.ofMillis(1990));
    }

    @Test
    @Tag("heavy")
    void threeNodesTogetherRunFiftyASecondForAMinute() {
        run(60 * PER_SECOND);

        double seconds = (begun.get(begun.size() - 1) - begun.get(0)) / 1e9;
        List<Long> counts = new ArrayList<>();
        for (long second = 0; second < (long) seconds; second++) {
            long from = begun.get(0) + TimeUnit.SECONDS.toNanos(second);
            counts.add(begun.stream()
                    .filter(at -> at >= from && at < from + TimeUnit.SECONDS.toNanos(1))
                    .count());
        }
        System.out.printf("%.1f a second in %.1f s; in each second: %s%n", begun.size() / seconds, seconds, counts);
        assertThat(begun.size() / seconds).isBetween(PER_SECOND - 2.0, PER_SECOND + 2.0);
        // Begins may gather while a thread stands still, so a second has more than Redis has handed out in it.
        assertThat(counts).allMatch(count -> count <= PER_SECOND + 3 * BURST);
    }

    private void run(int messages) {
        try (RedisServer server = RedisServer.start();
                RawRedis redis = server.connect();
                RedisQueue one = new RedisQueue(server.host(), server.port());
                RedisQueue two = new RedisQueue(server.host(), server.port());
                RedisQueue three = new RedisQueue(server.host(), server.port())) {
            one.engine
                    .template()
                    .sendAll(IntStream.range(0, messages)
                            .mapToObj(i -> OutgoingMessage.of(TOPIC, i).after(Duration.ZERO))
                            .toList());
            redis.command("CONFIG", "RESETSTAT");
            List<ListenerContainer> containers = List.of(container(one), container(two), container(three));
            startedAt = System.nanoTime();
            try {
                containers.forEach(ListenerContainer::start);
                await().atMost(Duration.ofMinutes(3))
                        .pollInterval(Duration.ofMillis(20))
                        .until(() -> begun.size() >= messages);
            } finally {
                ListenerContainer.stopAll(containers);
            }
            System.out.printf(
                    "%d messages cost Redis %s%n",
                    messages, redis.info("commandstats").get("cmdstat_evalsha"));
        }
        List<Long> times = begun.stream().sorted().toList();
        begun.clear();
        begun.addAll(times);
    }

    private ListenerContainer container(RedisQueue queue) {
        return queue.engine.container(
                ListenerEndpoint.builder("call", TOPIC, Integer.class)
                        .concurrency(8)
                        .limits(new FlowLimits(new Rate(PER_SECOND, Duration.ofSeconds(1), BURST), PLACES))
                        .build(),
                message -> begun.add(System.nanoTime()));
    }
}
