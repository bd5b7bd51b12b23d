package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.DurationText;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats one operation while the store is away, within the send timeout. A repeated send is safe, because the store
 * recognizes it by its nonce, with one exception: a message that may be stored already could be delivered, acknowledged and
 * removed before the repetition stores it once more. So a send with an unknown outcome is repeated only if the message
 * has a delay that outlasts the timeout and the last call, which may begin when the timeout ends. In a list these go first, because
 * the calls for the others take time. If their own calls take too long, the last of them are not made. An absolute due time
 * cannot be compared, because only the store's clock counts.
 */
final class SendRetry {

    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(200);

    /** Minimum time for the last call beyond the timeout. Covers pauses of the process. */
    private static final long LEAST_CALL_MILLIS = 2_000;

    /**
     * Maximum duration of a call in command timeouts: two for a connection and a reply, two more if the server does not have
     * the script, one for repetitions while a slot moves.
     */
    private static final int TIMEOUTS_OF_A_CALL = 5;

    private final LoopExecutor loops;
    private final Duration timeout;
    private final Duration commandTimeout;
    private final long began;
    private long pause = FIRST_PAUSE;
    private @Nullable StoreUnavailableException last;

    /**
     * @param timeout        zero to try once
     * @param commandTimeout maximum time of the store to wait for a reply
     */
    SendRetry(LoopExecutor loops, Duration timeout, Duration commandTimeout) {
        this.loops = loops;
        this.timeout = timeout;
        this.commandTimeout = commandTimeout;
        this.began = loops.nanos();
    }

    /** For calls that are safe to repeat. */
    <T> T repeat(Supplier<T> call) {
        while (true) {
            try {
                return call.get();
            } catch (StoreUnavailableException e) {
                if (!pause()) {
                    throw late(e);
                }
            }
        }
    }

    /**
     * Repeats a send with the messages that have no outcome yet.
     *
     * @param send     stores messages, or fails
     * @param reroute  called before a repetition with each message that is surely not stored
     */
    void send(List<PreparedMessage> messages, Consumer<List<PreparedMessage>> send, Consumer<PreparedMessage> reroute) {
        List<PreparedMessage> open = messages;
        StoreUnavailableException givenUp = null;
        while (!open.isEmpty()) {
            try {
                send.accept(open);
                open = List.of();
            } catch (StoreUnavailableException e) {
                last = e;
                List<PreparedMessage> left = open.stream()
                        .filter(message -> message.outcome() == null)
                        .toList();
                open = left.stream()
                        .filter(this::mayRepeat)
                        .sorted(Comparator.comparing(message -> !message.isUnknown()))
                        .toList();
                givenUp = open.size() < left.size() && givenUp == null ? e : givenUp;
                if (open.isEmpty() || !pause()) {
                    throw late(givenUp == null ? e : givenUp);
                }
                open.stream().filter(message -> !message.isUnknown()).forEach(reroute);
            }
        }
        if (givenUp != null) {
            throw givenUp;
        }
    }

    /** Whether the store may have carried out a send that ended with this. It has not after a refusal. */
    static boolean mayBeCarriedOut(Throwable failure) {
        if (failure instanceof StoreUnavailableException away) {
            return away.isOutcomeUnknown();
        }
        return !(failure instanceof StoreRefusedException || failure instanceof IllegalArgumentException);
    }

    /**
     * Called before each call, because the calls before it may have taken longer than the send timeout.
     *
     * @throws StoreUnavailableException if one of the messages may be stored, and could have run before this call stores it again
     */
    void requireInTime(List<PreparedMessage> messages) {
        StoreUnavailableException failure = last;
        long now = sinceBegin().plusNanos(999_999).toMillis();
        if (failure != null && !messages.stream().allMatch(message -> mayBegin(message, now))) {
            throw new StoreUnavailableException(
                    "Not repeated, because a message of the call could have run meanwhile: " + failure.getMessage(),
                    failure);
        }
    }

    private boolean mayRepeat(PreparedMessage message) {
        return mayBegin(message, timeout.toMillis());
    }

    /** Whether a call that begins after this time ends before the message could have run. */
    private boolean mayBegin(PreparedMessage message, long millis) {
        if (!message.isUnknown()) {
            return true;
        }
        DueTime due = message.message().due();
        return due.relative() && due.millis() >= millis + callMillis(message.replicaWait());
    }

    private long callMillis(@Nullable ReplicaWait wait) {
        return longestCall(commandTimeout, wait).toMillis();
    }

    /** Maximum duration of a call. */
    static Duration longestCall(Duration commandTimeout, @Nullable ReplicaWait wait) {
        Duration each = wait == null ? commandTimeout : commandTimeout.plus(wait.timeout());
        return Duration.ofMillis(Math.max(LEAST_CALL_MILLIS, TIMEOUTS_OF_A_CALL * each.toMillis()));
    }

    /** Waits before the next attempt; false if the time is over or the thread is interrupted. */
    private boolean pause() {
        long left = timeout.minus(sinceBegin()).toNanos();
        if (left <= 0) {
            return false;
        }
        long rest = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2);
        pause = Math.min(LONGEST_PAUSE, 2 * pause);
        try {
            loops.sleep(Math.min(left, rest));
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private StoreUnavailableException late(StoreUnavailableException e) {
        if (timeout.isZero()) {
            return e;
        }
        if (Thread.currentThread().isInterrupted()) {
            return e.because("Interrupted while the send waited for the store: " + e.getMessage());
        }
        boolean isOver = sinceBegin().compareTo(timeout) >= 0;
        return isOver
                ? e.because("Given up after the send timeout of " + DurationText.of(timeout) + ": " + e.getMessage())
                : e;
    }

    private Duration sinceBegin() {
        return Duration.ofNanos(loops.nanos() - began);
    }
}
