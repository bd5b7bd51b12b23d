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
 * @param listeners   its running listeners; empty for a process that only sends. Beyond about 600 of a node, the others are summed
 *                    up in one entry for each topic, with an empty id
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

    /** How many calls for this topic the node can run at a time, without paused listeners. */
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
     * @param topic     from which it receives messages
     * @param busy      calls of the handler that run now
     * @param places    calls that it can run at a time
     * @param oldestRun how long the longest of the running calls has lasted; zero if none runs
     * @param pause     its pause on this node, or null if it is not paused
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
