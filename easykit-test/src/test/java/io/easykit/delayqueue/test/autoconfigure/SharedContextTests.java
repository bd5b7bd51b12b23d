package io.easykit.delayqueue.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.autoconfigure.DelayQueueCustomizer;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.annotation.Transactional;

/** The methods share an application whose own settings, store and customizer would all prevent virtual time. */
@SpringBootTest(
        classes = {OrderApplication.class, SharedContextTests.Application.class},
        properties = {"spring.data.redis.port=1", "delay-queue.enabled=false"})
@AutoConfigureTestDelayQueue
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SharedContextTests {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    @TestConfiguration
    static class Application {

        @Bean
        QueueBackend ownStore() {
            return new InMemoryQueueStore(() -> 0);
        }

        @Bean
        DelayQueueCustomizer threads() {
            return builder -> builder.loops(LoopExecutor.THREADS);
        }

        @Bean
        ApplicationRunner sendsAtTheStart(DelayQueueTemplate template, DelayListenerRegistry listeners) {
            return arguments -> {
                template.send("start", "hello", MINUTE);
                listeners.container("paused").orElseThrow().pause();
            };
        }

        @DelayListener(topic = "paused")
        void paused(String text) {}

        @DelayListener(topic = "running")
        void running(String text) {}

        @DelayListener(topic = "manual", lease = "10m", concurrency = "1")
        void manual(String text, Acknowledgment acknowledgment) {}

        @DelayListener(topic = "short", lease = "5s")
        void shortLease(String text) {}
    }

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private DelayQueueTemplate template;

    @Autowired
    private DelayQueueEngine engine;

    @Autowired
    private DelayListenerRegistry registry;

    private ListenerContainer container(String id) {
        return registry.container(id).orElseThrow();
    }

    @Test
    @Order(1)
    void hasTheMessagesOfTheStart() {
        assertThat(queue).hasWaiting("start");
    }

    @Test
    @Order(2)
    void hasThemInTheFirstTestOnly() {
        assertThat(queue).hasNoMessages("start");
    }

    @Test
    @Transactional
    void refusesToAdvanceWithinATransaction() {
        assertThatThrownBy(() -> queue.advance(MINUTE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TestTransaction.end()");
        assertThatThrownBy(queue::runDue).isInstanceOf(IllegalStateException.class);

        TestTransaction.end();
        queue.advance(MINUTE);
    }

    @Test
    @Order(3)
    void recordsARunOfAListenerOfTheTestOnce() {
        queue.listen("mails", String.class, message -> {});
        template.send("mails", "x");

        queue.runDue();

        assertThat(queue).hasRunTimes("mails", 1).hasNoMessages("mails");
    }

    @Test
    @Order(4)
    void endsListenersOfTheTestBefore() {
        template.send("mails", "x");
        queue.advance(MINUTE);
        assertThat(queue).hasNotRun("mails").hasWaiting("mails");

        queue.listen("mails", Integer.class, message -> {});
        queue.advance(MINUTE);
        assertThat(queue.runs()).isEmpty();
    }

    @Test
    @Order(5)
    void closesOnlyListenersOfTheTest() {
        ListenerContainer container = queue.listen("mails", String.class, message -> {});

        queue.close();

        assertThat(container.isRunning()).isFalse();
        assertThat(container("running").isRunning()).isTrue();
    }

    @Test
    @Order(6)
    void deliversAfterATestHasClosedTheQueue() {
        template.send("running", "x");

        queue.runDue();

        assertThat(queue).hasRunTimes("running", 1);
    }

    @Test
    @Order(7)
    void leavesPausesAndPauseRequestsBehind() {
        String node = engine.fleet().nodes().get(0).id();
        engine.fleet().pauseListener(node, "running", "ann");
        container("paused").resume();
        queue.time().skip(Duration.ofDays(1));
    }

    @Test
    @Order(8)
    void beginsWithListenersAsAtTheStart() {
        assertThat(container("running").isPaused()).isFalse();
        assertThat(container("paused").isPaused()).isTrue();
        queue.advance(MINUTE);
        assertThat(container("running").isPaused()).isFalse();
    }

    @Test
    @Order(9)
    void leavesAMessageOpen() {
        template.send("manual", "never settled");

        queue.runDue();

        assertThat(queue).hasRunTimes("manual", 1);
    }

    /** The open message took the only permit of its listener, for a lease of 10 minutes. */
    @Test
    @Order(10)
    void beginsWithoutOpenMessages() {
        template.send("manual", "next");

        queue.runDue();

        assertThat(queue).hasRunTimes("manual", 1);
    }

    /** The clock of a context that other test classes have used before is old. */
    @Test
    @Order(11)
    void beginsAtThePresentTime() {
        queue.time().setClock(Instant.EPOCH);

        beginTestMethod();

        assertThat(queue.now()).isBetween(Instant.now().minusSeconds(30), Instant.now());
    }

    @Test
    void endsLeasesInTimeInAnOldContext() {
        queue.time().setClock(Instant.EPOCH);
        queue.advance(Duration.ofSeconds(1));

        beginTestMethod();

        template.send("short", "x");
        queue.faults().crashAfterNextHandler();
        queue.advance(Duration.ofSeconds(6));
        assertThat(queue).hasRunTimes("short", 2).hasNoMessages("short");
    }

    private static void beginTestMethod() {
        new ResetDelayQueueTestExecutionListener()
                .beforeTestMethod(new TestContextManager(SharedContextTests.class).getTestContext());
    }
}
