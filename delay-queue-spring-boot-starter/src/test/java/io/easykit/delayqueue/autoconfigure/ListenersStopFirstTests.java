package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/** A method that runs while its context closes still uses beans of the application. They stop after the listeners. */
class ListenersStopFirstTests {

    /** How each part of an application has ended. */
    private final Ends ends = new Ends();

    private final ApplicationContextRunner parts = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(DelayQueueAutoConfiguration.class))
            .withBean(Ends.class, () -> ends)
            .withBean(Client.class)
            .withBean(Executor.class);

    private final ApplicationContextRunner runner = parts.withBean(
                    InMemoryQueueStore.class, () -> new InMemoryQueueStore(() -> System.currentTimeMillis() * 1000))
            .withBean(Orders.class);

    static final class Ends {

        private final List<String> seen = new CopyOnWriteArrayList<>();

        void add(String what, DelayListenerRegistry registry) {
            boolean run = registry.isRunning() || registry.containers().stream().anyMatch(ListenerContainer::isRunning);
            seen.add(what + (run ? " while listeners run" : " after the listeners"));
        }
    }

    static final class Orders {

        @DelayListener(topic = "orders")
        void on(String order) {}
    }

    static final class Parcels {

        @DelayListener(topic = "parcels")
        void on(String parcel) {}
    }

    /** Has the default phase, which is that of the listeners, and is defined before them. */
    static final class Client implements SmartLifecycle {

        private final Ends ends;
        private final ObjectProvider<DelayListenerRegistry> registry;
        private boolean running;

        Client(Ends ends, ObjectProvider<DelayListenerRegistry> registry) {
            this.ends = ends;
            this.registry = registry;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            ends.add("stopped", registry.getObject());
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }

    /** Accepts no more tasks when the context begins to close, as those of Spring. */
    static final class Executor implements ApplicationListener<ContextClosedEvent> {

        private final Ends ends;
        private final ObjectProvider<DelayListenerRegistry> registry;

        Executor(Ends ends, ObjectProvider<DelayListenerRegistry> registry) {
            this.ends = ends;
            this.registry = registry;
        }

        @Override
        public void onApplicationEvent(ContextClosedEvent event) {
            ends.add("closing", registry.getObject());
        }
    }

    private void assertStoppedFirst() {
        assertThat(ends.seen).containsExactlyInAnyOrder("closing after the listeners", "stopped after the listeners");
    }

    @Test
    void beansOfTheSamePhaseStopAfterThem() {
        runner.run(context -> assertThat(
                        context.getBean(DelayListenerRegistry.class).isRunning())
                .isTrue());
        assertStoppedFirst();
    }

    @Test
    void alsoIfNoBeanIsCreatedBeforeItsUse() {
        runner.withPropertyValues("spring.main.lazy-initialization=true").run(context -> {
            context.getBean(Client.class).start();
            context.getBean(DelayListenerRegistry.class);
        });
        assertThat(ends.seen).isNotEmpty().allMatch(end -> end.endsWith("after the listeners"));
    }

    /** Only the thread that closes the context can let the other beans wait. */
    @Test
    void alsoIfEventsAreSentByOtherThreads() {
        runner.withBean("applicationEventMulticaster", SimpleApplicationEventMulticaster.class, () -> {
                    SimpleApplicationEventMulticaster others = new SimpleApplicationEventMulticaster();
                    others.setTaskExecutor(new SimpleAsyncTaskExecutor());
                    return others;
                })
                .run(context -> {});
        assertThat(ends.seen).contains("stopped after the listeners").allMatch(end -> end.endsWith("the listeners"));
    }

    /** A parent receives the event too. */
    @Test
    void thoseOfAParentRunOnWhenAChildCloses() {
        runner.run(parent -> {
            DelayListenerRegistry registry = parent.getBean(DelayListenerRegistry.class);
            parts.withParent(parent).withBean(Parcels.class).run(child -> assertThat(registry.topics())
                    .contains("parcels"));

            assertThat(registry.containers()).singleElement().matches(ListenerContainer::isRunning);
            assertThat(registry.isRunning()).isTrue();
            assertThat(ends.seen).contains("closing after the listeners", "stopped after the listeners");
        });
    }

    /** Such a context sends no event of a close, and is started again. */
    @Test
    void aContextThatIsStoppedAndStartedRunsThemAgain() {
        runner.run(context -> {
            ConfigurableApplicationContext lifecycle = context.getSourceApplicationContext();
            lifecycle.stop();
            lifecycle.start();
            lifecycle.pause();
            lifecycle.restart();
            assertThat(context.getBean(DelayListenerRegistry.class).containers())
                    .singleElement()
                    .matches(ListenerContainer::isRunning);
            ends.seen.clear();
        });
        assertStoppedFirst();
    }

    @Test
    void aStopThatFailsDoesNotKeepTheEventFromOthers() {
        GenericApplicationContext context = new GenericApplicationContext();
        ListenersStopFirst first = new ListenersStopFirst(context, () -> {
            throw new BeanCreationException("no registry");
        });

        assertThatCode(() -> first.onApplicationEvent(new ContextClosedEvent(context)))
                .doesNotThrowAnyException();
    }
}
