package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class StopTests {

    private static final Duration MILLI = Duration.ofMillis(1);

    private final TestQueue queue = new TestQueue();
    private final List<Acknowledgment> running = new ArrayList<>();

    @Test
    void claimsNoMoreAndWaitsForWhatRuns() {
        ListenerContainer container = queue.start(
                listener().ackMode(AckMode.MANUAL).concurrency(2), message -> running.add(message.acknowledgment()));
        IntStream.range(0, 5).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(MILLI);

        container.beginStop();
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(container.hasEnded()).isFalse();
        assertThat(running).hasSize(2);

        running.forEach(Acknowledgment::acknowledge);
        queue.time.advance(MILLI);
        assertThat(container.hasEnded()).isTrue();
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(2);
        assertThat(queue.stats().inFlight()).isZero();
        assertThat(queue.stats().due()).isEqualTo(3);
    }

    @Test
    void givesUpWhatDoesNotEndInTimeAtTheCostOfALease() {
        ListenerContainer container = queue.start(
                listener().ackMode(AckMode.MANUAL).stopTimeout(Duration.ofSeconds(20)),
                message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);

        container.beginStop();
        queue.time.advance(Duration.ofMillis(19_990));
        assertThat(queue.find("a").state()).isEqualTo(State.IN_FLIGHT);
        queue.time.advance(Duration.ofMillis(20));

        assertThat(container.hasEnded()).isTrue();
        assertThat(running.get(0).isLost()).isTrue();
        assertThat(queue.find("a").state()).isEqualTo(State.WAITING);
        assertThat(queue.history("a").releases()).isZero();
        assertThat(queue.history("a").leaseExpirations()).isEqualTo(1);
        assertThat(queue.history("a").failures()).isZero();
    }

    /** A handler may call System.exit, or hang until the process is killed: each time the stop waits in vain. */
    @ParameterizedTest
    @EnumSource(names = {"NONE", "LOST_REQUEST", "LOST_REPLY"})
    void buriesAMessageWhoseHandlerNeverEndsAfterSoManyStops(FaultyStore.Fault fault) {
        ListenerEndpoint.Builder endpoint =
                listener().ackMode(AckMode.MANUAL).maxLeaseExpirations(3).stopTimeout(Duration.ofSeconds(1));
        ListenerContainer container = queue.start(endpoint, message -> {});
        queue.line.once("giveUp", fault);
        queue.send("a", Duration.ZERO);
        for (int i = 1; i <= 3; i++) {
            queue.time.advance(Duration.ofSeconds(1));
            assertThat(queue.runs).hasSize(i);
            queue.stop(container);
            container.start();
        }
        queue.time.advance(Duration.ofMinutes(5));

        assertThat(queue.runs).hasSize(3);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.lastError("a")).isEqualTo(MessageInfo.ErrorNote.LEASE_LOST);
        if (fault != FaultyStore.Fault.LOST_REPLY) {
            assertThat(queue.events(DelayQueueEvent.Died.class)).hasSize(1);
        }
    }

    @Test
    void releasesAtOnceWhatWasClaimedAndNotStarted() {
        List<Runnable> queued = new ArrayList<>();
        TestQueue slow = new TestQueue(builder -> builder.workers(queued::add));
        ListenerContainer container = slow.start(listener().concurrency(3), message -> {});
        IntStream.range(0, 3).forEach(i -> slow.send("m" + i, Duration.ZERO));
        slow.time.advance(MILLI);
        assertThat(slow.stats().inFlight()).isEqualTo(3);

        container.beginStop();
        slow.time.advance(MILLI);

        assertThat(container.hasEnded()).isTrue();
        assertThat(slow.stats().due()).isEqualTo(3);
        queued.forEach(Runnable::run);
        assertThat(slow.runs).isEmpty();
    }

    @Test
    void releasesWhatAnUnansweredClaimHasTaken() {
        ListenerContainer container = queue.start(listener().lease(Duration.ofHours(1)), message -> {});
        queue.time.advance(Duration.ofSeconds(2));
        queue.line.once("claim", FaultyStore.Fault.LOST_REPLY);
        queue.send("a", Duration.ZERO);
        queue.time.advanceUntil(
                Duration.ofSeconds(1), "it is claimed", () -> queue.stats().inFlight() == 1);

        queue.stop(container);

        assertThat(queue.runs).isEmpty();
        assertThat(queue.stats().due()).isEqualTo(1);
    }

    @Test
    void doesNotHangWhenTheStoreIsAway() {
        ListenerContainer container =
                queue.start(listener().ackMode(AckMode.MANUAL), message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.line.away();
        container.beginStop();
        running.get(0).acknowledge();
        queue.time.advance(Duration.ofSeconds(3));

        assertThat(container.hasEnded()).isTrue();
    }

    @Test
    void startsAndStopsAgainAndAgain() {
        ListenerContainer container = queue.start(listener(), message -> {});
        for (int i = 0; i < 5; i++) {
            queue.send("m" + i, Duration.ZERO);
            queue.time.advance(MILLI);
            queue.stop(container);
            assertThat(container.isRunning()).isFalse();
            container.start();
            container.start();
            queue.time.advance(MILLI);
        }

        assertThat(queue.runIds()).containsExactly("m0", "m1", "m2", "m3", "m4");
    }

    @Test
    void waitsForAHandlerThatHasSettledEarlyAndStillWorks() throws InterruptedException {
        CountDownLatch settled = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicBoolean undisturbed = new AtomicBoolean();
        DelayQueueEngine real = DelayQueueEngine.builder(
                        new InMemoryQueueStore(() -> System.currentTimeMillis() * 1000))
                .codec(new TestQueue.TextCodec())
                .build();
        ListenerContainer container = real.container(listener().build(), (DelayMessage<String> message) -> {
            message.acknowledgment().acknowledge();
            settled.countDown();
            release.await();
            undisturbed.set(true);
        });
        container.start();
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "x"));
        settled.await();

        Thread stop = new Thread(container::stop);
        stop.start();
        await().until(container::hasEnded);
        assertThat(container.isRunning()).isTrue();
        release.countDown();
        stop.join();

        assertThat(undisturbed).isTrue();
        real.close();
    }

    private static DelayQueueEngine realEngine(DelayQueueListener listener) {
        return realEngine(new InMemoryQueueStore(() -> System.currentTimeMillis() * 1000), listener);
    }

    private static DelayQueueEngine realEngine(QueueBackend store, DelayQueueListener listener) {
        return DelayQueueEngine.builder(store)
                .codec(new TestQueue.TextCodec())
                .listener(listener)
                .build();
    }

    @Test
    void completesAStopThatAHandlerAsksForAndStartsAgain() {
        DelayQueueEngine real = realEngine(new DelayQueueListener() {});
        AtomicReference<ListenerContainer> self = new AtomicReference<>();
        AtomicInteger runs = new AtomicInteger();
        ListenerContainer container = real.container(listener().build(), (DelayMessage<String> message) -> {
            runs.incrementAndGet();
            if (message.payload().equals("stop")) {
                self.get().stop();
            } else if (message.payload().equals("restart")) {
                self.get().stop();
                self.get().start();
            }
        });
        self.set(container);
        container.start();

        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "stop"));
        await().until(() -> !container.isRunning());
        assertThat(runs).hasValue(1);
        assertThat(real.stats(TestQueue.TOPIC).waiting()).isZero();

        container.start();
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "restart"));
        await().until(() -> runs.get() == 2);
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "x"));
        await().until(() -> runs.get() == 3);

        container.stop();
        assertThat(container.isRunning()).isFalse();
        real.close();
    }

    @Test
    void completesAStopOfAnInterruptedThread() {
        DelayQueueEngine real = realEngine(new DelayQueueListener() {});
        AtomicInteger runs = new AtomicInteger();
        ListenerContainer container =
                real.container(listener().build(), (DelayMessage<String> message) -> runs.incrementAndGet());
        container.start();

        Thread.currentThread().interrupt();
        container.stop();
        assertThat(Thread.interrupted()).isTrue();
        await().until(() -> !container.isRunning());

        Thread.currentThread().interrupt();
        container.start();
        assertThat(Thread.interrupted()).isTrue();
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "x"));
        await().until(() -> runs.get() == 1);
        container.stop();
        real.close();
    }

    @Test
    void startsWhenTheStopThatIsUnderWayHasEnded() throws InterruptedException {
        DelayQueueEngine real = realEngine(new DelayQueueListener() {});
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        ListenerContainer container = real.container(listener().build(), (DelayMessage<String> message) -> {
            begun.countDown();
            release.await();
            runs.incrementAndGet();
        });
        container.start();
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "x"));
        begun.await();
        Thread stop = new Thread(container::stop);
        stop.start();
        await().until(() -> stop.getState() == Thread.State.WAITING);
        Thread start = new Thread(container::start);
        start.start();
        await().until(() -> start.getState() == Thread.State.WAITING);
        release.countDown();
        stop.join();
        start.join();
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "y"));

        await().until(() -> runs.get() == 2);
        container.stop();
        real.close();
    }

    /** A listener that takes its time for a death; other messages of the shard need their leases renewed meanwhile. */
    @Test
    void renewsLeasesWhileAListenerOfEventsBlocks() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        List<DelayQueueEvent> lost = new CopyOnWriteArrayList<>();
        AtomicInteger renewals = new AtomicInteger();
        FaultyStore watched = new FaultyStore(new InMemoryQueueStore(() -> System.currentTimeMillis() * 1000));
        watched.plan(method -> {
            if (method.equals("extend")) {
                renewals.incrementAndGet();
            }
            return FaultyStore.Fault.NONE;
        });
        DelayQueueEngine real = realEngine(watched.asStore(), new DelayQueueListener() {
            @Override
            public void onDied(DelayQueueEvent.Died event) {
                told.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }

            @Override
            public void onLeaseLost(DelayQueueEvent.LeaseLost event) {
                lost.add(event);
            }
        });
        List<Acknowledgment> held = new CopyOnWriteArrayList<>();
        ListenerContainer container = real.container(
                listener()
                        .concurrency(2)
                        .ackMode(AckMode.MANUAL)
                        .lease(Duration.ofMillis(4500))
                        .retry(RetryPolicy.fixed(1, Duration.ZERO))
                        .build(),
                (DelayMessage<String> message) -> {
                    if (message.payload().equals("dies")) {
                        throw new IllegalStateException("no");
                    }
                    held.add(message.acknowledgment());
                });
        container.start();
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "held"));
        await().until(() -> held.size() == 1);
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "dies"));
        told.await();
        int before = renewals.get();
        await().until(() -> renewals.get() >= before + 2);

        assertThat(held.get(0).isLost()).isFalse();
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "next"));
        await().until(() -> held.size() == 2);
        release.countDown();
        held.forEach(Acknowledgment::acknowledge);
        container.stop();
        assertThat(lost).isEmpty();
        real.close();
    }

    @Test
    void tellsOfADeathBeforeTheStopReturns() {
        List<DelayQueueEvent> died = new CopyOnWriteArrayList<>();
        DelayQueueEngine real = realEngine(new DelayQueueListener() {
            @Override
            public void onDied(DelayQueueEvent.Died event) {
                died.add(event);
            }
        });
        CountDownLatch begun = new CountDownLatch(1);
        ListenerContainer container = real.container(
                listener().retry(RetryPolicy.fixed(1, Duration.ZERO)).build(), (DelayMessage<String> message) -> {
                    begun.countDown();
                    throw new IllegalStateException("no");
                });
        container.start();
        real.template().send(OutgoingMessage.of(TestQueue.TOPIC, "dies"));
        await().until(() -> begun.getCount() == 0);
        container.stop();

        assertThat(died).hasSize(1);
        real.close();
    }

    static Stream<Throwable> refusals() {
        return Stream.of(new IllegalStateException("full"), new OutOfMemoryError("unable to create native thread"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void releasesWhatNoWorkerTakesAndTriesAgain(Throwable refusal) {
        AtomicInteger refusals = new AtomicInteger(1);
        List<TestQueue> self = new ArrayList<>();
        TestQueue full = new TestQueue(builder -> builder.workers(task -> {
            if (refusals.getAndDecrement() > 0) {
                throw StopTests.<RuntimeException>sneaky(refusal);
            }
            self.get(0).node.after(Duration.ZERO, task);
        }));
        self.add(full);
        full.start(listener(), message -> {});
        full.send("a", Duration.ZERO);
        full.time.advance(Duration.ofSeconds(2));

        assertThat(full.runIds()).containsExactly("a");
        assertThat(full.stats().counters().acknowledged()).isEqualTo(1);
        assertThat(full.stats().counters().leaseExpirations()).isZero();
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E sneaky(Throwable any) throws E {
        throw (E) any;
    }
}
