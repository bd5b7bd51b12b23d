package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.redis.ServerCheck;
import io.easykit.delayqueue.redis.ServerCheck.Report;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.time.DetachedThread;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Runs once when Redis first replies: loads the scripts, checks whether the server can hold messages safely, checks for
 * settings of unknown topics, and logs warnings. The start of the application does not wait for it.
 */
public final class RedisStartupCheck implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger("delay-queue");
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final RedisConnections connections;
    private final QueueBackend store;
    private final DelayQueueProperties properties;
    private final Supplier<DelayListenerRegistry> registry;
    private final Set<String> checkedTopics = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Report report;
    private volatile @Nullable Thread thread;

    RedisStartupCheck(
            RedisConnections connections,
            QueueBackend store,
            DelayQueueProperties properties,
            Supplier<DelayListenerRegistry> registry) {
        this.connections = connections;
        this.store = store;
        this.properties = properties;
        this.registry = registry;
    }

    /** Returns the result; empty until Redis has replied. */
    public Optional<Report> report() {
        return Optional.ofNullable(report);
    }

    @Override
    public synchronized void start() {
        if (thread == null) {
            warnOfShortLeases();
            Thread started = DetachedThread.of("delay-queue-check", this::checkWhenItAnswers);
            thread = started;
            started.start();
        }
    }

    @Override
    public synchronized void stop() {
        Thread running = thread;
        thread = null;
        if (running != null) {
            running.interrupt();
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
        // A call may end by the interrupt of the stop without passing it on.
        while (thread == Thread.currentThread() && !Thread.currentThread().isInterrupted()) {
            try {
                check();
                return;
            } catch (RuntimeException | Error failure) {
                // It must not go up: there would be no further attempt.
                log.debug("Redis does not reply. The check is repeated in {}.", pause, failure);
                sleep(pause);
                pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
            }
        }
    }

    private void check() {
        if (report == null) {
            Report found = ServerCheck.of(connections.factory());
            loadScripts();
            log.info(
                    "Redis {}, persistence {}",
                    found.details().get("version"),
                    found.details().get("persistence"));
            found.warnings().forEach(log::warn);
            report = found;
        }
        warnOfUnknownTopics();
    }

    /**
     * Checks each topic once. One that Redis refuses is left out.
     *
     * @throws StoreUnavailableException if one gets no reply; the next call checks it again
     */
    private void warnOfUnknownTopics() {
        Set<String> unknown = new TreeSet<>(properties.topics().keySet());
        unknown.removeAll(registry.get().topics());
        unknown.removeAll(checkedTopics);
        StoreUnavailableException away = null;
        for (String topic : unknown) {
            try {
                warnUnlessSentTo(topic);
                checkedTopics.add(topic);
            } catch (StoreUnavailableException e) {
                away = e;
            } catch (DelayQueueException e) {
                log.debug("Redis refuses to read topic '{}', so its settings are not checked", topic, e);
                checkedTopics.add(topic);
            }
        }
        if (away != null) {
            throw away;
        }
    }

    /** A topic that is used by other nodes has left its counters in Redis. */
    private void warnUnlessSentTo(String topic) {
        if (!wasSentTo(topic)) {
            log.warn(
                    "delay-queue.topics has settings for '{}', but no listener has that topic here, and"
                            + " nothing was ever sent to it. If this application only sends to it, there is nothing to do."
                            + " Otherwise correct the name (in brackets if it has dots, colons or slashes), or remove the"
                            + " settings. A name in an environment variable cannot have dashes, dots or capitals: use"
                            + " SPRING_APPLICATION_JSON for them.",
                    topic);
        }
    }

    private boolean wasSentTo(String topic) {
        return IntStream.range(0, store.declared(topic).all())
                .mapToObj(n -> store.stats(new ShardKey(topic, n)))
                .anyMatch(shard -> shard.counters().sent() > 0);
    }

    /**
     * Loads the scripts, so that the first calls need not send them. If the user may not load scripts, the first calls
     * send them.
     */
    private void loadScripts() {
        try {
            store.prepare();
        } catch (DelayQueueException e) {
            log.debug("The scripts could not be loaded in advance. The first calls send them.", e);
        }
    }

    /** A lease is renewed after a third of it. One call that takes the whole timeout must not expire it. */
    private void warnOfShortLeases() {
        Duration least = properties.commandTimeout().multipliedBy(4);
        registry.get().containers().stream()
                .map(ListenerContainer::endpoint)
                .filter(endpoint -> endpoint.lease().compareTo(least) < 0)
                .forEach(endpoint -> log.warn(
                        "The lease of listener '{}' is {}, and a Redis call may take {}"
                                + " (delay-queue.command-timeout). A few slow calls would expire the lease, and"
                                + " the message would run again. Set the lease to {} or more.",
                        endpoint.id(),
                        DurationTexts.text(endpoint.lease()),
                        DurationTexts.text(properties.commandTimeout()),
                        DurationTexts.text(least)));
    }

    private static void sleep(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
