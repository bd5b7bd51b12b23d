package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lane sends the next write, whatever became of the one before. */
class WriteLaneTests {

    private static final int MANY = 20_000;

    private final AtomicInteger calls = new AtomicInteger();
    private Supplier<CompletionStage<Long>> answer = () -> CompletableFuture.completedFuture(0L);
    private Runnable onFailure = () -> {};
    private final WriteLane lane = new WriteLane(
            (key, command) -> {
                calls.incrementAndGet();
                return answer.get();
            },
            failure -> onFailure.run());

    /** As while a connection rejects commands, and other threads write all the time. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sendsAfterManyWritesThatFailedAtOnceWhileTheNextOneWaited(boolean isErrorReply) {
        AtomicInteger added = new AtomicInteger();
        answer = () -> {
            if (added.incrementAndGet() < MANY) {
                lane.add(write());
            }
            return CompletableFuture.failedFuture(
                    isErrorReply ? new RedisCommandExecutionException("ERR") : new RedisException("rejected"));
        };
        for (int i = 0; i < MANY && added.get() < MANY; i++) {
            lane.add(write());
        }

        assertIsUsable();
    }

    @Test
    void sendsAfterAnErrorWhileAFailureIsHandled() {
        answer = () -> CompletableFuture.failedFuture(new RedisException("rejected"));
        onFailure = () -> {
            throw new StackOverflowError();
        };
        lane.add(write());

        assertIsUsable();
    }

    @Test
    void failsAWriteThatCannotBeSentForLackOfMemory() {
        answer = () -> {
            throw new AssertionError("no memory");
        };
        WriteLane.Write<String> write = write();
        try {
            lane.add(write);
        } catch (AssertionError alsoTheCaller) {
            // Its write has to fail nevertheless: another thread may wait for it.
        }

        assertThat(write.result()).isCompletedExceptionally();
        assertIsUsable();
    }

    private void assertIsUsable() {
        int before = calls.get();
        answer = () -> CompletableFuture.completedFuture(0L);
        lane.add(write());
        assertThat(calls).hasValue(before + 1);
    }

    private static WriteLane.Write<String> write() {
        Command<byte[], byte[], String> command =
                new Command<>(CommandType.SET, new StatusOutput<>(ByteArrayCodec.INSTANCE));
        return new WriteLane.Write<>(new byte[] {1}, new AsyncCommand<>(command), 1, Duration.ofMillis(1));
    }
}
