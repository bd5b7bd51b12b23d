package io.easykit.delayqueue.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.time.LoopExecutor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Stops while the system makes no more threads, or while listeners start, and listeners that are refused. */
class DelayListenerRegistryTests {

    private final DelayListenerRegistry registry = new DelayListenerRegistry(false, null, task -> {
        require("of the registry");
        return new Thread(task);
    });

    private interface OnDeclare {
        void accept(String topic) throws InterruptedException;
    }

    private volatile OnDeclare whenDeclared = topic -> {};
    private volatile Consumer<String> whenCreated = name -> {};
    private final QueueBackend store = new InMemoryQueueStore(() -> System.currentTimeMillis() * 1000);

    private final DelayQueueEngine engine = DelayQueueEngine.builder(observed(store))
            .codec(new JacksonPayloadCodec())
            .loops(new LoopExecutor() {
                @Override
                public long nanos() {
                    return THREADS.nanos();
                }

                @Override
                public void sleep(long nanos) throws InterruptedException {
                    THREADS.sleep(nanos);
                }

                @Override
                public Loop create(String name, Step step) {
                    require(name);
                    whenCreated.accept(name);
                    return THREADS.create(name, step);
                }

                @Override
                public Thread startThread(String name, Runnable task) {
                    require(name);
                    return THREADS.startThread(name, task);
                }
            })
            .build();

    private volatile String scarce = "none";

    @AfterEach
    void close() {
        scarce = "none";
        registry.stop();
        engine.close();
    }

    private QueueBackend observed(QueueBackend store) {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("declare")) {
                        whenDeclared.accept((String) arguments[0]);
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private void require(String name) {
        if (name.matches(scarce)) {
            // An OutOfMemoryError would end the JVM of the tests.
            throw new Error("unable to create native thread " + name);
        }
    }

    /** The settings of topics apply to annotated methods only. */
    @Test
    void knowsTheListenersOfAnnotatedMethods() {
        register("a", message -> {});
        ListenerContainer annotated = engine.container(
                ListenerEndpoint.builder("b", "b", String.class).build(), message -> {});
        registry.registerAnnotated(annotated);

        assertThat(registry.isAnnotated("a")).isFalse();
        assertThat(registry.isAnnotated("b")).isTrue();
        registry.unregister(annotated);
        assertThat(registry.isAnnotated("b")).isFalse();
    }

    @Test
    void aListenerByCodeIsNotTakenForTheAnnotatedOneThatHasBeenRefused() {
        register("a", message -> {});
        ListenerContainer second = engine.container(
                ListenerEndpoint.builder("a", "a", String.class).build(), message -> {});

        assertThatThrownBy(() -> registry.registerAnnotated(second)).isInstanceOf(IllegalArgumentException.class);

        assertThat(registry.isAnnotated("a")).isFalse();
    }

    /** Otherwise the corrected one would be refused until the process ends. */
    @Test
    void aListenerThatIsRefusedAtItsStartLeavesItsIdFree() {
        register("a", message -> {});
        registry.start();
        ListenerEndpoint.Builder second = ListenerEndpoint.builder("b", "a", String.class);
        ListenerContainer contrary =
                engine.container(second.maxLeaseExpirations(77).build(), message -> {});
        assertThatThrownBy(() -> registry.register(contrary)).isInstanceOf(TopicConflictException.class);
        assertThat(registry.containers()).hasSize(1);

        int corrected = registry.containers().get(0).endpoint().maxLeaseExpirations();
        registry.register(engine.container(second.maxLeaseExpirations(corrected).build(), message -> {}));

        assertThat(registry.containers()).hasSize(2).allMatch(ListenerContainer::isRunning);
    }

    /** The store is called for the number of shards before a listener with a limit starts. */
    private ListenerContainer runsWhenItStarts(Consumer<ListenerContainer> action, MessageHandler<String> handler) {
        String topic = "limited";
        ListenerContainer container = engine.container(
                ListenerEndpoint.builder(topic, topic, String.class)
                        .limits(FlowLimits.maxInFlight(1))
                        .stopTimeout(Duration.ofMinutes(1))
                        .build(),
                handler);
        whenDeclared = declared -> {
            if (declared.equals(topic)) {
                whenDeclared = other -> {};
                Thread other = new Thread(() -> action.accept(container));
                other.start();
                other.join();
            }
        };
        return container;
    }

    private ListenerContainer stopsTheRegistryWhenItStarts(DelayListenerRegistry stopped) {
        return runsWhenItStarts(container -> stopped.stop(), message -> {});
    }

    @Test
    void aListenerThatIsAddedWhileTheOthersStopDoesNotRun() {
        registry.start();
        ListenerContainer added = stopsTheRegistryWhenItStarts(registry);
        registry.register(added);

        await().until(() -> !added.isRunning());
        assertThat(registry.isRunning()).isFalse();
        registry.start();
        assertThat(added.isRunning()).isTrue();
    }

    @Test
    void aListenerThatIsRemovedWhileTheOthersStartDoesNotRun() {
        ListenerContainer added = runsWhenItStarts(
                container -> {
                    scarce = "of the registry"; // so that its stop has ended when the start goes on
                    registry.unregister(container);
                    scarce = "none";
                },
                message -> {});
        registry.register(added);
        register("b", message -> {});
        registry.start();

        await().until(() -> !added.isRunning());
        assertThat(registry.containers()).singleElement().matches(ListenerContainer::isRunning);
        registry.stop();
        registry.start();
        assertThat(added.isRunning()).isFalse();
    }

    /** As a method that uses the bean whose listener is added. */
    @Test
    void aListenerThatIsAddedWhileTheOthersStopMayWaitForTheCaller() {
        CompletableFuture<String> begun = new CompletableFuture<>();
        CompletableFuture<String> registered = new CompletableFuture<>();
        CompletableFuture<String> ended = new CompletableFuture<>();
        registry.start();
        ListenerContainer added = runsWhenItStarts(container -> registry.stop(), message -> {
            begun.complete("");
            ended.complete(registered.join());
        });
        try (DelayQueueEngine sender =
                DelayQueueEngine.builder(store).codec(new JacksonPayloadCodec()).build()) {
            sender.template().send(OutgoingMessage.of("limited", "x"));
        }
        // They are created when the container has started.
        whenCreated = name -> {
            if (name.equals("delay-queue-jobs")) {
                begun.orTimeout(20, TimeUnit.SECONDS).join();
            }
        };

        assertThat(CompletableFuture.runAsync(() -> registry.register(added))).succeedsWithin(Duration.ofSeconds(20));
        registered.complete("registered");

        assertThat(ended).succeedsWithin(Duration.ofSeconds(20));
        await().until(() -> !added.isRunning());
    }

    /** Its delivery has begun in part. */
    @Test
    void aListenerThatGetsNoThreadsAtItsStartIsStoppedAndLeavesItsIdFree() {
        registry.start();
        scarce = "delay-queue-(monitor-a|stop-a)";
        ListenerContainer failed = engine.container(
                ListenerEndpoint.builder("a", "a", String.class).build(), message -> {});
        assertThatThrownBy(() -> registry.register(failed)).isInstanceOf(Error.class);
        assertThat(registry.containers()).isEmpty();
        await().until(() -> !failed.isRunning());

        scarce = "none";
        assertThat(register("a", message -> {}).isRunning()).isTrue();
    }

    @Test
    void aListenerOfAChildThatIsAddedWhileTheParentStopsDoesNotRun() {
        DelayListenerRegistry child = new DelayListenerRegistry(false, registry);
        registry.start();
        child.start();
        ListenerContainer added = stopsTheRegistryWhenItStarts(registry);
        child.register(added);

        await().until(() -> !added.isRunning());
        assertThat(child.isRunning()).isFalse();
        registry.start();
        assertThat(added.isRunning()).isTrue();
    }

    @Test
    void aStopDuringAStartStopsAllListeners() {
        registry.register(stopsTheRegistryWhenItStarts(registry));
        register("b", message -> {});
        DelayListenerRegistry child = new DelayListenerRegistry(false, registry);
        child.register(engine.container(
                ListenerEndpoint.builder("c", "c", String.class).build(), message -> {}));
        child.start();
        registry.start();

        await().until(() -> !registry.isRunning());
        assertThat(registry.containers()).hasSize(3).noneMatch(ListenerContainer::isRunning);
    }

    @Test
    void aListenerThatIsRemovedStopsAlsoIfItsMethodWaitsForTheCaller() {
        CompletableFuture<String> begun = new CompletableFuture<>();
        CompletableFuture<String> removed = new CompletableFuture<>();
        CompletableFuture<String> ended = new CompletableFuture<>();
        ListenerContainer container = register("a", message -> {
            begun.complete("");
            ended.complete(removed.join());
        });
        registry.start();
        engine.template().send(OutgoingMessage.of("a", "x"));
        assertThat(begun).succeedsWithin(Duration.ofSeconds(20));

        registry.unregister(container);
        removed.complete("removed");

        assertThat(ended).succeedsWithin(Duration.ofSeconds(20));
        assertThat(registry.containers()).isEmpty();
        container.stop();
        assertThat(container.isRunning()).isFalse();
        register("a", message -> {});
    }

    private ListenerContainer register(String id, MessageHandler<String> handler) {
        ListenerContainer container = engine.container(
                ListenerEndpoint.builder(id, id, String.class)
                        .stopTimeout(Duration.ofMinutes(1))
                        .build(),
                handler);
        registry.register(container);
        return container;
    }

    @Test
    void stopsOnTheThreadOfTheCallerIfThereIsNoOther() {
        ListenerContainer container = register("a", message -> {});
        registry.start();
        scarce = ".*";
        AtomicInteger callbacks = new AtomicInteger();

        registry.stop(callbacks::incrementAndGet);

        assertThat(callbacks).hasValue(1);
        assertThat(container.isRunning()).isFalse();
        assertThat(registry.isRunning()).isFalse();
    }

    @Test
    void callsBackIfAListenerStopsItselfAndThereIsNoThread() {
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        AtomicInteger callbacks = new AtomicInteger();
        register("a", message -> outcome.complete(catchThrowable(() -> registry.stop(callbacks::incrementAndGet))));
        ListenerContainer other = register("b", message -> {});
        registry.start();
        scarce = "of the registry|delay-queue-stop-.*";
        engine.template().send(OutgoingMessage.of("a", "x"));

        assertThat(outcome).succeedsWithin(Duration.ofSeconds(20));
        assertThat(outcome.join()).hasMessageContaining("delay-queue-stop-a");
        assertThat(callbacks).hasValue(1);
        assertThat(other.isRunning()).isFalse();
    }

    @Test
    void aStartThrowsItsOwnErrorAlsoIfTheStopFailsThen() {
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        ListenerContainer starter = register("a", message -> outcome.complete(catchThrowable(registry::start)));
        register("b", message -> {});
        starter.start();
        scarce = "delay-queue-monitor-b|delay-queue-stop-.*";
        engine.template().send(OutgoingMessage.of("a", "x"));

        assertThat(outcome).succeedsWithin(Duration.ofSeconds(20));
        assertThat(outcome.join())
                .hasMessageContaining("delay-queue-monitor-b")
                .hasSuppressedException(new Error("unable to create native thread delay-queue-stop-a"));
    }
}
