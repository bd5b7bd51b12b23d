package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.engine.ListenerContainer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/**
 * The listeners of an application context. Starts them in the last lifecycle phase, and stops them all at the same time before
 * the other beans, so that running methods can still use these. Stop and start may be repeated.
 *
 * <p>{@link SmartLifecycle} beans of the application have the same phase by default. Within a phase Spring starts and stops beans
 * in the order of their definition, so these would stop first. When the context closes, the listeners therefore stop before the
 * lifecycle, at the {@code ContextClosedEvent}. A stop of a context that stays open has no such event.
 *
 * <p>A registry that is started and has listeners keeps the JVM running, also without a web server.
 */
public final class DelayListenerRegistry implements SmartLifecycle, DisposableBean {

    private static final Logger log = LoggerFactory.getLogger(DelayListenerRegistry.class);

    private final boolean autoStartup;
    private final @Nullable DelayListenerRegistry parent;
    private final List<DelayListenerRegistry> children = new CopyOnWriteArrayList<>();
    private final Object registration;
    private final Map<String, ListenerContainer> containers = new LinkedHashMap<>();
    private final Set<ListenerContainer> annotated = ConcurrentHashMap.newKeySet();
    private final ThreadFactory threads;
    private final KeepAlive keepAlive = new KeepAlive();
    private volatile boolean running;

    /** A parent has stopped these listeners, and will start them with its own. */
    private volatile boolean stoppedByParent;

    /**
     * Creates an empty registry.
     *
     * @param autoStartup whether the listeners start with the application; if not, call {@link #start}
     */
    public DelayListenerRegistry(boolean autoStartup) {
        this(autoStartup, null);
    }

    /**
     * Creates an empty registry of a child context. Until it is destroyed the parent shows its listeners, and stops them
     * when it stops itself.
     *
     * @param autoStartup whether the listeners start with their context; if not, call {@link #start}
     * @param parent that of the parent context; null if there is none
     */
    public DelayListenerRegistry(boolean autoStartup, @Nullable DelayListenerRegistry parent) {
        this(autoStartup, parent, task -> new Thread(task, "delay-queue-stop"));
    }

    DelayListenerRegistry(boolean autoStartup, @Nullable DelayListenerRegistry parent, ThreadFactory threads) {
        this.autoStartup = autoStartup;
        this.parent = parent;
        this.threads = threads;
        this.registration = parent == null ? new Object() : parent.registration;
        if (parent != null) {
            parent.children.add(this);
        }
    }

    /**
     * Adds a listener, and starts it if the others are running. A listener that cannot be started is not added.
     *
     * @throws IllegalArgumentException if there is one with the same id, in this context or in another one of its hierarchy
     * @throws TopicConflictException if the listeners run, and its settings contradict those of another listener of the topic
     */
    public void register(ListenerContainer container) {
        String id = container.endpoint().id();
        synchronized (registration) {
            if (root().container(id).isPresent()) {
                throw new IllegalArgumentException("There is already a listener '" + id
                        + "', in this application context, in a parent of it, or in another child of its parents."
                        + " Use a different id for each listener.");
            }
            synchronized (containers) {
                containers.put(id, container);
            }
        }
        try {
            startWithOthers(container);
        } catch (RuntimeException | Error refused) {
            try {
                unregister(container);
            } catch (RuntimeException | Error second) {
                refused.addSuppressed(second);
            }
            throw refused;
        }
        keepAlive();
    }

    /** Adds the listener of an annotated method. */
    void registerAnnotated(ListenerContainer container) {
        annotated.add(container);
        try {
            register(container);
        } catch (RuntimeException | Error refused) {
            annotated.remove(container);
            throw refused;
        }
    }

    /** Removes a listener and begins its stop. Does not wait for the end, because its method may wait for the caller. */
    void unregister(ListenerContainer container) {
        synchronized (containers) {
            containers.remove(container.endpoint().id(), container);
        }
        annotated.remove(container);
        keepAlive();
        withoutWaiting(container::stop);
    }

    /** A stop or a removal meanwhile has left out a container that was not running yet. */
    private void startWithOthers(ListenerContainer container) {
        if (isToRun(container)) {
            container.start();
            if (!isToRun(container)) {
                withoutWaiting(() -> stopAgain(container));
            }
        }
    }

    /** A start meanwhile has left out a container that was still running. */
    private void stopAgain(ListenerContainer container) {
        if (!isToRun(container)) {
            container.stop();
            startWithOthers(container);
        }
    }

    private boolean isToRun(ListenerContainer container) {
        return isStarted() && own().contains(container);
    }

    /** On the thread of the caller if there is no other. */
    private void withoutWaiting(Runnable stop) {
        if (startStopThread(stop) == null) {
            stop.run();
        }
    }

    private boolean isStarted() {
        return running && !stoppedByParent;
    }

    private DelayListenerRegistry root() {
        return parent == null ? this : parent.root();
    }

    /** Returns all listeners, in the order of their registration, followed by those of child contexts. */
    public List<ListenerContainer> containers() {
        List<ListenerContainer> all = new ArrayList<>(own());
        children.forEach(child -> all.addAll(child.containers()));
        return List.copyOf(all);
    }

    private List<ListenerContainer> own() {
        synchronized (containers) {
            return List.copyOf(containers.values());
        }
    }

    /** Returns the listener with an id, for example to pause, resume, stop or start it. */
    public Optional<ListenerContainer> container(String id) {
        return containers().stream()
                .filter(container -> container.endpoint().id().equals(id))
                .findFirst();
    }

    /**
     * Whether the listener with an id is an annotated method. The settings {@code delay-queue.defaults.*} and
     * {@code delay-queue.topics.*} of listeners apply to these only.
     */
    public boolean isAnnotated(String id) {
        return annotated.stream()
                        .anyMatch(container -> container.endpoint().id().equals(id))
                || children.stream().anyMatch(child -> child.isAnnotated(id));
    }

    /** Returns the topics that have a listener. */
    public Set<String> topics() {
        return containers().stream()
                .map(container -> container.endpoint().topic())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Starts all listeners, with those of child contexts that are started. */
    @Override
    public void start() {
        running = true;
        stoppedByParent = false;
        try {
            startAll();
        } catch (RuntimeException | Error e) {
            try {
                stop();
            } catch (RuntimeException | Error second) {
                e.addSuppressed(second);
            }
            throw e;
        }
    }

    private void startAll() {
        own().forEach(this::startWithOthers);
        keepAlive();
        children.stream().filter(child -> child.running).forEach(child -> {
            child.stoppedByParent = false;
            if (!isStarted()) {
                // Stopped meanwhile.
                child.noteStopOfParent();
            }
            child.startAll();
        });
    }

    /**
     * Stops all listeners at the same time, with those of child contexts, which use the queue of this one. Returns when
     * all have stopped. If a listener's method calls this, it does not wait for that listener, which cannot stop before
     * its method returns.
     */
    @Override
    public void stop() {
        running = false;
        children.forEach(DelayListenerRegistry::noteStopOfParent);
        try {
            ListenerContainer.stopAll(containers());
        } finally {
            keepAlive();
        }
    }

    private void noteStopOfParent() {
        stoppedByParent = true;
        children.forEach(DelayListenerRegistry::noteStopOfParent);
    }

    /** Follows the state, so that a start during a stop is not undone by the end of the stop. */
    private void keepAlive() {
        synchronized (keepAlive) {
            keepAlive.set(isStarted() && !own().isEmpty());
        }
        children.forEach(DelayListenerRegistry::keepAlive);
    }

    /**
     * Like {@link #stop()}, but always waits: when the application closes, Spring next stops beans that running methods
     * still need. A method that closes the application itself is interrupted after the stop timeout. If no thread can be started
     * for that, it stops on the calling thread.
     */
    @Override
    public void stop(Runnable callback) {
        try {
            Thread thread = startStopThread(this::stop);
            if (thread == null) {
                stop();
            } else {
                join(thread);
            }
        } finally {
            callback.run();
        }
    }

    /** Null if there is none to be had, for lack of memory. */
    private @Nullable Thread startStopThread(Runnable stop) {
        try {
            Thread thread = threads.newThread(stop);
            thread.start();
            return thread;
        } catch (RuntimeException | Error e) {
            log.debug("There is no thread for the stop. The caller stops the listeners", e);
            return null;
        }
    }

    @Override
    public boolean isRunning() {
        return isStarted() || own().stream().anyMatch(ListenerContainer::isRunning);
    }

    @Override
    public boolean isAutoStartup() {
        return autoStartup;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }

    @Override
    public void destroy() {
        running = false;
        keepAlive();
        if (parent != null) {
            parent.children.remove(this);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
