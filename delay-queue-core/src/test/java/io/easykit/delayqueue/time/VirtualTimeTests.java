package io.easykit.delayqueue.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class VirtualTimeTests {

    private static final Instant START = Instant.parse("2026-01-31T12:00:00.0004Z");
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final VirtualTime time = new VirtualTime(START);
    private final List<String> ran = new ArrayList<>();

    @Test
    void runsDueTasksInOrderBeforeItReturns() {
        time.schedule(MINUTE.multipliedBy(2), () -> ran.add("second at " + time.now()));
        time.schedule(MINUTE, () -> {
            ran.add("first");
            time.schedule(Duration.ZERO, () -> ran.add("planned at the same instant"));
        });
        time.schedule(MINUTE, () -> ran.add("also first"));

        time.advance(MINUTE);
        assertThat(ran).containsExactly("first", "also first", "planned at the same instant");

        ran.clear();
        time.advance(Duration.ofHours(1));
        assertThat(ran).containsExactly("second at " + START.plus(MINUTE.multipliedBy(2)));
        assertThat(time.now()).isEqualTo(START.plus(MINUTE).plus(Duration.ofHours(1)));
    }

    @Test
    void runsTasksOnTheThreadThatAdvances() {
        AtomicReference<Thread> thread = new AtomicReference<>();
        time.workers().execute(() -> thread.set(Thread.currentThread()));

        assertThat(thread).hasValue(null);
        time.advance(Duration.ZERO);
        assertThat(thread).hasValue(Thread.currentThread());
    }

    @Test
    void refusesToGoBack() {
        assertThatThrownBy(() -> time.advance(MINUTE.negated()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot go back by PT1M");
        assertThatThrownBy(() -> time.skip(MINUTE.negated()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot go back by PT1M");
    }

    @Test
    void refusesToPassItsEnd() {
        Duration twoCenturies = Duration.ofDays(73_000);
        time.advance(twoCenturies);
        for (Duration more : List.of(twoCenturies, Duration.ofDays(110_000), ChronoUnit.FOREVER.getDuration())) {
            assertThatThrownBy(() -> time.advance(more))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("ends after 292 years");
        }
        assertThatThrownBy(() -> time.schedule(twoCenturies, () -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ends after 292 years");
        assertThat(time.nanos()).isEqualTo(twoCenturies.toNanos());
    }

    @Test
    void cancelsScheduledTasksAndKeepsThoseOfWorkers() {
        time.schedule(MINUTE, () -> ran.add("scheduled"));
        time.workers().execute(() -> ran.add("worker"));

        time.cancelScheduled();
        time.advance(MINUTE);

        assertThat(ran).containsExactly("worker");
    }

    @Test
    void aWaitLeavesWorkersToTheNextAdvanceIfTheyMustNotRunOnItsThread() throws InterruptedException {
        AtomicBoolean holds = new AtomicBoolean(true);
        VirtualTime held = new VirtualTime(START, holds::get);
        held.workers().execute(() -> ran.add("worker"));
        held.schedule(MINUTE, () -> ran.add("scheduled"));

        held.loops().sleep(MINUTE.toNanos());
        assertThat(ran).containsExactly("scheduled");
        assertThat(held.nanos()).isGreaterThanOrEqualTo(MINUTE.toNanos());

        held.advance(Duration.ZERO);
        assertThat(ran).containsExactly("scheduled", "worker");

        holds.set(false);
        held.workers().execute(() -> ran.add("free"));
        held.loops().sleep(0);
        assertThat(ran).contains("free");
    }

    private LoopExecutor.Loop start(String name, long rest) {
        LoopExecutor.Loop loop = time.loops().create(name, () -> {
            ran.add(name);
            time.runDue(name); // nothing, as it runs
            return rest;
        });
        loop.start();
        return loop;
    }

    @Test
    void runsADueStepOfOneLoopOnly() {
        LoopExecutor.Loop relay = start("relay", MINUTE.toNanos());
        start("other", MINUTE.toNanos());

        time.runDue("relay");
        time.runDue("relay");
        assertThat(ran).containsExactly("relay");

        relay.wake();
        time.runDue("relay");
        time.runDue("there is no such loop");
        assertThat(ran).containsExactly("relay", "relay");

        time.advance(MINUTE);
        assertThat(ran).containsExactly("relay", "relay", "other", "relay", "other");
    }

    @Test
    void loopsRestUntilAWholeMillisecond() throws InterruptedException {
        long begin = time.nanos();
        List<Long> steps = new ArrayList<>();
        LoopExecutor.Loop loop = time.loops().create("relay", () -> {
            steps.add(time.nanos() - begin);
            return 1_500_000;
        });
        loop.start();

        time.advance(Duration.ofMillis(3));
        assertThat(steps).containsExactly(0L, 2_000_000L);

        time.loops().sleep(1);
        assertThat(time.nanos() - begin).isEqualTo(4_000_000);
        assertThat(steps).containsExactly(0L, 2_000_000L, 4_000_000L);
    }

    @Test
    void runsADueStepWithinATask() {
        time.workers().execute(() -> {
            time.runDue("relay");
            ran.add("task");
        });
        start("relay", LoopExecutor.END);

        time.advance(MINUTE);
        time.runDue("relay");

        assertThat(ran).containsExactly("relay", "task");
    }

    @Test
    void refusesATaskThatAdvancesIt() {
        AtomicReference<Throwable> refusal = new AtomicReference<>();
        time.schedule(MINUTE, () -> {
            try {
                time.advance(MINUTE);
            } catch (IllegalStateException e) {
                refusal.set(e);
            }
        });

        time.advance(MINUTE);

        assertThat(refusal.get()).hasMessageContaining("Advance it in the test only");
        assertThat(time.now()).isEqualTo(START.plus(MINUTE));
        time.advance(MINUTE);
    }

    /** Not in the common pool, which may have one thread only. */
    private static Thread start(Runnable task) {
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    }

    private static boolean waits(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    @Test
    void letsTwoThreadsAdvanceOneAfterTheOther() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger atOnce = new AtomicInteger();
        time.schedule(MINUTE, () -> {
            inside.countDown();
            await(goOn);
            atOnce.incrementAndGet();
        });
        time.schedule(MINUTE.multipliedBy(2), () -> ran.add("second while " + atOnce.get()));
        Thread first = start(() -> time.advance(MINUTE));
        await(inside);
        Thread second = start(() -> time.advance(MINUTE));
        Awaitility.await().until(() -> waits(second));

        assertThat(ran).isEmpty();
        goOn.countDown();
        first.join(20_000);
        second.join(20_000);

        assertThat(ran).containsExactly("second while 1");
        assertThat(time.now()).isEqualTo(START.plus(MINUTE.multipliedBy(2)));
    }

    @Test
    void refusesTasksThatPlanOthersAtTheSameInstantWithoutEnd() {
        Runnable[] endless = new Runnable[1];
        endless[0] = () -> time.schedule(Duration.ZERO, endless[0]);
        time.schedule(MINUTE, endless[0]);

        assertThatThrownBy(() -> time.advance(MINUTE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Give messages that handlers send to their own topic a delay");
    }

    @Test
    void advancesUntilAConditionHolds() {
        time.schedule(MINUTE, () -> ran.add("ran"));

        assertThat(time.advanceUntil(Duration.ofHours(1), () -> !ran.isEmpty())).isTrue();
        assertThat(time.now()).isEqualTo(START.plus(MINUTE));
        assertThat(time.advanceUntil(Duration.ofHours(1), () -> ran.size() > 1)).isFalse();
        assertThat(time.now()).isEqualTo(START.plus(MINUTE).plus(Duration.ofHours(1)));
    }

    @Test
    void setsTheClockWithoutAnEffectOnDelays() {
        time.schedule(MINUTE, () -> ran.add("ran"));

        time.setClock(START.minus(Duration.ofDays(1)));
        time.advance(MINUTE);

        assertThat(ran).containsExactly("ran");
        assertThat(time.now()).isEqualTo(START.minus(Duration.ofDays(1)).plus(MINUTE));
    }

    @Test
    void runsALoopAgainWhenItIsWokenDuringItsStep() {
        LoopExecutor.Loop[] loop = new LoopExecutor.Loop[1];
        loop[0] = time.loops().create("test", () -> {
            ran.add("step");
            if (ran.size() == 1) {
                loop[0].wake();
            }
            return LoopExecutor.NEVER;
        });
        loop[0].start();

        time.advance(Duration.ZERO);
        assertThat(ran).hasSize(2);
        loop[0].wake();
        assertThat(ran).hasSize(2);
        time.advance(Duration.ZERO);
        assertThat(ran).hasSize(3);
    }

    @Test
    void continuesALoopASecondAfterAnError() {
        AtomicInteger steps = new AtomicInteger();
        LoopExecutor.Loop loop = time.loops().create("test", () -> {
            if (steps.incrementAndGet() == 1) {
                throw new IllegalStateException("once");
            }
            return LoopExecutor.NEVER;
        });
        loop.start();

        assertThatThrownBy(() -> time.advance(Duration.ZERO)).hasMessage("once");
        time.advance(Duration.ofMillis(999));
        assertThat(steps).hasValue(1);
        time.advance(Duration.ofMillis(1));
        assertThat(steps).hasValue(2);
    }

    @Test
    void waitsForLoopsByRunningThemAlsoWithinATask() {
        CountDownLatch ended = new CountDownLatch(1);
        LoopExecutor.Loop loop = time.loops().create("test", () -> {
            ended.countDown();
            return LoopExecutor.END;
        });
        time.schedule(MINUTE, () -> {
            loop.start();
            ran.add("ended: " + isEnded(ended));
        });

        time.advance(MINUTE);

        assertThat(ran).containsExactly("ended: true");
    }

    private boolean isEnded(CountDownLatch latch) {
        try {
            return time.loops().await(latch, Duration.ofSeconds(20));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
