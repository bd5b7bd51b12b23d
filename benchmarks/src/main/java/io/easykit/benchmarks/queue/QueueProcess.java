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

/** A contender in a process of its own, with a Redis of its own. */
final class QueueProcess implements AutoCloseable {

    private static final String HEAP = "512m";
    private static final int SENDERS = 8;
    private static final int MANY = 1_000_000;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** For what a contender still does when its last handler has begun. */
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

    /** One that only sends. */
    static QueueProcess sender(QueueProduct product) {
        return sender(product, product.classPath());
    }

    /** One that only sends, of another version of the product. */
    static QueueProcess sender(QueueProduct product, String classPath) {
        return new QueueProcess(product, classPath, 1, 0, 0);
    }

    /** One that also listens. */
    static QueueProcess listener(QueueProduct product, int concurrency, int handlerMillis) {
        return new QueueProcess(product, product.classPath(), 1, concurrency, handlerMillis);
    }

    /** One that also listens, of another version of the product, with handlers that do nothing. */
    static QueueProcess listener(QueueProduct product, String classPath, int concurrency) {
        return new QueueProcess(product, classPath, 1, concurrency, 0);
    }

    /** One that listens to so many queues, one message at a time each. */
    static QueueProcess ofQueues(QueueProduct product, int queues) {
        return new QueueProcess(product, product.classPath(), queues, 1, 0);
    }

    /** Runs for a few seconds what will be measured, and finds out which calls are those of clients. */
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

    /** From a sample of what will be measured. */
    void learnShares(Runnable sample) {
        shares = ClientShares.during(redis, sample);
    }

    /** Sends, and keeps a record of what runs. */
    Sent send(SendOrder order) {
        return Sent.parse(program.ask("send " + order.line()));
    }

    /** Sends what is not meant to run. */
    Sent fill(SendOrder order) {
        return Sent.parse(program.ask("fill " + order.line()));
    }

    /** Waits until what was sent last has run, at most so long. */
    Received await(Duration limit) {
        Received received = Received.parse(program.ask("await " + limit.toMillis()));
        sleep(SETTLE);
        return received;
    }

    /** What has been used so far, to be given to {@link #since}. */
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

    /** Bytes that Redis has given out. */
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

    /** What Redis and the client have used at some moment. */
    record Use(RedisCost redis, Duration client) {}
}
