package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.time.LoopExecutor;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports this node to the others periodically, and applies the pause requests of operators to its listeners: one call each interval.
 * A node that stops leaves at once; one that is silent is forgotten after three intervals. New topics are reported along with it, so
 * that no send waits for that; and all of them once a minute, because the store may have lost them.
 */
final class Heartbeat implements LoopExecutor.Step {

    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private static final String BEAT = "beat";

    private static final int INTERVALS_UNTIL_FORGOTTEN = 3;

    private static final long TOPICS_PAUSE = TimeUnit.MINUTES.toNanos(1);

    /** A heartbeat that failed is repeated after this part of the interval. */
    private static final int RETRIES_IN_AN_INTERVAL = 5;

    /**
     * Description of this node, and the interval of its heartbeats.
     *
     * @param id          name of this start of the process
     * @param application name of the application, or empty
     * @param versions    versions by the name of the software
     */
    record Node(String id, String application, String host, Map<String, String> versions, Duration interval) {

        /** The description of this start of a process, under a name that no other start has. */
        static Node of(String process, String application, Map<String, String> versions, Duration interval) {
            Map<String, String> all = new TreeMap<>(versions);
            all.put("java", System.getProperty("java.version", ""));
            String random = Long.toString(ThreadLocalRandom.current().nextLong(Long.MAX_VALUE), 36);
            return new Node(process + "/" + random, application, hostName(), all, interval);
        }

        /** Host and process id. */
        static String processName() {
            return hostName() + "@" + ProcessHandle.current().pid();
        }

        private static String hostName() {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException e) {
                return "localhost";
            }
        }
    }

    /** While the heartbeat before this one leaves. */
    private static final long PREVIOUS_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

    private final Node node;
    private final FleetStore fleet;
    private final Topics topics;
    private final RunningListeners listeners;
    private final LoopExecutor loops;
    private final Consumer<Beat> onBeat;
    private final LoopExecutor.Loop loop;
    private final long startedAt;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Map<String, Integer> reported = new HashMap<>();
    private long allReportedAt;
    private final Refusals refusals = new Refusals();
    private @Nullable Heartbeat previous;
    private volatile boolean stopping;

    /**
     * @param previous of the same node, which leaves before this one begins; or null
     * @param onBeat   takes each reply of the store, on the thread of the heartbeats
     */
    Heartbeat(Node node, EngineContext engine, @Nullable Heartbeat previous, Consumer<Beat> onBeat) {
        this.node = node;
        this.fleet = engine.store().fleet();
        this.topics = engine.topics();
        this.listeners = engine.listeners();
        this.loops = engine.loops();
        this.previous = previous;
        this.onBeat = onBeat;
        this.startedAt = loops.nanos();
        this.allReportedAt = startedAt;
        this.loop = loops.create("delay-queue-heartbeat", this);
    }

    void start() {
        loop.start();
    }

    /** Reports the node again at once, without waiting for it. */
    void beatNow() {
        loop.wake();
    }

    /** Has the node leave, without waiting for it. */
    void stop() {
        stopping = true;
        loop.wake();
    }

    /** Waits until the node has left, at most so long. */
    void awaitEnd(Duration most) {
        try {
            if (!loops.await(ended, most)) {
                log.debug("The node did not leave in time, and is forgotten later");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public long run() {
        if (previous != null && previous.ended.getCount() > 0) {
            return PREVIOUS_PAUSE;
        }
        previous = null;
        boolean last = stopping;
        try {
            return beatOrLeave(last);
        } catch (RuntimeException | Error e) {
            if (!last) {
                throw e;
            }
            leavesNot(e);
            return LoopExecutor.END;
        } finally {
            if (last) {
                ended.countDown();
            }
        }
    }

    /** The last step ends in any case, because the next heartbeat waits for its end. */
    private static void leavesNot(Throwable failure) {
        try {
            log.debug("The node did not leave, and is forgotten later", failure);
        } catch (Throwable e) {
            // Such as a class of the logging, if the class loader of the application is closed.
        }
    }

    private long beatOrLeave(boolean last) {
        long pause = node.interval().toNanos();
        try {
            reportTopics();
            if (last) {
                fleet.leave(node.id());
            } else if (beat()) {
                pause = 0; // the other nodes see the change at once
            }
            refusals.succeeded(BEAT);
        } catch (StoreUnavailableException e) {
            // The consumers report an outage; this only tries again later.
            log.debug("The heartbeat of this node got no answer", e);
            pause /= RETRIES_IN_AN_INTERVAL;
        } catch (DelayQueueException e) {
            refused(BEAT, e);
        }
        return last ? LoopExecutor.END : pause;
    }

    private boolean beat() {
        NodeReport report = new NodeReport(
                node.application(),
                node.host(),
                node.versions(),
                Duration.ofNanos(loops.nanos() - startedAt),
                listeners.report());
        Beat reply = fleet.beat(node.id(), report, node.interval().multipliedBy(INTERVALS_UNTIL_FORGOTTEN));
        boolean changed = listeners.apply(reply.pauseRequests());
        onBeat.accept(reply);
        return changed;
    }

    private void reportTopics() {
        if (loops.nanos() - allReportedAt >= TOPICS_PAUSE) {
            reported.clear();
            allReportedAt = loops.nanos();
        }
        Map<String, Integer> fresh = new HashMap<>();
        Map<String, Integer> old = new HashMap<>(); // this node does not use them at present, and they may have grown
        topics.known().forEach((topic, known) -> {
            boolean isOld = loops.nanos() - known.readAt() >= TOPICS_PAUSE;
            (isOld ? old : fresh).put(topic, known.count().all());
        });
        report(fresh, false);
        report(old, true);
    }

    private void report(Map<String, Integer> topics, boolean areOld) {
        String step = areOld ? "old topics" : "topics";
        topics.entrySet().removeAll(reported.entrySet());
        if (topics.isEmpty()) {
            return;
        }
        try {
            fleet.addTopics(topics, areOld);
            reported.putAll(topics);
            refusals.succeeded(step);
        } catch (StoreRefusedException e) {
            refused(step, e);
        }
    }

    private void refused(String step, DelayQueueException e) {
        String text = String.valueOf(e.getMessage());
        if (refusals.isNew(step, text)) {
            log.warn("The other nodes do not see this one, or its topics, until this is fixed: {}", LogText.of(text));
        }
    }
}
