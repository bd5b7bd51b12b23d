package io.easykit.redis;

import io.easykit.redis.ReplicatedWrites.Replicated;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The writes to one master. One batch is under way at a time. See {@link ReplicatedWrites}. */
final class WriteLane {

    /** As {@link LettuceConnector#call}. */
    @FunctionalInterface
    interface Connector {

        CompletionStage<Long> call(
                byte[] key, Function<RedisClusterAsyncCommands<byte[], byte[]>, CompletionStage<Long>> command);
    }

    private static final int MOST_WRITES = 100;

    private final Connector connector;
    private final Consumer<Throwable> onFailure;
    private final Deque<Write<?>> waiting = new ArrayDeque<>();
    private boolean underWay;

    WriteLane(Connector connector, Consumer<Throwable> onFailure) {
        this.connector = connector;
        this.onFailure = onFailure;
    }

    void add(Write<?> write) {
        synchronized (this) {
            waiting.add(write);
            if (underWay) {
                return;
            }
            underWay = true;
        }
        next();
    }

    /** A loop, because a call that is rejected has ended at once, and then the next batch may wait already. */
    private void next() {
        boolean hasEnded = true;
        while (hasEnded) {
            List<Write<?>> batch = List.of();
            try {
                batch = take();
                hasEnded = !batch.isEmpty() && call(batch);
            } catch (Throwable fault) {
                hasEnded = false;
                failAll(batch, fault);
            }
        }
    }

    /** Returns whether the batch has ended, and the next one is to be sent here. Otherwise its end sends the next one. */
    @SuppressWarnings("FutureReturnValueIgnored") // the callback handles its failures
    private boolean call(List<Write<?>> batch) {
        byte[] key = batch.get(0).key;
        AtomicBoolean isSecond = new AtomicBoolean();
        connector
                .call(key, commands -> ClusterTopology.onMaster(key, commands)
                        .thenCompose(master ->
                                send(batch.stream().filter(Write::decide).toList(), master)))
                .whenComplete((done, failure) -> {
                    boolean goesOn = true;
                    try {
                        if (failure != null) {
                            Throwable cause = CallFailures.unwrapped(failure);
                            goesOn = handle(batch, cause);
                            if (!goesOn) {
                                // Later writes would wait as long for the same failure.
                                failWaiting(cause);
                            }
                        }
                    } finally {
                        // Whatever was thrown, so that the lane does not stand still.
                        if (goesOn && isSecond.getAndSet(true)) {
                            next();
                        }
                    }
                });
        return isSecond.getAndSet(true);
    }

    /** Returns whether the lane goes on. */
    private boolean handle(List<Write<?>> batch, Throwable cause) {
        List<Write<?>> unsent = batch.stream().filter(Write::decide).toList();
        unsent.forEach(write -> write.fail(CallFailures.ofUnsent(cause)));
        onFailure.accept(cause);
        boolean isUnderWay = unsent.isEmpty() && cause instanceof TimeoutException;
        return cause instanceof RedisCommandExecutionException || isUnderWay;
    }

    /** The batch could not be sent, or its end cannot be noticed. */
    private void failAll(List<Write<?>> batch, Throwable fault) {
        try {
            batch.stream().filter(Write::decide).forEach(write -> write.fail(CallFailures.ofUnsent(fault)));
        } finally {
            failWaiting(fault);
        }
    }

    private void failWaiting(Throwable cause) {
        release()
                .forEach(write -> write.fail(new NotConnectedException(
                        "Not sent, because the write before it failed: " + cause.getMessage(), cause)));
    }

    /** Completes when all is answered, with the failure of a write, or else that of {@code WAIT}. */
    private CompletionStage<Long> send(List<Write<?>> batch, StatefulRedisConnection<byte[], byte[]> master) {
        if (batch.isEmpty()) {
            return CompletableFuture.completedFuture(0L);
        }
        Write<?> first = batch.get(0);
        AsyncCommand<byte[], byte[], Long> wait = new AsyncCommand<>(new WaitCommand(first.replicas, first.timeout));
        List<RedisCommand<byte[], byte[], ?>> commands = new ArrayList<>();
        batch.forEach(write -> {
            write.follow(wait);
            commands.add(write.command);
        });
        commands.add(wait);
        try {
            master.dispatch(commands);
        } catch (RuntimeException | Error notSent) {
            commands.forEach(command -> command.completeExceptionally(notSent));
        }
        return CompletableFuture.allOf(
                        batch.stream().map(write -> write.command).toArray(CompletableFuture[]::new))
                .thenCombine(wait, (written, replicas) -> replicas);
    }

    private synchronized List<Write<?>> take() {
        List<Write<?>> batch = new ArrayList<>();
        while (!waiting.isEmpty()
                && batch.size() < MOST_WRITES
                && (batch.isEmpty() || waiting.getFirst().waitsLike(batch.get(0)))) {
            batch.add(waiting.removeFirst());
        }
        underWay = !batch.isEmpty();
        return batch;
    }

    /** Frees the lane, first of all, and returns the writes that wait. */
    private synchronized List<Write<?>> release() {
        underWay = false;
        List<Write<?>> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }

    /** A write that waits for its batch, or for its reply. */
    static final class Write<T extends @Nullable Object> {

        private final byte[] key;
        private final AsyncCommand<byte[], byte[], T> command;
        private final int replicas;
        private final Duration timeout;
        private final CompletableFuture<Replicated<T>> result = new CompletableFuture<>();
        private final AtomicBoolean decided = new AtomicBoolean();

        Write(byte[] key, AsyncCommand<byte[], byte[], T> command, int replicas, Duration timeout) {
            this.key = key;
            this.command = command;
            this.replicas = replicas;
            this.timeout = timeout;
        }

        boolean waitsLike(Write<?> other) {
            return replicas == other.replicas && timeout.equals(other.timeout);
        }

        /**
         * Decides once whether the write is sent: the lane sends it or fails without a connection, or the caller gives it
         * up. Otherwise it could be stored after the caller has cancelled it over another connection.
         *
         * @return false if it is decided already
         */
        boolean decide() {
            return decided.compareAndSet(false, true);
        }

        /** Takes the reply of the write, and behind it that of {@code WAIT}. */
        @SuppressWarnings("FutureReturnValueIgnored") // the callbacks throw nothing
        void follow(CompletableFuture<Long> confirmed) {
            command.whenComplete((reply, failure) -> {
                if (failure == null) {
                    confirmed.whenComplete((count, ignored) ->
                            result.complete(new Replicated<>(reply, count == null ? 0 : count.intValue())));
                } else {
                    fail(failure);
                }
            });
        }

        CompletableFuture<Replicated<T>> result() {
            return result;
        }

        void fail(Throwable failure) {
            result.completeExceptionally(failure);
        }
    }
}
