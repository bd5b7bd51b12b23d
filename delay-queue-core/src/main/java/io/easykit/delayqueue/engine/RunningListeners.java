package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.store.Beat.Wish;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners of an engine that run: reports them, and has them do what operators wish. Each wish is obeyed once, however
 * often the store repeats it, so that the application can pause or resume its listeners afterwards.
 */
final class RunningListeners {

    private static final Logger log = LoggerFactory.getLogger(RunningListeners.class);

    /** A listener, as far as it is reported and obeys. */
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
    private final Map<String, Wish> obeyed = new HashMap<>();

    void add(Member listener) {
        running.add(listener);
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
        Wish last = obeyed.get(id);
        return last != null && last.pause() ? new NodeInfo.Pause(last.at(), last.by()) : NodeInfo.Pause.LOCAL;
    }

    /** Carries out the new wishes. Returns whether there was one. */
    synchronized boolean obey(List<Wish> wishes) {
        boolean changed = false;
        for (Wish wish : wishes) {
            List<Member> meant = running.stream()
                    .filter(listener -> listener.endpoint().id().equals(wish.listener()))
                    .toList();
            Wish last = obeyed.get(wish.listener());
            if (!meant.isEmpty() && (last == null || last.micros() < wish.micros())) {
                obeyed.put(wish.listener(), wish);
                meant.forEach(listener -> obey(listener, wish));
                changed = true;
            }
        }
        return changed;
    }

    private static void obey(Member listener, Wish wish) {
        if (wish.pause()) {
            listener.pause();
        } else {
            listener.resume();
        }
        log.info(
                "Listener '{}' is {} on this node, as {} wished",
                LogText.of(wish.listener()),
                wish.pause() ? "paused" : "resumed",
                LogText.of(wish.by()));
    }
}
