package io.easykit.benchmarks.threads;

import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.Table;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * T1: virtual threads of Java 21 and later. {@value #READERS} readers wait for loads, half of them for one load of their own
 * node, the others for {@value #REMOTE_KEYS} loads of another node. {@value #HANDLERS} handlers sleep at the same time, for longer
 * than their lease. Counts the threads of the platform, and the times at which a virtual thread held its carrier while it
 * waited.
 */
public final class VirtualThreads {

    private static final int READERS = 10_000;
    private static final int REMOTE_KEYS = 100;
    private static final int HANDLERS = 5_000;
    private static final int WARM_MESSAGES = 200;
    private static final int FIRST_VERSION = 21;
    private static final Duration LOAD = Duration.ofSeconds(2);
    private static final Duration SLEEP = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final ConfigurableApplicationContext node;
    private final ConfigurableApplicationContext other;
    private final SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("reader-");

    private VirtualThreads(ConfigurableApplicationContext node, ConfigurableApplicationContext other) {
        this.node = node;
        this.other = other;
        executor.setVirtualThreads(true);
    }

    public static void run() throws Exception {
        if (Runtime.version().feature() < FIRST_VERSION) {
            System.err.println("t1 needs Java " + FIRST_VERSION + " or later, for virtual threads. This is Java "
                    + Runtime.version() + ".");
            System.exit(2);
        }
        try (RedisServer redis = RedisServer.start();
                ConfigurableApplicationContext node = start(redis);
                ConfigurableApplicationContext other = start(redis)) {
            System.out.println("## T1: virtual threads, " + Machine.describe(redis) + ", " + Machine.load() + "\n");
            Table.header("what", "done", "twice", "at once", "last done after s", "platform threads", "pinned");
            VirtualThreads program = new VirtualThreads(node, other);
            program.warmUp();
            program.readers();
            program.handlers();
        }
    }

    private static ConfigurableApplicationContext start(RedisServer redis) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false)
                .run(
                        "--spring.threads.virtual.enabled=true",
                        "--spring.data.redis.host=" + redis.host(),
                        "--spring.data.redis.port=" + redis.port(),
                        // Many readers on few cores wait for longer than the default, which would count as an outage.
                        "--easy-cache.command-timeout=5s",
                        "--easy-cache.defaults.load-lease=30s",
                        "--easy-cache.defaults.load-wait-timeout=30s",
                        "--delay-queue.auto-startup=false");
    }

    /** Loads classes, opens connections, and lets the compiler see a hit and a delivery. */
    private void warmUp() throws InterruptedException {
        Slow here = node.getBean(Slow.class);
        CountDownLatch done = new CountDownLatch(READERS);
        for (int i = 0; i < READERS; i++) {
            executor.execute(() -> {
                here.load("warm");
                done.countDown();
            });
        }
        await(() -> done.getCount() == 0);
        for (int i = 0; i < READERS; i++) {
            here.load("warm");
        }
        node.getBean(DelayListenerRegistry.class).start();
        Sleepers sleepers = node.getBean(Sleepers.class);
        sendAll("warm", WARM_MESSAGES);
        await(() -> sleepers.runs.size() == WARM_MESSAGES && sleepers.running.get() == 0);
        sleepers.runs.clear();
    }

    private void sendAll(String name, int count) {
        List<OutgoingMessage> messages = IntStream.range(0, count)
                .mapToObj(i -> OutgoingMessage.of("sleepers", name + "-" + i))
                .toList();
        node.getBean(DelayQueueTemplate.class).sendAll(messages);
    }

    private void readers() throws Exception {
        Slow here = node.getBean(Slow.class);
        int loadsBefore = here.loads();
        Slow there = other.getBean(Slow.class);
        for (int i = 0; i < REMOTE_KEYS; i++) {
            String key = "remote-" + i;
            executor.execute(() -> there.load(key));
        }
        await(() -> there.loads() == REMOTE_KEYS);
        CountDownLatch done = new CountDownLatch(READERS);
        AtomicInteger waiting = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (PinnedThreads pinned = PinnedThreads.record()) {
            THREADS.resetPeakThreadCount();
            long began = System.nanoTime();
            for (int i = 0; i < READERS; i++) {
                String key = i < READERS / 2 ? "here" : "remote-" + i % REMOTE_KEYS;
                executor.execute(() -> {
                    most.accumulateAndGet(waiting.incrementAndGet(), Math::max);
                    here.load(key);
                    waiting.decrementAndGet();
                    done.countDown();
                });
            }
            await(() -> done.getCount() == 0);
            row("readers", READERS - (int) done.getCount(), here.loads() - loadsBefore - 1, most.get(), began, pinned);
        }
    }

    private void handlers() throws Exception {
        Sleepers sleepers = node.getBean(Sleepers.class);
        try (PinnedThreads pinned = PinnedThreads.record()) {
            THREADS.resetPeakThreadCount();
            long began = System.nanoTime();
            sendAll("message", HANDLERS);
            await(() -> sleepers.runs.size() == HANDLERS && sleepers.running.get() == 0);
            int twice = (int)
                    sleepers.runs.values().stream().filter(count -> count > 1).count();
            row("handlers", sleepers.runs.size(), twice, sleepers.most.get(), began, pinned);
        }
    }

    private static void row(String what, int done, int twice, int atOnce, long began, PinnedThreads pinned)
            throws IOException {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        Table.row(what, done, twice, atOnce, millis / 1000.0, THREADS.getPeakThreadCount(), pinned.describe());
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean() && System.nanoTime() - end < 0) {
            Thread.sleep(1);
        }
    }

    @Configuration
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Slow slow() {
            return new Slow();
        }

        @Bean
        Sleepers sleepers() {
            return new Sleepers();
        }
    }

    /** A method that takes long. */
    static class Slow {
        private final AtomicInteger loads = new AtomicInteger();

        @Cacheable(prefix = "slow", keys = "#key")
        public String load(String key) {
            loads.incrementAndGet();
            sleep(LOAD);
            return key;
        }

        public int loads() {
            return loads.get();
        }
    }

    /** A handler that takes longer than its lease. */
    static class Sleepers {
        final Map<String, Integer> runs = new ConcurrentHashMap<>();
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();

        @DelayListener(id = "sleeper", topic = "sleepers", concurrency = "" + HANDLERS, lease = "3s")
        void handle(String message) {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            sleep(SLEEP);
            runs.merge(message, 1, Integer::sum);
            running.decrementAndGet();
        }
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
