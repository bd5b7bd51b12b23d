package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.QueueStore;
import io.easykit.delayqueue.ShardKey;
import io.easykit.delayqueue.redis.ServerCheck;
import io.easykit.delayqueue.redis.ServerCheck.Report;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Looks, once Redis answers, whether it can be trusted with messages and whether the settings name topics that there are,
 * and warns of what it finds. The start of the application does not wait for it.
 */
final class RedisStartupCheck implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger("delay-queue");
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final RedisConnections connections;
    private final QueueStore store;
    private final Set<String> configured;
    private final Supplier<Set<String>> listenedTo;
    private volatile @Nullable Report report;
    private @Nullable Thread thread;

    RedisStartupCheck(
            RedisConnections connections, QueueStore store, Set<String> configured, Supplier<Set<String>> listenedTo) {
        this.connections = connections;
        this.store = store;
        this.configured = configured;
        this.listenedTo = listenedTo;
    }

    /** Empty until Redis has answered. */
    Optional<Report> report() {
        return Optional.ofNullable(report);
    }

    @Override
    public synchronized void start() {
        if (thread == null) {
            thread = new Thread(this::checkWhenItAnswers, "delay-queue-check");
            thread.setDaemon(true);
            thread.start();
        }
    }

    @Override
    public synchronized void stop() {
        if (thread != null) {
            thread.interrupt();
            thread = null;
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return thread != null;
    }

    @Override
    public int getPhase() {
        return RedisConnections.PHASE + 1;
    }

    private void checkWhenItAnswers() {
        Duration pause = FIRST_PAUSE;
        while (report == null && !Thread.currentThread().isInterrupted()) {
            try {
                check();
            } catch (RuntimeException away) {
                log.debug("The check of Redis is repeated in {}", pause, away);
                sleep(pause);
                pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
            }
        }
    }

    private void check() {
        Report found = ServerCheck.of(connections.factory());
        warnOfUnknownTopics();
        log.info(
                "Redis {}, persistence {}",
                found.details().get("version"),
                found.details().get("persistence"));
        found.warnings().forEach(log::warn);
        report = found;
    }

    /** A topic that somebody sends to or listens to elsewhere has left its traces in Redis. */
    private void warnOfUnknownTopics() {
        Set<String> unknown = new TreeSet<>(configured);
        unknown.removeAll(listenedTo.get());
        for (String topic : unknown) {
            if (store.stats(new ShardKey(topic, 0)).counters().sent() == 0) {
                log.warn(
                        "delay-queue.topics has settings for '{}', but no listener has that topic here, and nothing was"
                                + " ever sent to it. Correct the name (in brackets if it has dots or colons), or"
                                + " remove them.",
                        topic);
            }
        }
    }

    private static void sleep(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
