package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A shard with nothing to do, while the subscription proves each 800 ms that wakeups arrive. */
class IdleTests {

    private static final Duration MILLI = Duration.ofMillis(1);
    private static final long PROOFS_MILLIS = 800;

    private final TestQueue queue = new TestQueue();
    private final Instant begin = queue.time.now();
    private boolean isProven = true;
    private Instant lastProof = begin;

    @BeforeEach
    void prove() {
        queue.line.proveWakeups(() -> {
            long since = Duration.between(begin, queue.time.now()).toMillis();
            if (isProven) {
                lastProof = begin.plusMillis(since - since % PROOFS_MILLIS);
            }
            return Duration.between(lastProof, queue.time.now());
        });
    }

    private long claimsWithin(Duration time) {
        queue.line.takeCalls();
        queue.time.advance(time);
        return queue.line.takeCalls().stream().filter("claim"::equals).count();
    }

    @Test
    void claimsEveryTenSecondsOnly() {
        queue.start(listener(), message -> {});
        assertThat(claimsWithin(Duration.ofSeconds(60))).isBetween(6L, 7L);

        isProven = false;
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(claimsWithin(Duration.ofSeconds(60))).isBetween(60L, 64L);
    }

    @Test
    void aWakeupIsFollowedAtOnce() {
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(2));

        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);

        assertThat(queue.runIds()).containsExactly("a");
    }

    @Test
    void aMessageWhoseWakeupIsLostWithTheProofsRunsWithinASecond() {
        queue.start(listener(), message -> {});
        for (int i = 0; i < 20; i++) {
            queue.time.advance(Duration.ofMillis(1_730));
            isProven = false;
            queue.line.cutWakeups();
            queue.send("m" + i, Duration.ZERO);
            queue.time.advance(Duration.ofSeconds(1));

            assertThat(queue.runIds()).hasSize(i + 1);
            isProven = true;
        }
    }

    /** The survivor learns of the lease from its own claim, which comes too late to get the message. */
    @Test
    void theMessageOfADeadNodeRunsWithinASecondOfItsLease() {
        Duration lease = Duration.ofMillis(300);
        AtomicBoolean isDead = new AtomicBoolean();
        SimulatedTime.Node dying = queue.time.node();
        DelayQueueEngine engine = queue.builder(dying, queue.memory).build();
        queue.start(engine, listener().lease(lease).ackMode(AckMode.MANUAL), message -> isDead.set(true));
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(1));

        int sent = 0;
        while (!isDead.get() && sent < 100) {
            queue.send("m" + sent++, Duration.ZERO);
            queue.time.advance(MILLI);
        }
        dying.kill();
        queue.time.advance(lease.plusSeconds(1));

        String last = "m" + (sent - 1);
        assertThat(isDead).isTrue();
        assertThat(queue.runIds()).endsWith(last, last);
    }

    /** Its wakeup comes only when a place is free. */
    @Test
    void aConsumerThatWaitsForAPlaceClaimsEachSecond() {
        queue.start(listener().concurrency(2).ackMode(AckMode.MANUAL).limits(FlowLimits.maxInFlight(1)), message -> {});
        queue.send("a", Duration.ZERO);
        queue.send("b", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(claimsWithin(Duration.ofSeconds(10))).isGreaterThanOrEqualTo(10);
    }

    @Test
    void aPausedShardIsAskedEachSecond() {
        queue.memory.pause(new ShardKey(TestQueue.TOPIC, 0), "test");
        queue.start(listener(), message -> {});

        assertThat(claimsWithin(Duration.ofSeconds(10))).isGreaterThanOrEqualTo(10);
    }
}
