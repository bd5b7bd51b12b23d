package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.memory.StoreState;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicMonitorTests {

    private final TestQueue queue = new TestQueue();

    @Test
    void tellsOnceForAllNodesWhenALimitIsExceededAndWhenItNoLongerIs() {
        ListenerEndpoint.Builder endpoint = listener().alerts(new AlertLimits(Duration.ofMinutes(1), 3L, null, null));
        List<ListenerContainer> containers = IntStream.range(0, 3)
                .mapToObj(i -> queue.start(
                        queue.builder(queue.time.node(), queue.memory).build(), endpoint, message -> {}))
                .toList();
        containers.forEach(ListenerContainer::pause);
        IntStream.range(0, 10).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofMinutes(10));

        assertThat(queue.events(DelayQueueEvent.AlertRaised.class))
                .extracting(DelayQueueEvent.AlertRaised::kind)
                .containsExactly(Kind.DUE, Kind.LATENESS);
        assertThat(queue.events(DelayQueueEvent.AlertRaised.class).get(0).value())
                .isEqualTo(10);

        containers.forEach(ListenerContainer::resume);
        queue.time.advance(Duration.ofMinutes(1));

        assertThat(queue.events(DelayQueueEvent.AlertResolved.class))
                .extracting(DelayQueueEvent.AlertResolved::kind)
                .containsExactlyInAnyOrder(Kind.DUE, Kind.LATENESS);
    }

    @Test
    void tellsThatALimitIsNoLongerExceededAlsoIfTheNodesThatToldOfItAreGone() {
        ListenerEndpoint.Builder endpoint = listener().alerts(new AlertLimits(null, 3L, null, null));
        ListenerContainer container = queue.start(endpoint, message -> {});
        container.pause();
        IntStream.range(0, 10).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(queue.events(DelayQueueEvent.AlertRaised.class)).hasSize(1);
        queue.stop(container);
        queue.time.advance(Duration.ofMinutes(30));

        DelayQueueEngine restarted =
                queue.builder(queue.time.node(), queue.memory).build();
        queue.start(restarted, endpoint, message -> {});
        queue.time.advance(Duration.ofMinutes(1));

        assertThat(queue.events(DelayQueueEvent.AlertRaised.class)).hasSize(1);
        assertThat(queue.events(DelayQueueEvent.AlertResolved.class))
                .containsExactly(new DelayQueueEvent.AlertResolved(TOPIC, Kind.DUE));
    }

    /** Two nodes, of which the first one checks first. */
    private List<ListenerContainer> startTwoOverTheLimit() {
        ListenerEndpoint.Builder endpoint = listener().alerts(new AlertLimits(null, 3L, null, null));
        ListenerContainer first = queue.start(endpoint, message -> {});
        first.pause();
        IntStream.range(0, 10).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofSeconds(11));
        ListenerContainer second =
                queue.start(queue.builder(queue.time.node(), queue.memory).build(), endpoint, message -> {});
        second.pause();
        return List.of(first, second);
    }

    private void assertReported(int raised, int resolved) {
        assertThat(queue.events(DelayQueueEvent.AlertRaised.class)).hasSize(raised);
        assertThat(queue.events(DelayQueueEvent.AlertResolved.class)).hasSize(resolved);
    }

    @ParameterizedTest
    @EnumSource(names = {"LOST_REQUEST", "LOST_REPLY"})
    void reportsEachChangeOnceAlthoughAReplyIsLost(Fault fault) {
        queue.line.once("raise", fault);
        List<ListenerContainer> nodes = startTwoOverTheLimit();
        queue.time.advance(Duration.ofSeconds(30));
        assertReported(1, 0);
        queue.time.advance(Duration.ofMinutes(10));
        assertReported(1, 0);

        queue.line.once("resolve", fault);
        nodes.forEach(ListenerContainer::resume);
        queue.time.advance(Duration.ofSeconds(40));
        assertReported(1, 1);
        queue.time.advance(Duration.ofMinutes(10));
        assertReported(1, 1);
        assertThat(queue.engine.stats(TOPIC).alerts()).isEmpty();
    }

    @Test
    void reportsALimitAlthoughAnotherCheckGetsNoThread() {
        queue.start(listener().alerts(new AlertLimits(null, 3L, null, null)), message -> {})
                .pause();
        IntStream.range(0, 10).forEach(i -> queue.send("m" + i, Duration.ofMinutes(2)));
        queue.line.plan(method -> method.equals("declare") ? Fault.NO_THREAD : Fault.NONE);
        queue.time.advance(Duration.ofMinutes(1).plusSeconds(50));
        assertReported(0, 0);
        assertThat(queue.line.takeCalls()).contains("declare");

        queue.time.advance(Duration.ofSeconds(20));

        assertReported(1, 0);
    }

    /** Messages of the shard that is refused may still be over the limit. */
    @Test
    void resolvesNothingWhileAShardIsRefused() {
        queue.memory.declare(TOPIC, 2);
        ListenerContainer container =
                queue.start(listener().alerts(new AlertLimits(Duration.ofMinutes(1), 3L, null, null)), message -> {});
        container.pause();
        IntStream.range(0, 20).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofMinutes(2));
        assertReported(2, 0);

        container.resume();
        queue.line.planCall((method, shard) -> shard.shard() == 1 ? Fault.REFUSED : Fault.NONE);
        queue.time.advance(Duration.ofMinutes(2));
        assertReported(2, 0);

        queue.line.planCall((method, shard) -> Fault.NONE);
        queue.time.advance(Duration.ofMinutes(2));
        assertReported(2, 2);
    }

    /** As in a cluster, one of whose masters hangs. */
    @Test
    void watchesTheOtherShardsWhileOneDoesNotAnswer() {
        queue.memory.declare(TOPIC, 4);
        boolean[] fails = {true};
        ListenerContainer container = queue.start(
                listener()
                        .retry(RetryPolicy.fixed(1, Duration.ZERO))
                        .deadLetterRetention(Duration.ofHours(1))
                        .alerts(new AlertLimits(null, 3L, null, null)),
                message -> {
                    if (fails[0]) {
                        throw new IllegalStateException();
                    }
                });
        sendMany("dead", 40);
        queue.time.advance(Duration.ofSeconds(30));
        fails[0] = false;
        container.pause();
        sendMany("due", 40);
        queue.time.advance(Duration.ofMillis(10));
        assertThat(queue.memory.stats(new ShardKey(TOPIC, 2)).due()).isPositive();

        queue.line.planByShard(shard -> shard.shard() == 2 ? Fault.LOST_REQUEST : Fault.NONE);
        queue.time.advance(Duration.ofMinutes(62));
        assertReported(1, 0);
        for (int i : List.of(0, 1, 3)) {
            assertThat(queue.memory.stats(new ShardKey(TOPIC, i)).dead()).isZero();
        }

        container.resume();
        queue.time.advance(Duration.ofMinutes(1));
        assertReported(1, 0);

        queue.line.planByShard(shard -> Fault.NONE);
        queue.time.advance(Duration.ofMinutes(2));
        assertReported(1, 1);
        assertThat(queue.memory.stats(new ShardKey(TOPIC, 2)).dead()).isZero();
    }

    @Test
    void waitsForFewSilentShardsEachTime() {
        queue.memory.declare(TOPIC, 128);
        queue.start(
                        listener()
                                .deadLetterRetention(Duration.ofHours(1))
                                .alerts(new AlertLimits(null, 3L, null, null)),
                        message -> {})
                .pause();
        sendMany("due", 300);
        queue.time.advance(Duration.ofMillis(1));
        List<String> hung = new ArrayList<>();
        queue.line.planCall((method, shard) -> {
            boolean isOfTheMonitor = List.of("repair", "purge", "stats").contains(method);
            if (shard.shard() == 0 || shard.shard() >= 64) {
                return Fault.NONE;
            }
            if (isOfTheMonitor) {
                hung.add(method);
            }
            queue.time.pass(Duration.ofMillis(isOfTheMonitor ? 250 : 0));
            return Fault.LOST_REQUEST;
        });

        queue.time.advance(Duration.ofMinutes(2));

        assertReported(1, 0);
        assertThat(hung).hasSizeLessThan(12 * 6 + 64);
    }

    @Test
    void raisesAFailingAlertWhileAShardDoesNotAnswer() {
        queue.memory.declare(TOPIC, 4);
        queue.engine.join();
        boolean[] fails = {true};
        queue.start(
                listener()
                        .retry(RetryPolicy.fixed(1, Duration.ZERO))
                        .alerts(new AlertLimits(null, null, null, null, 0.5)),
                message -> {
                    if (fails[0]) {
                        throw new IllegalStateException();
                    }
                });
        queue.time.advance(Duration.ofMinutes(1));
        sendMany("m", 100);
        queue.line.planByShard(shard -> shard.shard() == 2 ? Fault.LOST_REQUEST : Fault.NONE);
        queue.time.advance(Duration.ofMinutes(3));
        assertReported(1, 0);

        queue.time.advance(Duration.ofMinutes(10));
        assertReported(1, 0);

        fails[0] = false;
        queue.line.planByShard(shard -> Fault.NONE);
        queue.time.advance(Duration.ofMinutes(10));
        assertReported(1, 1);
    }

    /** Its claim has been stored, and it has not reported. */
    @Test
    void anotherNodeReportsWhatAKilledOneDidNot() {
        queue.line.once("raise", Fault.KILLED_AFTER);
        ListenerContainer second = startTwoOverTheLimit().get(1);
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(queue.node.isAlive()).isFalse();
        assertReported(0, 0);
        queue.time.advance(Duration.ofMinutes(9));
        assertReported(1, 0);
        second.resume();
        queue.time.advance(Duration.ofMinutes(1));
        assertReported(1, 1);
    }

    @Test
    void anotherNodeReportsThatItIsOverWhereAKilledOneDidNot() {
        List<ListenerContainer> nodes = startTwoOverTheLimit();
        queue.time.advance(Duration.ofMinutes(1));
        queue.line.once("resolve", Fault.KILLED_AFTER);
        nodes.get(1).resume();
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(queue.node.isAlive()).isFalse();
        assertReported(1, 0);
        queue.time.advance(Duration.ofMinutes(9));
        assertReported(1, 1);
    }

    @Test
    void resolvesOnlyWhatIsRaised() {
        queue.start(listener().alerts(new AlertLimits(null, 3L, null, null)), message -> {});
        queue.time.advance(Duration.ofMinutes(1));

        assertThat(queue.line.takeCalls()).contains("stats").doesNotContain("resolve");
    }

    @Test
    void takesAFutureBacklogForNoAlarmUnlessALimitIsSet() {
        queue.start(listener().alerts(new AlertLimits(Duration.ZERO, 0L, 0L, null)), message -> {});
        IntStream.range(0, 10).forEach(i -> queue.send("m" + i, Duration.ofDays(1)));
        queue.time.advance(Duration.ofMinutes(1));

        assertThat(queue.events(DelayQueueEvent.AlertRaised.class)).isEmpty();
    }

    @Test
    void tellsOfDeadLetters() {
        queue.start(
                listener().retry(RetryPolicy.fixed(1, Duration.ZERO)).alerts(new AlertLimits(null, null, 0L, null)),
                message -> {
                    throw new IllegalStateException();
                });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(11));

        assertThat(queue.events(DelayQueueEvent.AlertRaised.class))
                .containsExactly(new DelayQueueEvent.AlertRaised(TOPIC, Kind.DEAD, 1, 0));
    }

    @Test
    void tellsOfFailingRunsOnceForAllNodesAndResolves() {
        ListenerEndpoint.Builder endpoint = listener()
                .retry(RetryPolicy.fixed(1, Duration.ZERO))
                .alerts(new AlertLimits(null, null, null, null, 0.5));
        boolean[] fails = {true};
        for (int i = 0; i < 3; i++) {
            DelayQueueEngine node =
                    queue.builder(queue.time.node(), queue.memory).build();
            node.join();
            queue.start(node, endpoint, message -> {
                if (fails[0]) {
                    throw new IllegalStateException();
                }
            });
        }
        queue.time.advance(Duration.ofMinutes(1));
        sendMany("few", 19);
        queue.time.advance(Duration.ofMinutes(10));
        assertThat(queue.events(DelayQueueEvent.AlertRaised.class))
                .as("too few runs")
                .isEmpty();

        sendMany("many", 20);
        queue.time.advance(Duration.ofMinutes(3));
        assertThat(queue.events(DelayQueueEvent.AlertRaised.class))
                .containsExactly(new DelayQueueEvent.AlertRaised(TOPIC, Kind.FAILING, 100, 50));
        assertThat(queue.engine.stats(TOPIC).alerts()).containsExactly(Kind.FAILING);

        fails[0] = false;
        sendMany("good", 100);
        queue.time.advance(Duration.ofMinutes(3));
        assertThat(queue.events(DelayQueueEvent.AlertResolved.class))
                .containsExactly(new DelayQueueEvent.AlertResolved(TOPIC, Kind.FAILING));
        assertThat(queue.engine.stats(TOPIC).alerts()).isEmpty();
    }

    /** As when an operator has paused most senders. */
    @Test
    void aFailingAlertStaysWhileTheFewRunsThatThereAreFail() {
        queue.engine.join();
        startFailing();
        queue.time.advance(Duration.ofMinutes(1));
        sendMany("many", 20);
        queue.time.advance(Duration.ofMinutes(3));
        for (int i = 0; i < 10; i++) {
            sendMany("few" + i, 3);
            queue.time.advance(Duration.ofMinutes(1));
            assertReported(1, 0);
        }

        queue.time.advance(Duration.ofMinutes(10));
        assertReported(1, 1);
    }

    /** The runs of the last minutes are not known then. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFailingAlertStaysWhileSamplesAreMissing(boolean grows) {
        queue.memory.declare(TOPIC, 2);
        queue.engine.join();
        startFailing();
        for (int i = 0; i < 10; i++) {
            sendMany("first" + i, 20);
            queue.time.advance(Duration.ofMinutes(1));
        }
        assertReported(1, 0);

        if (grows) {
            queue.engine.admin().growShards(TOPIC, 4);
        } else {
            queue.line.plan(method -> method.equals("sample") ? Fault.REFUSED : Fault.NONE);
        }
        for (int i = 0; i < 20; i++) {
            sendMany("then" + i, 20);
            queue.time.advance(Duration.ofMinutes(1));
            assertReported(1, 0);
        }
    }

    @ParameterizedTest
    @CsvSource({"0.05, 11, 6, 5", "0.05, 10,,", "0.29, 59, 30, 29", "0.29, 58,,", "0.004, 1, 1, 0", "0, 0,,"})
    void comparesTheShareOfFailedRunsExactly(
            double limit, int failing, @Nullable Integer value, @Nullable Integer shownLimit) {
        queue.engine.join();
        queue.start(
                listener()
                        .retry(RetryPolicy.fixed(1, Duration.ZERO))
                        .alerts(new AlertLimits(null, null, null, null, limit)),
                message -> {
                    if (Integer.parseInt(message.id().substring(1)) < failing) {
                        throw new IllegalStateException();
                    }
                });
        queue.time.advance(Duration.ofMinutes(1));
        sendMany("m", 200);
        queue.time.advance(Duration.ofMinutes(3));

        assertThat(queue.events(DelayQueueEvent.AlertRaised.class))
                .isEqualTo(
                        value == null || shownLimit == null
                                ? List.of()
                                : List.of(new DelayQueueEvent.AlertRaised(TOPIC, Kind.FAILING, value, shownLimit)));
    }

    /** Half of the runs may fail. All do. */
    private void startFailing() {
        queue.start(
                listener()
                        .retry(RetryPolicy.fixed(1, Duration.ZERO))
                        .alerts(new AlertLimits(null, null, null, null, 0.5)),
                message -> {
                    throw new IllegalStateException();
                });
    }

    private void sendMany(String name, int count) {
        IntStream.range(0, count).forEach(i -> queue.send(name + i, Duration.ZERO));
    }

    @Test
    void removesDeadLettersAfterTheirTime() {
        queue.start(
                listener().retry(RetryPolicy.fixed(1, Duration.ZERO)).deadLetterRetention(Duration.ofHours(1)),
                message -> {
                    throw new IllegalStateException();
                });
        IntStream.range(0, 250).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofMinutes(59));
        assertThat(queue.stats().dead()).isEqualTo(250);

        queue.time.advance(Duration.ofMinutes(3));
        assertThat(queue.stats().dead()).isZero();
        assertThat(queue.stats().counters().purged()).isEqualTo(250);
    }

    @Test
    void followsAShardCountThatTheStoreCorrects() {
        queue.memory.declare(TOPIC, 2);
        queue.start(listener(), message -> {});
        StoreState.redeclare(queue.memory, TOPIC, 4);
        queue.time.advance(Duration.ofMinutes(2));
        for (int i = 0; i < 40; i++) {
            queue.send("m" + i, Duration.ZERO);
        }

        // The restart is completed by a thread of its own.
        await().until(() -> {
            queue.time.advance(Duration.ofSeconds(1));
            return queue.runs.size() == 40;
        });
    }

    /** Once a minute it looks whether another node uses limits. */
    @Test
    void asksOnlyForOtherLimitsWhenThereIsNothingToLookAfter() {
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(299));

        List<String> calls = queue.line.takeCalls();
        assertThat(Collections.frequency(calls, "stats")).isEqualTo(5);
        assertThat(calls).doesNotContain("purge");
    }

    @Test
    void goesOnAfterAnOutageAndEndsWithTheContainer() {
        ListenerContainer container =
                queue.start(listener().alerts(new AlertLimits(null, null, 0L, null)), message -> {});
        queue.line.away();
        queue.time.advance(Duration.ofMinutes(1));
        queue.line.heal();
        queue.line.takeCalls();
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(queue.line.takeCalls()).contains("stats");

        queue.stop(container);
        queue.line.takeCalls();
        queue.time.advance(Duration.ofMinutes(5));
        assertThat(queue.line.takeCalls()).as("only the jobs are looked for").containsOnly("running");
    }

    @Test
    void raisesAlertsAlthoughTheStoreRefusesToRemoveDeadLetters() {
        QueueBackend refusing = (QueueBackend) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {QueueBackend.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("purge")) {
                        throw new StoreRefusedException(
                                "Redis refused purge.lua: the key has another type", new IllegalStateException());
                    }
                    return method.invoke(queue.memory, arguments);
                });
        DelayQueueEngine engine = queue.builder(queue.time.node(), refusing).build();
        ListenerEndpoint.Builder endpoint =
                listener().deadLetterRetention(Duration.ofDays(1)).alerts(new AlertLimits(null, 3L, null, null));
        queue.start(engine, endpoint, message -> {}).pause();
        IntStream.range(0, 10).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofMinutes(2));

        assertThat(queue.events(DelayQueueEvent.AlertRaised.class)).hasSize(1);
    }
}
