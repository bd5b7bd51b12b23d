package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.redis.BoundedCalls.Turn;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.QueryTimeoutException;

/** A driver that hangs until the test lets it go on. */
class BoundedCallsTests {

    private static final Duration TIMEOUT = Duration.ofMillis(5);

    private final BoundedCalls calls = new BoundedCalls(TIMEOUT);
    private final CompletableFuture<String> driver = new CompletableFuture<>();
    private final List<String> sent = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        driver.complete("late");
        calls.close();
    }

    @Test
    void aCallWithoutConnectionFailsAndSendsNothingLater() {
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        AtomicBoolean connecting = new AtomicBoolean();
        Throwable failure;
        do {
            failure = catchThrowable(() -> calls.call(turn -> {
                connecting.set(true);
                String connection = driver.join();
                Throwable refused = catchThrowable(() -> send(turn, connection));
                outcome.complete(refused);
                return connection;
            }));
        } while (!connecting.get());
        assertThat(failure).isInstanceOf(NotConnectedException.class);
        assertThat(CallFailures.isNotSent(failure)).isTrue();

        driver.complete("connection");

        assertThat(outcome.join()).isInstanceOf(NotConnectedException.class);
        assertThat(sent).isEmpty();
    }

    @Test
    void aCallWithoutReplyFailsAndMayHaveRun() {
        Throwable failure;
        do {
            failure = catchThrowable(() -> calls.call(turn -> send(turn, "command") + driver.join()));
        } while (sent.isEmpty());

        assertThat(failure).isInstanceOf(QueryTimeoutException.class);
        assertThat(CallFailures.isTimeout(failure)).isTrue();
        assertThat(CallFailures.isNotSent(failure)).isFalse();
    }

    @Test
    void aCallWithoutAThreadFailsAndSendsNothingLater() {
        AtomicBoolean scarce = new AtomicBoolean(true);
        BoundedCalls few = new BoundedCalls(Duration.ofMinutes(1), 2, task -> {
            if (scarce.get()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });
        Throwable failure = catchThrowable(() -> few.call(turn -> send(turn, "command")));
        assertThat(failure).isInstanceOf(NotConnectedException.class);
        assertThat(CallFailures.isNotSent(failure)).isTrue();

        scarce.set(false);
        few.call(turn -> send(turn, "next"));

        assertThat(sent).containsExactly("next");
        few.close();
    }

    @Test
    void aCallGoesToAnIdleThreadIfNoOtherCanBeMade() {
        AtomicInteger left = new AtomicInteger(1);
        BoundedCalls few = new BoundedCalls(Duration.ofMinutes(1), 2, task -> {
            if (left.getAndDecrement() <= 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });

        few.call(turn -> send(turn, "first"));
        few.call(turn -> send(turn, "second"));

        assertThat(sent).containsExactly("first", "second");
        few.close();
    }

    @Test
    void oneCallAtATimeNeedsOneThread() {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        BoundedCalls patient = new BoundedCalls(Duration.ofMinutes(1), 128, task -> added(threads, task));
        for (int i = 0; i < 10; i++) {
            patient.call(turn -> send(turn, "command"));
            await().pollDelay(Duration.ZERO).until(() -> threads.stream().allMatch(BoundedCallsTests::isWaiting));
        }
        assertThat(sent).hasSize(10);
        assertThat(threads).hasSize(1);
        patient.close();
    }

    @Test
    void callsAtATimeHaveAThreadEachUpToTheLimit() {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        BoundedCalls patient = new BoundedCalls(Duration.ofMinutes(1), 2, task -> added(threads, task));
        List<Thread> callers = Stream.of("first", "second", "third")
                .map(command -> new Thread(() -> patient.call(turn -> send(turn, command) + driver.join())))
                .toList();

        callers.forEach(Thread::start);
        await().until(() -> callers.stream().allMatch(BoundedCallsTests::isWaiting) && sent.size() == 2);
        assertThat(threads).hasSize(2);
        driver.complete("reply");

        await().until(() -> callers.stream().noneMatch(Thread::isAlive));
        assertThat(sent).containsExactlyInAnyOrder("first", "second", "third");
        assertThat(threads).hasSize(2);
        patient.close();
    }

    @Test
    void aCallThatWaitsForAThreadFailsInTimeAndSendsNothingLater() {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        BoundedCalls busy = new BoundedCalls(TIMEOUT, 1, task -> added(threads, task));
        do {
            assertThatThrownBy(() -> busy.call(turn -> send(turn, "hangs") + driver.join()))
                    .isInstanceOf(RuntimeException.class);
        } while (sent.isEmpty());

        Throwable failure = catchThrowable(() -> busy.call(turn -> send(turn, "waits")));

        assertThat(failure).isInstanceOf(NotConnectedException.class).hasMessageContaining("within");
        busy.close();
        Throwable closed = catchThrowable(() -> busy.call(turn -> send(turn, "closed")));
        assertThat(closed).isInstanceOf(NotConnectedException.class).hasMessageContaining("closed");
        driver.complete("reply");
        await().until(() -> threads.stream().noneMatch(Thread::isAlive));
        assertThat(sent).containsExactly("hangs");
    }

    @Test
    void returnsRepliesAndFailuresAsTheyAre() {
        BoundedCalls patient = new BoundedCalls(Duration.ofMinutes(1));
        RuntimeException refused = new IllegalArgumentException("refused");
        AssertionError fault = new AssertionError("fault");
        try {
            String reply = patient.call(turn -> send(turn, "reply"));
            assertThat(reply).isEqualTo("reply");
            assertThatThrownBy(() -> patient.call(turn -> {
                        throw refused;
                    }))
                    .isSameAs(refused);
            assertThatThrownBy(() -> patient.call(turn -> {
                        throw fault;
                    }))
                    .isSameAs(fault);
        } finally {
            patient.close();
        }
        assertThatThrownBy(() -> patient.call(turn -> "reply")).isInstanceOf(NotConnectedException.class);
    }

    @Test
    void anInterruptDoesNotEndTheWait() {
        BoundedCalls patient = new BoundedCalls(Duration.ofMinutes(1));
        Thread.currentThread().interrupt();
        CompletableFuture<String> reply =
                new CompletableFuture<String>().completeOnTimeout("reply", 1, TimeUnit.MILLISECONDS);
        try {
            String received = patient.call(turn -> reply.join());
            assertThat(received).isEqualTo("reply");
            assertThat(Thread.interrupted()).isTrue();
        } finally {
            patient.close();
        }
    }

    private static Thread added(List<Thread> threads, Runnable task) {
        Thread thread = new Thread(task);
        threads.add(thread);
        return thread;
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING;
    }

    private String send(Turn turn, String command) {
        turn.begin();
        sent.add(command);
        return command;
    }
}
