package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrefetchTests {

    private static final Duration MILLI = Duration.ofMillis(1);
    private static final int THREADS = 2;

    private Duration busy = Duration.ZERO;
    private final TestQueue queue = new TestQueue();
    private final DelayQueueEngine engine = queue.builder(queue.node, queue.line.asStore())
            .pools(endpoint -> queue.node.pool(endpoint.concurrency(), () -> busy))
            .build();

    private ListenerContainer startQuick(ListenerEndpoint.Builder endpoint) {
        ListenerContainer container = queue.start(engine, endpoint.concurrency(THREADS), message -> {});
        send("warm", 100);
        queue.time.advance(Duration.ofMillis(100));
        assertThat(queue.runs).hasSize(100);
        queue.runs.clear();
        queue.line.takeCalls();
        return container;
    }

    private void send(String prefix, int messages) {
        engine.template()
                .sendAll(IntStream.range(0, messages)
                        .mapToObj(i -> OutgoingMessage.of(TOPIC, "x").id(prefix + i))
                        .toList());
    }

    @Test
    void claimsMoreThanThereArePermitsOnceTheHandlerIsQuick() {
        startQuick(listener());

        send("m", 400);
        queue.time.advance(MILLI);

        assertThat(queue.runs).hasSize(400);
        assertThat(Collections.frequency(queue.line.takeCalls(), "claim")).isLessThan(12);
    }

    @Test
    void claimsNoMoreThanThereArePermitsWhileNothingIsKnownOfTheHandler() {
        busy = Duration.ofMinutes(1);
        queue.start(engine, listener().concurrency(THREADS), message -> {});
        send("m", 10);
        queue.time.advance(MILLI);

        assertThat(queue.stats().inFlight()).isEqualTo(THREADS);
    }

    @Test
    void releasesWhatTimesOutAndPrefetchesNothingAnyMore() {
        startQuick(listener());
        busy = Duration.ofMinutes(1);
        send("m", 90);
        queue.time.advance(MILLI);
        assertThat(queue.stats().inFlight()).isGreaterThan(10);

        queue.time.advance(Duration.ofMillis(21));

        assertThat(queue.stats().inFlight()).isEqualTo(THREADS);
        queue.line.takeCalls();
        queue.time.advance(Duration.ofSeconds(30));
        assertThat(queue.stats().due()).isEqualTo(90 - THREADS);
        assertThat(queue.line.takeCalls()).hasSizeLessThan(40);
    }

    @Test
    void leavesWhatWaitedInVainToAnotherNodeAtNoCost() {
        startQuick(listener());
        DelayQueueEngine other = queue.builder(queue.time.node(), queue.memory).build();
        busy = Duration.ofMinutes(1);
        send("m", 90);
        queue.time.advance(MILLI);

        queue.start(other, listener(), message -> {});
        queue.time.advance(Duration.ofMillis(50));

        assertThat(queue.runIds()).hasSize(90 - THREADS).doesNotHaveDuplicates();
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        assertThat(queue.stats().counters().failed()).isZero();
    }

    @Test
    void releasesAtAStopWhatHasNotStarted() {
        ListenerContainer container = startQuick(listener());
        busy = Duration.ofMinutes(1);
        send("m", 90);
        queue.time.advance(MILLI);

        container.beginStop();
        queue.time.advance(MILLI);

        assertThat(container.hasEnded()).isTrue();
        assertThat(queue.stats().due()).isEqualTo(90);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void prefetchesNothingBesideMessagesThatHaveLostALease(int lost) {
        startQuick(listener());
        busy = Duration.ofMinutes(1);
        queue.node.freeze();
        send("m", 50);
        loseLeases(lost);

        queue.node.thaw();
        queue.time.advance(MILLI);

        assertThat(queue.stats().inFlight()).isEqualTo(THREADS);
        queue.line.takeCalls();
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(queue.stats().inFlight()).isEqualTo(THREADS);
        assertThat(queue.line.takeCalls()).hasSizeLessThan(20);
    }

    @Test
    void waitsForAFreePermitWhereDueMessagesMayNotBePrefetched() {
        startQuick(listener());
        busy = Duration.ofSeconds(10);
        send("first", THREADS);
        queue.time.advance(MILLI);
        queue.node.freeze();
        send("suspect", 1);
        loseLeases(1);

        queue.node.thaw();
        queue.line.takeCalls();
        queue.time.advance(Duration.ofSeconds(8));
        assertThat(queue.stats().due()).isEqualTo(1);
        assertThat(queue.line.takeCalls()).hasSizeLessThan(20);

        queue.time.advance(Duration.ofSeconds(15));
        assertThat(queue.runs).hasSize(THREADS + 1);
    }

    /** A consumer claims so many due messages, and dies. */
    private void loseLeases(int messages) {
        ShardKey shard = new ShardKey(TOPIC, 0);
        queue.time.advance(MILLI);
        queue.memory.claim(shard, new Claim("dead", 1, messages, messages, Duration.ofMillis(5), List.of()));
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.memory.reap(shard, messages, 5, Duration.ZERO).lost()).hasSize(messages);
    }

    /** Else one that waits anew would go back before a younger one, which may begin meanwhile. */
    @Test
    void handsBackTheLatestFirstAlsoWhenTheyWaitAnew() {
        PrefetchedRuns runs = new PrefetchedRuns();
        List<String> handedBack = new ArrayList<>();
        runs.add(new WaitingRun("older", handedBack), 0);
        runs.add(new WaitingRun("younger", handedBack), TimeUnit.MILLISECONDS.toNanos(10));

        assertThat(runs.haveTimedOut(TimeUnit.MILLISECONDS.toNanos(28))).isFalse();
        assertThat(runs.haveTimedOut(TimeUnit.MILLISECONDS.toNanos(31))).isFalse();
        assertThat(runs.haveTimedOut(TimeUnit.MILLISECONDS.toNanos(48))).isTrue();
        runs.release();

        assertThat(handedBack).containsExactly("younger", "older");
    }

    private record WaitingRun(String name, List<String> handedBack) implements PrefetchedRuns.Run {

        @Override
        public boolean hasStarted() {
            return false;
        }

        @Override
        public void cancelIfNotStarted() {
            handedBack.add(name);
        }
    }

    @Test
    void givesTimeAnewOnceWhenTheNodeItselfStoodStill() {
        startQuick(listener());
        busy = Duration.ofMinutes(1);
        send("m", 90);
        queue.time.advance(MILLI);
        long held = queue.stats().inFlight();
        assertThat(held).isGreaterThan(10);

        queue.node.freeze();
        queue.time.advance(Duration.ofMillis(200));
        queue.node.thaw();
        queue.time.advance(Duration.ofMillis(15));
        assertThat(queue.stats().inFlight()).isEqualTo(held);

        queue.time.advance(Duration.ofMillis(10));
        assertThat(queue.stats().inFlight()).isEqualTo(THREADS);
    }

    @Test
    void neverPrefetchesWhereOneLostLeaseIsDeath() {
        startQuick(listener().maxLeaseExpirations(1));
        busy = Duration.ofMinutes(1);
        send("m", 50);
        queue.time.advance(MILLI);

        assertThat(queue.stats().inFlight()).isEqualTo(THREADS);
    }

    @Test
    void neverPrefetchesInManualMode() {
        queue.start(engine, listener().concurrency(THREADS).ackMode(AckMode.MANUAL), message -> message.acknowledgment()
                .acknowledge());
        send("warm", 200);
        queue.time.advance(Duration.ofMillis(100));
        assertThat(queue.runs).hasSize(200);
        queue.line.takeCalls();

        send("m", 100);
        queue.time.advance(MILLI);

        assertThat(Collections.frequency(queue.line.takeCalls(), "claim")).isGreaterThanOrEqualTo(100 / THREADS);
    }

    @ParameterizedTest
    @EnumSource(names = {"LOST_REQUEST", "LOST_REPLY"})
    void losesNothingWhenAPrefetchIsNotAnswered(Fault fault) {
        startQuick(listener());
        queue.line.once("claim", fault);
        send("m", 150);
        queue.time.advance(Duration.ofSeconds(5));

        assertThat(queue.runIds()).hasSize(150).doesNotHaveDuplicates();
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(250);
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
    }

    /** Quick runs, and now and then a slow one, during which prefetched messages are released. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void keepsTheOrderOfDueTimesWithOnePermit(int seed) {
        Random random = new Random(seed);
        queue.start(engine, listener(), message -> {});
        for (int i = 0; i < 600; i++) {
            String id = "m" + String.format("%04d", i);
            engine.template().send(OutgoingMessage.of(TOPIC, "x").id(id));
            boolean slow = random.nextInt(40) == 0;
            queue.time.advance(Duration.ofNanos(random.nextInt(2_000_000)));
            busy = slow ? Duration.ofMillis(10 + random.nextInt(40)) : Duration.ofNanos(random.nextInt(60_000));
        }
        busy = Duration.ZERO;
        queue.time.advance(Duration.ofSeconds(60));

        assertThat(queue.runIds()).hasSize(600).isSorted();
    }
}
