package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.measure.ChildProgram;
import io.easykit.benchmarks.measure.ClientShares;
import io.easykit.benchmarks.measure.Measured;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.queue.node.QueueNode;
import io.easykit.benchmarks.queue.node.Received;
import io.easykit.benchmarks.queue.node.SendOrder;
import io.easykit.benchmarks.queue.node.Sent;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A contender in a separate process, with a separate Redis. */
final class QueueProcess implements AutoCloseable {

    private static final String HEAP = "512m";
    private static final int SENDERS = 8;
    private static final int MANY = 1_000_000;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** Allows for work of a contender after its last handler has started. */
    private static final Duration SETTLE = Duration.ofMillis(300);

    private final RedisServer redis = RedisServer.start();
    private final RawRedis info;
    private final ChildProgram program;
    private final boolean listens;
    private ClientShares shares = ClientShares.during(redis, () -> {});

    private QueueProcess(QueueProduct product, String classPath, int queues, int concurrency, int handlerMillis) {
        this.info = RawRedis.connect(redis.host(), redis.port(), PATIENCE);
        this.listens = concurrency > 0;
        List<String> arguments = new ArrayList<>(List.of(product.word()));
        arguments.addAll(QueueNode.arguments(redis.host(), redis.port(), queues, concurrency, handlerMillis));
        this.program =
                ChildProgram.start(product.title(), QueueNode.READY, HEAP, classPath, product.mainClass(), arguments);
    }

    /** Starts a process that only sends. */
    static QueueProcess sender(QueueProduct product) {
        return sender(product, product.classPath());
    }

    /** Starts a process that only sends, of another version of the product. */
    static QueueProcess sender(QueueProduct product, String classPath) {
        return new QueueProcess(product, classPath, 1, 0, 0);
    }

    /** Starts a process that also listens. */
    static QueueProcess listener(QueueProduct product, int concurrency, int handlerMillis) {
        return new QueueProcess(product, product.classPath(), 1, concurrency, handlerMillis);
    }

    /** Starts a process that also listens, of another version of the product, with empty handlers. */
    static QueueProcess listener(QueueProduct product, String classPath, int concurrency) {
        return new QueueProcess(product, classPath, 1, concurrency, 0);
    }

    /** Starts a process that listens to several queues, one message at a time each. */
    static QueueProcess ofQueues(QueueProduct product, int queues) {
        return new QueueProcess(product, product.classPath(), queues, 1, 0);
    }

    /** Runs the measured work for a few seconds, and determines the calls of clients. */
    void warmUp() {
        SendOrder some = SendOrder.of(MANY).fromThreads(SENDERS).withOutstanding(300);
        if (listens) {
            send(some.dueIn(1).limitedTo(3_000));
            await(PATIENCE);
            learnShares(() -> {
                send(some.dueIn(150).limitedTo(1_000));
                await(PATIENCE);
            });
        } else {
            SendOrder fill = SendOrder.of(MANY).fromThreads(SENDERS).dueIn(3_600_000);
            fill(fill.limitedTo(3_000));
            learnShares(() -> fill(fill.limitedTo(500)));
            flush();
        }
    }

    /** Takes the shares from a sample of the measured work. */
    void learnShares(Runnable sample) {
        shares = ClientShares.during(redis, sample);
    }

    /** Sends messages whose runs are recorded. */
    Sent send(SendOrder order) {
        return Sent.parse(program.ask("send " + order.line()));
    }

    /** Sends messages that are not meant to run. */
    Sent fill(SendOrder order) {
        return Sent.parse(program.ask("fill " + order.line()));
    }

    /** Waits until the last sends have run, up to the limit. */
    Received await(Duration limit) {
        Received received = Received.parse(program.ask("await " + limit.toMillis()));
        sleep(SETTLE);
        return received;
    }

    /** Returns the resources used so far, for {@link #since}. */
    Use use() {
        return new Use(RedisCost.of(info), program.cpu());
    }

    Measured since(Use before, long operations) {
        Use now = use();
        return new Measured(operations, now.redis.since(before.redis), shares, now.client.minus(before.client));
    }

    void flush() {
        info.command("FLUSHALL");
    }

    /** Bytes allocated by Redis. */
    long usedMemory() {
        return Long.parseLong(info.info("memory").getOrDefault("used_memory", "0"));
    }

    @Override
    public void close() {
        program.close();
        info.close();
        redis.close();
    }

    static void sleep(Duration time) {
        try {
            TimeUnit.MILLISECONDS.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Resources used by Redis and the client at some point in time. */
    record Use(RedisCost redis, Duration client) {}
}
