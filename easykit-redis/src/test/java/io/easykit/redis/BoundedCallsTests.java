package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.redis.BoundedCalls.Turn;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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
        BoundedCalls few = new BoundedCalls(Duration.ofMinutes(1), task -> {
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
        BoundedCalls few = new BoundedCalls(Duration.ofMinutes(1), task -> {
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

    private String send(Turn turn, String command) {
        turn.begin();
        sent.add(command);
        return command;
    }
}
