package io.easykit.cache.engine;

import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Several calls of a {@link GuardedStore}, in chunks of a bounded size: each chunk has a command timeout of its own.
 *
 * <p>The circuit breaker of a partition counts the calls of a chunk as one: as a failure if one of them failed, since they
 * were on the way together. After a failure of its server, a partition gets no further chunk. All others do.
 *
 * <p>A reader creates them before it checks the epochs: the connections are noted then.
 */
final class GuardedCalls<T> {

    /** No number of a connection: the partitions were replaced meanwhile. */
    private static final long NEVER = -1;

    /** Maximum number of calls that are under way together. */
    static final int CHUNK = 500;

    private final EntryStore store;
    private final ClusterAvailability availability;
    private final SuspectReplies suspect;
    private final Map<CircuitBreaker, Long> sending = new HashMap<>();
    private final Map<CircuitBreaker, StoreUnavailableException> away = new HashMap<>();

    GuardedCalls(EntryStore store, ClusterAvailability availability, SuspectReplies suspect) {
        this.store = store;
        this.availability = availability;
        this.suspect = suspect;
        for (CircuitBreaker breaker : availability.breakers()) {
            sending.put(breaker, breaker.repetition().sending());
        }
    }

    List<EntryReply<T>> callAll(List<? extends EntryCall<T>> calls) {
        List<EntryReply<T>> replies = new ArrayList<>(calls.size());
        for (int from = 0; from < calls.size(); from += CHUNK) {
            replies.addAll(callChunk(calls.subList(from, Math.min(from + CHUNK, calls.size()))));
        }
        return replies;
    }

    private List<EntryReply<T>> callChunk(List<? extends EntryCall<T>> calls) {
        List<EntryCall<T>> allowed = new ArrayList<>(calls.size());
        List<@Nullable StoreUnavailableException> refusals = new ArrayList<>(calls.size());
        for (EntryCall<T> call : calls) {
            CircuitBreaker breaker = availability.of(call.key());
            StoreUnavailableException refusal = refusal(breaker);
            refusals.add(refusal);
            if (refusal == null) {
                allowed.add(call);
            }
        }
        List<EntryReply<T>> sent = new ArrayList<>(allowed.isEmpty() ? List.of() : store.callAll(allowed));
        Map<CircuitBreaker, EntryReply<T>> worst = new LinkedHashMap<>();
        for (int i = 0; i < sent.size(); i++) {
            EntryCall<T> call = allowed.get(i);
            CircuitBreaker breaker = availability.of(call.key());
            worst.merge(breaker, sent.get(i), GuardedCalls::worse);
            if (suspect.include(breaker, sending.getOrDefault(breaker, NEVER), call.key())) {
                sent.set(i, SuspectReplies.withoutValue(call, sent.get(i)));
            }
        }
        worst.forEach(this::count);
        List<EntryReply<T>> replies = new ArrayList<>(calls.size());
        Iterator<EntryReply<T>> next = sent.iterator();
        for (StoreUnavailableException refusal : refusals) {
            replies.add(refusal == null ? next.next() : EntryReply.failed(refusal));
        }
        return replies;
    }

    /** Why a partition gets no call; null if it gets one. */
    private @Nullable StoreUnavailableException refusal(CircuitBreaker breaker) {
        if (!away.containsKey(breaker) && !breaker.mayRead()) {
            away.put(breaker, CircuitBreaker.markedUnavailable());
        }
        return away.get(breaker);
    }

    private void count(CircuitBreaker breaker, EntryReply<T> worst) {
        StoreUnavailableException failure = worst.failure();
        if (failure == null) {
            breaker.succeeded();
            return;
        }
        count(breaker, failure);
        if (rank(failure) > 1) {
            away.putIfAbsent(breaker, failure);
        }
    }

    /** Reports the failure of a call to the circuit breaker of its partition. */
    static void count(CircuitBreaker breaker, StoreUnavailableException failure) {
        if (failure.isRefused()) {
            breaker.unavailable(failure);
        } else if (failure.isServerFailure()) {
            breaker.failed(failure);
        } else if (failure.isDelayed()) {
            breaker.delayed(failure);
        } else {
            breaker.singleFailed(failure);
        }
    }

    private static <T> EntryReply<T> worse(EntryReply<T> one, EntryReply<T> other) {
        return rank(other.failure()) > rank(one.failure()) ? other : one;
    }

    private static int rank(@Nullable StoreUnavailableException failure) {
        if (failure == null) {
            return 0;
        }
        return failure.isServerFailure() || failure.isRefused() || failure.isDelayed() ? 2 : 1;
    }
}
