package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.queue.contender.Contender;
import io.easykit.benchmarks.queue.contender.ContenderNode;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;

/** The compared products, each with its settings other than the defaults. */
enum QueueProduct {
    DELAY_QUEUE("delay-queue", "defaults", Contender.DELAY_QUEUE),
    DELAY_QUEUE_BATCHES("delay-queue, tuned", "batchSize 50: the listener takes lists", Contender.DELAY_QUEUE_BATCHES),
    DELAY_QUEUE_SHARDS("delay-queue, sharded", "shards 4", Contender.DELAY_QUEUE_SHARDS),
    REDISSON("Redisson", "RDelayedQueue, threads that take(), Kryo 5", Contender.REDISSON),
    REDISSON_TUNED("Redisson, tuned", "as above, poll(20) after take(), StringCodec", Contender.REDISSON_TUNED),
    RQUEUE("rqueue", "defaults", "DEFAULTS"),
    RQUEUE_TUNED(
            "rqueue, tuned",
            "polling 5 ms, mover every 20 ms (1 ms apart at least) for 1,000 messages, no jobs, no statistics,"
                    + " nothing kept of what is done",
            "TUNED"),
    LETTUCE("raw Lettuce loop", "one thread, a call for as many messages as there are workers", Contender.LETTUCE),
    LETTUCE_BATCHES("raw Lettuce loop, lists", "one thread, a call for 50 messages", Contender.LETTUCE_BATCHES);

    private static final String RQUEUE_MAIN = "io.easykit.benchmarks.queue.rqueue.RqueueNode";
    private static final Path RQUEUE_JAR = Path.of("rqueue", "target", "benchmarks-rqueue.jar");

    private final String title;
    private final String settings;
    private final String word;
    private final boolean rqueue;

    QueueProduct(String title, String settings, Contender contender) {
        this.title = title;
        this.settings = settings;
        this.word = contender.name();
        this.rqueue = false;
    }

    QueueProduct(String title, String settings, String word) {
        this.title = title;
        this.settings = settings;
        this.word = word;
        this.rqueue = true;
    }

    String title() {
        return title;
    }

    String settings() {
        return settings;
    }

    boolean isOurs() {
        return this == DELAY_QUEUE || this == DELAY_QUEUE_BATCHES || this == DELAY_QUEUE_SHARDS;
    }

    /** Number of shards of each queue. */
    int shards() {
        return this == DELAY_QUEUE_SHARDS ? 4 : 1;
    }

    /** The first argument of its program. */
    String word() {
        return word;
    }

    String mainClass() {
        return rqueue ? RQUEUE_MAIN : ContenderNode.class.getName();
    }

    /** rqueue requires a Spring Boot version that the others do not support. */
    String classPath() {
        String own = System.getProperty("java.class.path");
        return rqueue ? rqueueJar(Path.of(own.split(File.pathSeparator, -1)[0])).toString() : own;
    }

    private static Path rqueueJar(Path benchmarksJar) {
        Path target = benchmarksJar.toAbsolutePath().getParent();
        Path module = target == null ? null : target.getParent();
        Path jar = module == null ? RQUEUE_JAR : module.resolve(RQUEUE_JAR);
        if (!Files.exists(jar)) {
            throw new IllegalStateException("There is no " + jar
                    + ": run ./mvnw -Pbenchmarks package, and start benchmarks/target/benchmarks.jar where it is");
        }
        return jar;
    }
}
