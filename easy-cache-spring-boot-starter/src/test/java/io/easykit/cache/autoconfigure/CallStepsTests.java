package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.async.Steps;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.springframework.core.task.TaskDecorator;

class CallStepsTests {

    private static final ThreadLocal<String> TENANT = new ThreadLocal<>();
    private static final Duration LONG = Duration.ofMinutes(1);

    private static CallSteps started(TaskDecorator decorator, Duration grace) {
        CallSteps steps = new CallSteps("call-", false, decorator, grace);
        steps.start();
        return steps;
    }

    private static String step(Steps call) throws Exception {
        return CompletableFuture.supplyAsync(() -> Thread.currentThread().getName(), call)
                .get(30, TimeUnit.SECONDS);
    }

    private static void requireRejected(Steps call) {
        assertThatThrownBy(() ->
                        CompletableFuture.runAsync(Steps::requireContext, call).get(30, TimeUnit.SECONDS))
                .hasCauseInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void aStopWaitsForARunningCallWhoseStepsGoOn() throws Exception {
        CallSteps steps = started(task -> task, LONG);
        Steps call = steps.open();
        Thread stop = new Thread(steps::stop);
        stop.start();
        await().until(() -> stop.getState() == Thread.State.TIMED_WAITING);

        assertThat(steps.isRunning()).isFalse();
        assertThatThrownBy(steps::open)
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("call-");
        assertThat(step(call)).startsWith("call-");
        call.end();
        await().until(() -> !stop.isAlive());
        requireRejected(call);
    }

    @Test
    void aStopWaitsNoLongerThanItsGrace() {
        CallSteps steps = started(task -> task, Duration.ofMillis(1));
        Steps call = steps.open();
        steps.stop();

        requireRejected(call);
    }

    /** So the stops of one lifecycle phase wait at the same time. */
    @Test
    void aStopByTheApplicationKeepsNoOtherOneWaiting() throws Exception {
        CallSteps steps = started(task -> task, LONG);
        Steps call = steps.open();
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        steps.stop(() -> stopped.complete(true));

        assertThat(stopped).isNotDone();
        assertThat(step(call)).startsWith("call-");
        call.end();
        assertThat(stopped.get(30, TimeUnit.SECONDS)).isTrue();
        requireRejected(call);
    }

    @Test
    void runAgainAfterAnotherStart() throws Exception {
        CallSteps steps = started(task -> task, LONG);
        steps.stop();
        steps.start();
        Steps call = steps.open();

        assertThat(step(call)).startsWith("call-");
        call.end();
        steps.stop();
    }

    /** The task of the later step has run the earlier one, whose own task is then rejected. */
    @Test
    void aRejectionLeavesNoStepWithoutATask() throws Exception {
        CompletableFuture<String> earlier = new CompletableFuture<>();
        CompletableFuture<Throwable> later = new CompletableFuture<>();
        AtomicBoolean first = new AtomicBoolean(true);
        AtomicReference<Steps> call = new AtomicReference<>();
        call.set(new Steps(
                task -> {
                    if (!first.getAndSet(false)) {
                        task.run();
                        return;
                    }
                    call.get().execute(() -> later.complete(catchThrowable(Steps::requireContext)));
                    throw new RejectedExecutionException("full");
                },
                UnaryOperator.identity(),
                () -> {}));

        call.get().execute(() -> earlier.complete("done"));

        assertThat(earlier).isCompletedWithValue("done");
        assertThat(later.get(30, TimeUnit.SECONDS)).isInstanceOf(RejectedExecutionException.class);
    }

    /** The context is captured once, and used for each of them. */
    @Test
    void eachStepHasTheContextOfTheCaller() throws Exception {
        List<String> tenants = new CopyOnWriteArrayList<>();
        CallSteps steps = started(
                task -> {
                    String tenant = TENANT.get();
                    return () -> {
                        TENANT.set(tenant);
                        try {
                            task.run();
                        } finally {
                            TENANT.remove();
                        }
                    };
                },
                LONG);
        TENANT.set("a");
        Steps call = steps.open();
        TENANT.set("b");
        for (int i = 0; i < 3; i++) {
            CompletableFuture.runAsync(() -> tenants.add(TENANT.get()), call).get(30, TimeUnit.SECONDS);
        }
        TENANT.remove();

        assertThat(tenants).containsExactly("a", "a", "a");
        call.end();
        steps.stop();
    }

    @Test
    void aCallWithoutItsContextIsNoRunningCall() {
        CallSteps steps = started(
                task -> {
                    throw new IllegalStateException("no tenant");
                },
                LONG);
        assertThatThrownBy(steps::open).hasMessage("no tenant");
        Thread stop = new Thread(steps::stop);
        stop.start();
        await().until(() -> !stop.isAlive());
    }
}
