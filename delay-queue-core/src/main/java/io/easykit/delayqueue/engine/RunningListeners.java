package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.store.Beat.PauseRequest;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running listeners of this node: builds their report for the heartbeat, and applies pause requests of operators. Each request is
 * applied once, however often the store repeats it, so that the application can pause or resume its listeners afterwards.
 */
final class RunningListeners {

    private static final Logger log = LoggerFactory.getLogger(RunningListeners.class);

    /** A listener that is reported, and that can be paused. */
    interface Member {

        ListenerEndpoint endpoint();

        /** Calls of the handler that run now. */
        int busy();

        /** How long the longest of them has lasted. */
        Duration oldestRun();

        boolean isPaused();

        void pause();

        void resume();
    }

    private final List<Member> running = new CopyOnWriteArrayList<>();
    private final Map<String, PauseRequest> applied = new HashMap<>();
    private volatile Runnable onStarted = () -> {};

    /** @param action runs when a listener has started, on its thread */
    void onStarted(Runnable action) {
        onStarted = action;
    }

    void add(Member listener) {
        running.add(listener);
        onStarted.run();
    }

    void remove(Member listener) {
        running.remove(listener);
    }

    synchronized List<NodeInfo.Listener> report() {
        return running.stream().map(this::report).toList();
    }

    private NodeInfo.Listener report(Member listener) {
        ListenerEndpoint endpoint = listener.endpoint();
        return new NodeInfo.Listener(
                endpoint.id(),
                endpoint.topic(),
                listener.busy(),
                endpoint.concurrency(),
                listener.oldestRun(),
                listener.isPaused() ? pause(endpoint.id()) : null);
    }

    private NodeInfo.Pause pause(String id) {
        PauseRequest last = applied.get(id);
        return last != null && last.pause() ? new NodeInfo.Pause(last.at(), last.by()) : NodeInfo.Pause.LOCAL;
    }

    /** Applies the new requests. Returns whether there was one. */
    synchronized boolean apply(List<PauseRequest> requests) {
        boolean changed = false;
        for (PauseRequest request : requests) {
            List<Member> meant = running.stream()
                    .filter(listener -> listener.endpoint().id().equals(request.listener()))
                    .toList();
            PauseRequest last = applied.get(request.listener());
            if (!meant.isEmpty() && (last == null || last.micros() < request.micros())) {
                applied.put(request.listener(), request);
                meant.forEach(listener -> apply(listener, request));
                changed = true;
            }
        }
        return changed;
    }

    private static void apply(Member listener, PauseRequest request) {
        if (request.pause()) {
            listener.pause();
        } else {
            listener.resume();
        }
        log.info(
                "Listener '{}' is {} on this node, requested by {}",
                LogText.of(request.listener()),
                request.pause() ? "paused" : "resumed",
                LogText.of(request.by()));
    }
}
