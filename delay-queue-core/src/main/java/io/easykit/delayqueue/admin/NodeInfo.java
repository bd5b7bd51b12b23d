package io.easykit.delayqueue.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A process that uses the queue, as it reported itself with its last heartbeat.
 *
 * @param id          name of this start of the process; no other start has it
 * @param application name of the application, or empty
 * @param host        name of the host
 * @param versions    versions by the name of the software, such as {@code java}
 * @param startedAt   when it started, by the store's clock
 * @param seenAt      last heartbeat, by the store's clock
 * @param listeners   its running listeners; empty for a process that only sends. Of a node with more than about 600 the rest is
 *                    one entry for each topic, with an empty id
 */
public record NodeInfo(
        String id,
        String application,
        String host,
        Map<String, String> versions,
        Instant startedAt,
        Instant seenAt,
        List<Listener> listeners) {

    public NodeInfo {
        versions = Collections.unmodifiableMap(new TreeMap<>(versions));
        listeners = List.copyOf(listeners);
    }

    /** Calls of this topic that the node can run at a time; paused listeners count as none. */
    public int places(String topic) {
        return listeners.stream()
                .filter(listener -> listener.topic().equals(topic) && listener.pause() == null)
                .mapToInt(Listener::places)
                .sum();
    }

    /**
     * A listener that runs.
     *
     * @param id        of the listener; empty for a sum of several of the topic
     * @param topic     whose messages it gets
     * @param busy      calls of the handler that run now
     * @param places    calls that it can run at a time
     * @param oldestRun how long the longest of the running calls has lasted; zero if none runs
     * @param pause     that it is paused on this node, or null
     */
    public record Listener(String id, String topic, int busy, int places, Duration oldestRun, @Nullable Pause pause) {}

    /**
     * A pause of one listener on one node.
     *
     * @param at when an operator paused it, by the store's clock; null if the application itself did
     * @param by the operator; empty if the application itself paused it
     */
    public record Pause(@Nullable Instant at, String by) {

        /** A pause by the application itself. */
        public static final Pause LOCAL = new Pause(null, "");
    }
}
