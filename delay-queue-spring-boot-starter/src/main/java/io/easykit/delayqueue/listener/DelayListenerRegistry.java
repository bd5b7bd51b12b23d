package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.ListenerContainer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.context.SmartLifecycle;

/**
 * The listeners of an application. Starts them when everything else has started, and stops them first, all at the same
 * time, so that running methods find the application whole. Stop and start may be repeated.
 */
public final class DelayListenerRegistry implements SmartLifecycle {

    private final boolean autoStartup;
    private final Map<String, ListenerContainer> containers = new LinkedHashMap<>();
    private volatile boolean running;

    /**
     * An empty registry.
     *
     * @param autoStartup whether the listeners start with the application; if not, somebody calls {@link #start}
     */
    public DelayListenerRegistry(boolean autoStartup) {
        this.autoStartup = autoStartup;
    }

    /**
     * Takes in a listener, and starts it if the others run.
     *
     * @throws IllegalArgumentException if there is one of the same id
     */
    public void register(ListenerContainer container) {
        String id = container.endpoint().id();
        synchronized (containers) {
            if (containers.putIfAbsent(id, container) != null) {
                throw new IllegalArgumentException(
                        "There is a listener '" + id + "' already. Give each listener an id of its own.");
            }
        }
        if (running) {
            container.start();
        }
    }

    /** All listeners, in the order of their registration. */
    public List<ListenerContainer> containers() {
        synchronized (containers) {
            return List.copyOf(containers.values());
        }
    }

    /** The listener with an id, to be paused, resumed, stopped or started alone. */
    public Optional<ListenerContainer> container(String id) {
        synchronized (containers) {
            return Optional.ofNullable(containers.get(id));
        }
    }

    /** The topics that are listened to. */
    public Set<String> topics() {
        return containers().stream()
                .map(container -> container.endpoint().topic())
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public void start() {
        running = true;
        try {
            containers().forEach(ListenerContainer::start);
        } catch (RuntimeException e) {
            stop();
            throw e;
        }
    }

    /**
     * Stops all listeners at the same time, and returns when all have stopped. Called by a listener's method, it does not wait
     * for that listener, which cannot end before its method returns.
     */
    @Override
    public void stop() {
        running = false;
        ListenerContainer.stopAll(containers());
    }

    /**
     * As {@link #stop()}, but waits in any case: when the application closes, Spring next stops what running methods still
     * need. A method that closes the application itself is interrupted after the stop timeout.
     */
    @Override
    public void stop(Runnable callback) {
        Thread thread = new Thread(this::stop, "delay-queue-stop");
        thread.start();
        join(thread);
        callback.run();
    }

    @Override
    public boolean isRunning() {
        return running || containers().stream().anyMatch(ListenerContainer::isRunning);
    }

    @Override
    public boolean isAutoStartup() {
        return autoStartup;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
