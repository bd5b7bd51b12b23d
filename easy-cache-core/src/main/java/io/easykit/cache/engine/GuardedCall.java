package io.easykit.cache.engine;

import io.easykit.cache.async.Futures;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One call of a {@link GuardedStore} whose reply arrives later. A reader creates it before it checks the epochs. */
final class GuardedCall {

    private final EntryStore store;
    private final CircuitBreaker breaker;
    private final SuspectReplies suspect;
    private final long sending;

    /** @param breaker that of the entry */
    GuardedCall(EntryStore store, CircuitBreaker breaker, SuspectReplies suspect) {
        this.store = store;
        this.breaker = breaker;
        this.suspect = suspect;
        this.sending = breaker.repetition().sending();
    }

    /**
     * Sends the call, and goes on when its reply is there.
     *
     * @param executor reports the reply to the circuit breaker, and runs the next step
     * @param next receives the reply or the failure
     * @return ends with the next step; exceptionally if it throws
     */
    <T, R> CompletableFuture<R> send(EntryCall<T> call, Executor executor, Function<EntryReply<T>, R> next) {
        if (!breaker.mayRead()) {
            EntryReply<T> refused = EntryReply.failed(CircuitBreaker.markedUnavailable());
            return CompletableFuture.completedFuture(refused).thenApplyAsync(next, executor);
        }
        return sent(call)
                .handleAsync((reply, failure) -> next.apply(checked(call, counted(reply, failure))), executor)
                .toCompletableFuture();
    }

    private <T> CompletionStage<T> sent(EntryCall<T> call) {
        try {
            return store.callLater(call);
        } catch (RuntimeException | Error notSent) {
            return CompletableFuture.failedStage(notSent);
        }
    }

    private <T> EntryReply<T> checked(EntryCall<T> call, EntryReply<T> reply) {
        return suspect.include(breaker, sending, call.key()) ? SuspectReplies.withoutValue(call, reply) : reply;
    }

    private <T> EntryReply<T> counted(@Nullable T reply, @Nullable Throwable failure) {
        if (failure == null) {
            breaker.succeeded();
            return new EntryReply<>(reply, null);
        }
        Throwable cause = Futures.unwrapped(failure);
        if (cause instanceof StoreUnavailableException away) {
            GuardedCalls.count(breaker, away);
            return EntryReply.failed(away);
        }
        throw new CompletionException(cause);
    }
}
