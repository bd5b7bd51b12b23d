package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.ListenerEndpoint;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ConcurrencyLimiterTests {

    private long now;
    private final ConcurrencyLimiter limiter = new ConcurrencyLimiter(3, 0, () -> now);
    private final AtomicInteger wakes = new AtomicInteger();
    private final ConcurrencyLimiter.Waiter first = new ConcurrencyLimiter.Waiter(wakes::incrementAndGet);
    private final ConcurrencyLimiter.Waiter second = new ConcurrencyLimiter.Waiter(wakes::incrementAndGet);

    @Test
    void givesWhatIsFree() {
        assertThat(limiter.take(first, 2).all()).isEqualTo(2);
        assertThat(limiter.take(first, 2).all()).isEqualTo(1);
        assertThat(limiter.take(first, 2).all()).isZero();
    }

    @Test
    void theGreatestConcurrencyHasRoomForPrefetchedCalls() {
        ConcurrencyLimiter greatest = new ConcurrencyLimiter(ListenerEndpoint.MAX_CONCURRENCY, 100, () -> now);
        for (int i = 0; i < 200; i++) {
            assertThat(greatest.take(first, 1).all()).isEqualTo(1);
            greatest.end(1_000, false);
        }

        assertThat(greatest.take(first, Integer.MAX_VALUE).all()).isEqualTo(ListenerEndpoint.MAX_CONCURRENCY + 100);
    }

    @Test
    void keepsAFreePermitForTheWaiterThatHasWaitedLongest() {
        limiter.take(first, 3);
        limiter.take(second, 1);
        limiter.take(first, 1);

        limiter.giveBack(1);
        assertThat(wakes).hasValue(1);
        assertThat(limiter.take(first, 1).all()).isZero();
        assertThat(limiter.take(second, 3).all()).isEqualTo(1);

        limiter.giveBack(1);
        assertThat(limiter.take(first, 1).all()).isEqualTo(1);
    }

    @Test
    void passesOnWhatIsDeclined() {
        limiter.take(first, 3);
        limiter.take(first, 1);
        limiter.take(second, 1);
        limiter.giveBack(1);

        limiter.cancelWait(first);

        assertThat(wakes).hasValue(2);
        assertThat(limiter.take(second, 1).all()).isEqualTo(1);
    }

    @Test
    void prefetchesOnceRunsAreQuick() {
        ConcurrencyLimiter quick = new ConcurrencyLimiter(3, 10, () -> now);
        assertThat(quick.take(first, 9)).isEqualTo(new ConcurrencyLimiter.Permits(3, 3));

        endAndTakeAgain(quick, 100, 1_000_000);
        assertThat(quick.take(first, 9)).isEqualTo(new ConcurrencyLimiter.Permits(2, 0));

        endAndTakeAgain(quick, 100, 1_000);
        assertThat(quick.take(first, 9)).isEqualTo(new ConcurrencyLimiter.Permits(8, 0));
        assertThat(quick.take(first, 9).all()).isZero();
    }

    @Test
    void prefetchesNothingAfterATimeoutOrWhenRunsAreSlow() {
        ConcurrencyLimiter quick = new ConcurrencyLimiter(3, 10, () -> now);
        quick.take(first, 3);
        endAndTakeAgain(quick, 100, 1_000);
        quick.recordTimeout();
        assertThat(quick.take(first, 9).all()).isZero();

        ConcurrencyLimiter slow = new ConcurrencyLimiter(3, 10, () -> now);
        slow.take(first, 3);
        endAndTakeAgain(slow, 100, 4_000_000);
        assertThat(slow.take(first, 9).all()).isZero();
    }

    @Test
    void grantsNoPermitBeforePrefetchedRunsHaveTheirs() {
        ConcurrencyLimiter quick = new ConcurrencyLimiter(1, 10, () -> now);
        quick.take(first, 1);
        endAndTakeAgain(quick, 100, 1_000);
        assertThat(quick.take(first, 10)).isEqualTo(new ConcurrencyLimiter.Permits(10, 0));
        quick.recordTimeout();
        assertThat(quick.take(second, 1).all()).isZero();

        quick.giveBack(10);
        assertThat(wakes).hasValue(0);
        quick.giveBack(1);
        assertThat(wakes).hasValue(1);
        assertThat(quick.take(second, 1)).isEqualTo(new ConcurrencyLimiter.Permits(1, 1));
    }

    private void endAndTakeAgain(ConcurrencyLimiter some, int times, long nanos) {
        for (int i = 0; i < times; i++) {
            some.end(nanos, false);
            assertThat(some.take(second, 1).all()).isEqualTo(1);
        }
    }

    @Test
    void losesNoPermitWhoeverWaits() {
        limiter.take(first, 3);
        limiter.take(second, 1);
        limiter.cancelWait(second);
        limiter.giveBack(3);

        assertThat(limiter.take(second, 5).all()).isEqualTo(3);
    }

    @Test
    void prefetchesAgainASecondAfterATimeout() {
        ConcurrencyLimiter quick = new ConcurrencyLimiter(3, 10, () -> now);
        quick.take(first, 3);
        quick.recordTimeout();
        endAndTakeAgain(quick, 100, 1_000);
        assertThat(quick.take(first, 9).all()).isZero();

        now += 1_000_000_000;
        assertThat(quick.take(first, 10).all()).isEqualTo(10);
    }

    @Test
    void isNotMisledByManyPermits() {
        ConcurrencyLimiter many = new ConcurrencyLimiter(5_000, 100, () -> now);

        assertThat(many.take(first, 6_000).all()).isEqualTo(5_000);
    }

    @Test
    void prefetchesNothingWhileAConsumerNeedsAFreePermit() {
        ConcurrencyLimiter quick = new ConcurrencyLimiter(3, 10, () -> now);
        quick.take(first, 3);
        endAndTakeAgain(quick, 100, 1_000);
        assertThat(quick.take(first, 2).all()).isEqualTo(2);
        quick.awaitNonPrefetch(second);

        assertThat(quick.take(first, 9).all()).isZero();
        quick.giveBack(2);
        assertThat(wakes).hasValue(0);
        quick.giveBack(1);
        assertThat(wakes).hasValue(1);
        assertThat(quick.take(second, 1)).isEqualTo(new ConcurrencyLimiter.Permits(1, 1));
    }

    @Test
    void keepsAtOnceAPermitThatHasBecomeFreeMeanwhile() {
        limiter.take(first, 2);
        limiter.awaitNonPrefetch(second);

        assertThat(wakes).hasValue(1);
        assertThat(limiter.take(first, 1).all()).isZero();
        assertThat(limiter.take(second, 1)).isEqualTo(new ConcurrencyLimiter.Permits(1, 1));
        limiter.giveBack(3);
        assertThat(limiter.take(first, 9).all()).isEqualTo(3);
    }

    @Test
    void prefetchesNothingBesideAPoisonSuspect() {
        ConcurrencyLimiter quick = new ConcurrencyLimiter(3, 10, () -> now);
        quick.take(first, 3);
        endAndTakeAgain(quick, 100, 1_000);
        quick.beginPoisonSuspect();
        assertThat(quick.take(first, 9).all()).isZero();

        quick.end(1_000, true);
        assertThat(quick.take(first, 9).all()).isEqualTo(9);
    }

    @Test
    void waitsUntilAllAreGivenBack() throws InterruptedException {
        limiter.take(first, 2);
        limiter.awaitAll(1);
        Thread waits = new Thread(() -> {
            try {
                limiter.awaitAll(Long.MAX_VALUE / 2);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        waits.start();
        await().until(() -> waits.getState() == Thread.State.TIMED_WAITING);

        limiter.giveBack(1);
        limiter.giveBack(1);
        waits.join();
    }
}
