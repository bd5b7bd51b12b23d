package io.easykit.delayqueue.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.StoreUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DelayQueueTesterTests {

    private static final String TOPIC = "order-close";
    private static final Duration HALF_AN_HOUR = Duration.ofMinutes(30);

    record CloseOrder(long id) {}

    private final DelayQueueTester queue = DelayQueueTester.create();
    private final List<String> closed = new ArrayList<>();

    @AfterEach
    void close() {
        queue.close();
    }

    private void listen() {
        queue.listen(
                TOPIC, CloseOrder.class, message -> closed.add(message.payload().id() + " at " + queue.now()));
    }

    private void send(long id, Duration delay) {
        queue.template().send(TOPIC, new CloseOrder(id), delay);
    }

    @Test
    void runsDueHandlersOnTheThreadOfTheTestBeforeAdvanceReturns() {
        List<Thread> threads = new ArrayList<>();
        queue.listen(TOPIC, CloseOrder.class, message -> threads.add(Thread.currentThread()));
        send(42, HALF_AN_HOUR);

        queue.advance(HALF_AN_HOUR.minusMillis(1));
        assertThat(threads).isEmpty();
        assertThat(queue).hasWaiting(TOPIC).dueIn(Duration.ofMillis(1));

        queue.advance(Duration.ofMillis(1));
        assertThat(threads).containsExactly(Thread.currentThread());
        assertThat(queue).hasRunTimes(TOPIC, 1).hasNoMessages(TOPIC);
    }

    @Test
    void runsEachHandlerAtTheTimeAtWhichItsMessageIsDue() {
        Instant start = queue.now();
        listen();
        send(2, Duration.ofHours(2));
        send(1, Duration.ofHours(1));

        queue.advance(Duration.ofDays(1));

        assertThat(closed)
                .containsExactly("1 at " + start.plus(Duration.ofHours(1)), "2 at " + start.plus(Duration.ofHours(2)));
    }

    @Test
    void runsMessagesThatAreSentBeforeTheirListenerStarts() {
        send(42, Duration.ZERO);
        listen();

        queue.runDue();

        assertThat(closed).hasSize(1);
    }

    @Test
    void runsMessagesThatHandlersSendWhileTimeAdvances() {
        List<Integer> steps = new ArrayList<>();
        queue.listen("steps", Integer.class, message -> {
            steps.add(message.payload());
            if (message.payload() < 5) {
                queue.template().send("steps", message.payload() + 1, Duration.ofMinutes(10));
            }
        });
        queue.template().send("steps", 1);

        queue.advance(Duration.ofMinutes(30));
        assertThat(steps).containsExactly(1, 2, 3, 4);
        queue.advance(Duration.ofMinutes(10));
        assertThat(steps).containsExactly(1, 2, 3, 4, 5);
    }

    @Test
    void refusesAHandlerThatAdvancesTheTime() {
        queue.listen(TOPIC, CloseOrder.class, message -> queue.advance(HALF_AN_HOUR));
        Instant start = queue.now();
        send(42, Duration.ZERO);

        queue.advance(Duration.ofSeconds(10));

        assertThat(queue)
                .hasDeadLetter(TOPIC)
                .withError("Advance it in the test only")
                .withFailures(3);
        assertThat(queue.now()).isEqualTo(start.plusSeconds(10));
    }

    @Test
    void refusesHandlersThatSendAtTheSameInstantWithoutEnd() {
        queue.listen("endless", String.class, message -> queue.template().send("endless", "again"));
        queue.template().send("endless", "first");

        assertThatThrownBy(queue::runDue)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Give messages that handlers send to their own topic a delay");
        queue.close();
        assertThat(queue.admin().stats("endless").due()).isEqualTo(1);
    }

    @Test
    void retriesAndKeepsDeadLetters() {
        queue.listen(
                ListenerEndpoint.builder("close", TOPIC, CloseOrder.class)
                        .retry(RetryPolicy.fixed(2, Duration.ofMinutes(5)))
                        .build(),
                message -> {
                    throw new IllegalStateException("the payment is pending");
                });
        send(42, HALF_AN_HOUR);

        queue.advance(HALF_AN_HOUR);
        assertThat(queue).hasWaiting(TOPIC).dueIn(Duration.ofMinutes(5)).withFailures(1);

        queue.advance(Duration.ofMinutes(5));
        assertThat(queue).hasDeadLetter(TOPIC).withPayload(new CloseOrder(42)).withError("the payment is pending");
        assertThat(queue.runs()).extracting(HandlerRun::attempt).containsExactly(1, 2);
        assertThat(queue.runs().get(1).error()).hasMessage("the payment is pending");
    }

    @Test
    void takesMessagesOfOtherThreads() throws Exception {
        listen();
        CompletableFuture<Void> sender = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < 200; i++) {
                send(i, Duration.ofMinutes(1));
            }
        });
        for (int i = 0; i < 100; i++) {
            queue.advance(Duration.ofSeconds(1));
        }
        sender.get(20, TimeUnit.SECONDS);

        queue.advance(Duration.ofMinutes(1));

        assertThat(queue).hasRunTimes(TOPIC, 200).hasNoMessages(TOPIC);
    }

    @Test
    void advancesByTwoThreadsOneAfterTheOther() throws Exception {
        Instant start = queue.now();
        listen();
        for (int i = 0; i < 50; i++) {
            send(i, Duration.ofSeconds(i));
        }
        Executor threads = task -> new Thread(task).start();
        CompletableFuture<Void> first = CompletableFuture.runAsync(() -> queue.advance(Duration.ofMinutes(1)), threads);
        CompletableFuture<Void> second =
                CompletableFuture.runAsync(() -> queue.advance(Duration.ofMinutes(1)), threads);
        CompletableFuture.allOf(first, second).get(20, TimeUnit.SECONDS);

        assertThat(queue.now()).isEqualTo(start.plus(Duration.ofMinutes(2)));
        assertThat(queue.runs())
                .extracting(run -> ((CloseOrder) run.payload()).id())
                .containsExactlyElementsOf(LongStream.range(0, 50).boxed().toList());
    }

    @Test
    void failsSendsWhileTheStoreIsAwayAndDeliversAfterwards() {
        listen();
        send(42, HALF_AN_HOUR);
        queue.faults().storeAway();

        assertThatThrownBy(() -> send(43, HALF_AN_HOUR))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("StoreFaults.storeAway()");
        queue.advance(HALF_AN_HOUR);
        assertThat(closed).isEmpty();

        queue.faults().heal();
        queue.advance(Duration.ofMinutes(1));
        assertThat(closed).hasSize(1).first().asString().startsWith("42 at");
    }

    @Test
    void waitsInVirtualTimeForAStoreThatIsAway() {
        queue.faults().storeAway();
        queue.time().schedule(Duration.ofSeconds(20), () -> queue.faults().heal());

        queue.template()
                .send(OutgoingMessage.of(TOPIC, new CloseOrder(42))
                        .after(HALF_AN_HOUR)
                        .sendTimeout(Duration.ofMinutes(1)));

        assertThat(queue).hasWaiting(TOPIC).withPayload(new CloseOrder(42));
    }

    @Test
    void storesAMessageWhoseReplyIsLost() {
        queue.faults().loseReplyOfNextSend();

        assertThatThrownBy(() -> send(42, HALF_AN_HOUR)).isInstanceOf(StoreUnavailableException.class);
        send(43, HALF_AN_HOUR);

        assertThat(queue).hasWaiting(TOPIC).times(2).withPayload(new CloseOrder(42));
    }

    @Test
    void deliversAgainAfterACrashBeforeTheHandler() {
        listen();
        send(42, Duration.ZERO);
        queue.faults().crashBeforeNextHandler();

        queue.runDue();
        assertThat(queue).hasNotRun(TOPIC);

        queue.advance(Duration.ofMinutes(2));
        assertThat(queue).hasRunTimes(TOPIC, 1).hasNoMessages(TOPIC);
    }

    @Test
    void deliversTwiceAfterACrashBeforeTheAcknowledgement() {
        listen();
        send(42, Duration.ZERO);
        queue.faults().crashAfterNextHandler();

        queue.runDue();
        assertThat(queue).hasRunTimes(TOPIC, 1);

        queue.advance(Duration.ofMinutes(2));
        assertThat(queue).hasRunTimes(TOPIC, 2).hasNoMessages(TOPIC);
        assertThat(queue.runs())
                .extracting(HandlerRun::id)
                .containsOnly(queue.runs().get(0).id());
    }

    @Test
    void startsAnewAfterAReset() {
        listen();
        send(42, HALF_AN_HOUR);
        queue.listen("fails", String.class, message -> {
            throw new IllegalStateException("always");
        });
        queue.template().send("fails", "x");
        queue.advance(Duration.ofMinutes(1));
        queue.faults().storeAway();

        queue.reset();

        assertThat(queue).hasNoMessages(TOPIC).hasNoMessages("fails").hasNotRun("fails");
        assertThat(queue.now()).isBetween(Instant.now().minusSeconds(60), Instant.now());
        send(43, HALF_AN_HOUR);
        assertThat(queue).hasWaiting(TOPIC).dueIn(HALF_AN_HOUR);
        queue.advance(HALF_AN_HOUR);
        assertThat(queue).hasRunTimes(TOPIC, 1);
    }

    /** The listener goes on. It saw the clock of the test. */
    @Test
    void endsLeasesInTimeAfterATestThatHasSetTheClock() {
        queue.listen(
                ListenerEndpoint.builder("short", "short", String.class)
                        .lease(Duration.ofSeconds(5))
                        .build(),
                message -> {});
        queue.time().setClock(Instant.EPOCH);
        queue.advance(Duration.ofSeconds(1));

        queue.reset();

        queue.template().send("short", "x");
        queue.faults().crashAfterNextHandler();
        queue.advance(Duration.ofSeconds(6));
        assertThat(queue).hasRunTimes("short", 2).hasNoMessages("short");
    }

    /** It would wait for 60 s, if nothing ran the loops of the listener. */
    @Test
    @Timeout(30)
    void stopsAListenerWithinAHandlerOfAnother() {
        var container = queue.listen("other", String.class, message -> closed.add("never"));
        queue.listen("stops", String.class, message -> container.stop());
        queue.template().send("stops", "now");

        queue.runDue();

        assertThat(container.isRunning()).isFalse();
        queue.template().send("other", "x");
        queue.advance(HALF_AN_HOUR);
        assertThat(queue).hasWaiting("other").and().hasNotRun("other");
    }
}
