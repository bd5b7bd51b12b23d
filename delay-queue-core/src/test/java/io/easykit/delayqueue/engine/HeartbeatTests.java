package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.NodeInfo.Listener;
import io.easykit.delayqueue.admin.NodeInfo.Pause;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.memory.StoreState;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class HeartbeatTests {

    private final TestQueue queue =
            new TestQueue(builder -> builder.application("shop").version("easykit", "1"));

    private DelayQueueEngine another(SimulatedTime.Node process) {
        return queue.builder(process, queue.memory).build();
    }

    private NodeInfo first() {
        return queue.engine.fleet().nodes().get(0);
    }

    private Listener listenerOf(NodeInfo node) {
        return node.listeners().get(0);
    }

    private void advance(long seconds) {
        queue.time.advance(Duration.ofSeconds(seconds));
    }

    @Test
    void showsEachNodeWithItsListeners() {
        queue.start(listener().concurrency(8), message -> {});
        queue.engine.join();
        advance(65);

        NodeInfo node = first();
        assertThat(node.id()).startsWith("test/");
        assertThat(node.application()).isEqualTo("shop");
        assertThat(node.versions()).containsEntry("easykit", "1").containsKey("java");
        assertThat(Duration.between(node.startedAt(), node.seenAt())).isEqualTo(Duration.ofSeconds(60));
        assertThat(Duration.between(node.seenAt(), queue.time.now())).isEqualTo(Duration.ofSeconds(5));
        assertThat(node.listeners()).containsExactly(new Listener("close", TOPIC, 0, 8, Duration.ZERO, null));
        assertThat(node.places(TOPIC)).isEqualTo(8);
        assertThat(node.places("mail")).isZero();
    }

    /** As in an application, whose listeners start last. */
    @Test
    void showsAListenerThatStartsAfterTheNodeHasJoined() {
        queue.engine.join();
        advance(1);
        queue.start(listener(), message -> {});
        advance(1);

        assertThat(first().listeners()).hasSize(1);
    }

    @Test
    void countsTheCallsThatRunAndSinceWhen() {
        List<NodeInfo> seen = new ArrayList<>();
        queue.engine.join();
        queue.start(listener().concurrency(8).lease(Duration.ofMinutes(5)), message -> {
            advance(25);
            seen.add(first());
        });
        queue.send("slow", Duration.ZERO);
        advance(60);

        assertThat(listenerOf(seen.get(0)).busy()).isEqualTo(1);
        assertThat(listenerOf(seen.get(0)).oldestRun()).isBetween(Duration.ofSeconds(15), Duration.ofSeconds(25));
        assertThat(listenerOf(first()).busy()).isZero();
        assertThat(listenerOf(first()).oldestRun()).isZero();
    }

    @Test
    void costsOneCallEachTenSeconds() {
        queue.engine.join();
        queue.send("a", Duration.ZERO);
        advance(600);
        List<String> calls = queue.line.takeCalls();

        assertThat(Collections.frequency(calls, "beat")).isBetween(60, 61);
        assertThat(Collections.frequency(calls, "addTopics"))
                .as("once a minute")
                .isBetween(9, 11);
        assertThat(queue.engine.fleet().topics()).containsExactly(TOPIC);
    }

    @Test
    void reportsItsTopicsAgainAfterTheStoreHasLostThem() {
        queue.engine.join();
        queue.send("a", Duration.ZERO);
        advance(20);
        StoreState.loseFleet(queue.memory);
        advance(60);

        assertThat(queue.engine.fleet().topics()).containsExactly(TOPIC);
        assertThat(queue.engine.fleet().nodes()).hasSize(1);
    }

    /** It has used the topic once, and shards were added since. */
    @Test
    void aNodeThatNoLongerUsesATopicDoesNotReportItsOldCount() {
        queue.memory.declare(TOPIC, 2);
        queue.engine.join(); // the first node reads the counts of all topics for its alerts
        advance(1);
        DelayQueueEngine idle = another(queue.time.node());
        idle.join();
        idle.template().send(OutgoingMessage.of(TOPIC, "x"));
        advance(120);
        queue.engine.admin().growShards(TOPIC, 5);
        advance(11);

        for (int i = 0; i < 60; i++) {
            advance(7);
            assertThat(queue.memory.fleet().topics()).containsEntry(TOPIC, 5);
        }
    }

    @Test
    void refusesAnIntervalThatDoesNotFitTheSamples() {
        DelayQueueEngine.Builder builder = DelayQueueEngine.builder(queue.memory);
        builder.heartbeatInterval(Duration.ofMinutes(1));
        for (Duration interval : List.of(Duration.ofMillis(999), Duration.ofMillis(60_001))) {
            assertThatThrownBy(() -> builder.heartbeatInterval(interval))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 second to a minute");
        }
    }

    @Test
    void reportsTopicsOfAProcessThatEndsBeforeItsNextHeartbeat() {
        queue.engine.join();
        advance(1);
        queue.send("a", Duration.ZERO);
        queue.engine.beginLeaving();
        advance(1);

        assertThat(queue.engine.fleet().topics()).containsExactly(TOPIC);
    }

    @Test
    void showsNoTopicThatSomebodyOnlyCounted() {
        queue.engine.join();
        queue.engine.stats("mistyped");
        advance(60);

        assertThat(queue.engine.fleet().topics()).isEmpty();
    }

    @Test
    void forgetsAKilledNodeAfterThirtySecondsAndOneThatStopsAtOnce() {
        SimulatedTime.Node doomed = queue.time.node();
        DelayQueueEngine killed = another(doomed);
        DelayQueueEngine stopped = another(queue.time.node());
        queue.engine.join();
        killed.join();
        stopped.join();
        advance(5);
        assertThat(queue.engine.fleet().nodes()).hasSize(3);

        stopped.beginLeaving();
        advance(1);
        assertThat(queue.engine.fleet().nodes()).hasSize(2);
        doomed.kill();
        advance(23);
        assertThat(queue.engine.fleet().nodes()).hasSize(2);
        advance(2);
        assertThat(queue.engine.fleet().nodes()).hasSize(1);
    }

    @Test
    void comesBackUnderItsNameAfterALeave() {
        queue.engine.join();
        advance(1);
        assertThat(first().id()).isEqualTo(queue.engine.fleet().thisNode());
        queue.engine.beginLeaving();
        advance(1);
        queue.engine.join();
        queue.engine.join();
        advance(1);

        assertThat(queue.engine.fleet().nodes()).hasSize(1);
        assertThat(first().id()).isEqualTo(queue.engine.fleet().thisNode());
    }

    /** As when the class loader of the application is closed. */
    @Test
    void comesBackAfterALeaveThatFailsWithAnError() {
        queue.engine.join();
        advance(1);
        queue.line.plan(method -> method.equals("leave") ? FaultyStore.Fault.NO_THREAD : FaultyStore.Fault.NONE);
        queue.engine.beginLeaving();
        advance(5);
        assertThat(queue.line.takeCalls()).containsOnlyOnce("leave");

        queue.engine.join();
        queue.line.takeCalls();
        advance(1);

        assertThat(queue.line.takeCalls()).contains("beat");
    }

    /** Else the others would not see it until its next heartbeat. */
    @Test
    void comesBackOnlyAfterASlowLeave() {
        queue.engine.join();
        advance(1);
        queue.line.plan(method -> {
            if (method.equals("leave")) {
                queue.engine.join();
                advance(3);
                assertThat(queue.line.takeCalls()).doesNotContain("beat");
            }
            return FaultyStore.Fault.NONE;
        });
        queue.line.takeCalls();
        queue.engine.beginLeaving();
        advance(4);

        assertThat(queue.engine.fleet().nodes()).hasSize(1);
    }

    @Test
    void showsTheSettingsThatWereGivenBeforeItWasBuilt() {
        DelayQueueEngine.Builder builder = queue.builder(queue.time.node(), queue.memory);
        DelayQueueEngine built =
                builder.application("shop").version("easykit", "1").build();
        builder.application("other").version("easykit", "2").heartbeatInterval(Duration.ofMinutes(1));
        built.join();
        advance(11);

        assertThat(first().application()).isEqualTo("shop");
        assertThat(first().versions()).containsEntry("easykit", "1");
        assertThat(first().seenAt()).isAfterOrEqualTo(queue.time.now().minusSeconds(2));
    }

    @Test
    void pausesAndResumesAListenerOnOneNodeOnly() {
        DelayQueueEngine other = another(queue.time.node());
        queue.engine.join();
        advance(1);
        other.join();
        ListenerContainer here = queue.start(listener(), message -> {});
        ListenerContainer there = queue.start(other, listener(), message -> {});
        advance(20);
        Instant asked = queue.time.now();
        assertThat(other.fleet().pauseListener(first().id(), "close", "ops")).isTrue();
        advance(11);

        assertThat(here.isPaused()).isTrue();
        assertThat(there.isPaused()).isFalse();
        assertThat(listenerOf(first()).pause()).isEqualTo(new Pause(asked, "ops"));
        assertThat(first().places(TOPIC)).isZero();

        assertThat(other.fleet().resumeListener(first().id(), "close", "ops")).isTrue();
        advance(11);
        assertThat(here.isPaused()).isFalse();
        assertThat(listenerOf(first()).pause()).isNull();
        assertThat(other.fleet().pauseListener("gone", "close", "ops")).isFalse();
    }

    @Test
    void appliesAPauseRequestOnceSoThatTheApplicationCanResumeTheListener() {
        queue.engine.join();
        ListenerContainer container = queue.start(listener(), message -> {});
        advance(1);
        queue.engine.fleet().pauseListener(first().id(), "close", "ops");
        queue.line.plan(method -> method.equals("beat") ? FaultyStore.Fault.LOST_REPLY : FaultyStore.Fault.NONE);
        advance(30);
        assertThat(container.isPaused()).as("the reply is lost").isFalse();
        queue.line.heal();
        advance(10);
        assertThat(container.isPaused()).isTrue();

        container.resume();
        advance(60);
        assertThat(container.isPaused()).isFalse();
        container.pause();
        queue.engine.fleet().resumeListener(first().id(), "close", "ops");
        advance(11);
        assertThat(container.isPaused()).isFalse();
        container.pause();
        advance(60);
        assertThat(listenerOf(first()).pause()).isEqualTo(Pause.LOCAL);
    }

    @Test
    void appliesAPauseRequestForAListenerThatStartsLater() {
        queue.engine.join();
        advance(1);
        queue.engine.fleet().pauseListener(first().id(), "close", "ops");
        advance(20);
        ListenerContainer container = queue.start(listener(), message -> {});
        advance(20);

        assertThat(container.isPaused()).isTrue();
        queue.stop(container);
        advance(20);
        assertThat(first().listeners()).isEmpty();
    }

    @Test
    void delayOfTheStoreOrItsRefusalHoldsUpNothing() {
        queue.line.plan(method -> method.equals("beat") ? FaultyStore.Fault.REFUSED : FaultyStore.Fault.NONE);
        queue.engine.join();
        queue.start(listener(), message -> {});
        queue.send("a", Duration.ZERO);
        advance(60);
        assertThat(queue.runIds()).containsExactly("a");
        assertThat(queue.engine.fleet().nodes()).isEmpty();

        queue.line.heal();
        advance(11);
        assertThat(queue.engine.fleet().nodes()).hasSize(1);
        queue.line.away();
        advance(60);
        queue.line.heal();
        advance(3);
        assertThat(queue.engine.fleet().nodes())
                .as("tried more often after an outage")
                .hasSize(1);
    }

    @Test
    void isSeenAlthoughTheStoreRefusesItsTopics() {
        queue.line.plan(method -> method.equals("addTopics") ? FaultyStore.Fault.REFUSED : FaultyStore.Fault.NONE);
        queue.engine.join();
        queue.send("a", Duration.ZERO);
        advance(30);
        assertThat(queue.engine.fleet().nodes()).hasSize(1);

        queue.line.heal();
        advance(11);
        assertThat(queue.engine.fleet().topics()).containsExactly(TOPIC);
    }

    @Test
    void pausesATopicOnAllShardsAndShowsWhoAndWhen() {
        queue.memory.declare(TOPIC, 4);
        Instant begin = queue.time.now();
        assertThat(queue.engine.fleet().pause(TOPIC, "ops")).isEqualTo(4);
        advance(5);
        assertThat(queue.engine.fleet().pause(TOPIC, "another")).isZero();

        TopicStats paused = queue.engine.stats(TOPIC);
        assertThat(paused.pausedShards()).isEqualTo(4);
        assertThat(Objects.requireNonNull(paused.pause())).isEqualTo(new ShardStats.Pause(begin, "ops"));
        queue.memory.resume(new ShardKey(TOPIC, 2));
        assertThat(queue.engine.stats(TOPIC).pausedShards()).isEqualTo(3);

        assertThat(queue.engine.fleet().resume(TOPIC)).isEqualTo(3);
        assertThat(queue.engine.stats(TOPIC).paused()).isFalse();
        assertThatThrownBy(() -> queue.engine.fleet().pause(TOPIC, "x".repeat(201)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 200");
    }
}
