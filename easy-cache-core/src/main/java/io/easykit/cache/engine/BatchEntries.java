package io.easykit.cache.engine;

import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads and fetches several entries together. */
final class BatchEntries {

    private final GuardedStore store;
    private final Epochs epochs;

    BatchEntries(GuardedStore store, Epochs epochs) {
        this.store = store;
        this.epochs = epochs;
    }

    /**
     * See {@link Epochs#isClearing}. Comes before the read.
     *
     * @param reads of one cache
     * @return one reply for each read, in their order; none if no reader of the cache needs them
     */
    List<EntryReply<Boolean>> areClearing(List<? extends ReadRequest<?>> reads) {
        if (reads.isEmpty() || !Epochs.isStrong(reads.get(0).key())) {
            return List.of();
        }
        Map<Source, EntryReply<Boolean>> replies = new HashMap<>();
        Map<CircuitBreaker, EntryReply<Boolean>> away = new HashMap<>();
        List<EntryReply<Boolean>> all = new ArrayList<>(reads.size());
        for (ReadRequest<?> read : reads) {
            Source source = new Source(store.epochHashOf(read.key()), epochs.askedFor(read.key()));
            EntryReply<Boolean> reply = away.get(source.partition());
            if (reply == null) {
                reply = replies.computeIfAbsent(source, any -> EntryReply.of(() -> epochs.isClearing(read.key())));
                if (reply.failure() != null) {
                    away.put(source.partition(), reply);
                }
            }
            all.add(reply);
        }
        return all;
    }

    /** Where the epochs of an entry come from. Several partitions may share the range of a hash. */
    private record Source(int hash, CircuitBreaker partition) {}

    /** See {@link StoredEntries#read}. One reply for each read, in their order. */
    List<EntryReply<Snapshot>> read(List<? extends ReadRequest<?>> reads) {
        return callAll(reads, read -> new EntryCall.Read(read.key(), epochs.of(read.key())));
    }

    /** See {@link StoredEntries#fetch}. One reply for each read, in their order. */
    List<EntryReply<Fetched>> fetch(List<? extends ReadRequest<?>> reads) {
        return callAll(reads, read -> new EntryCall.Fetch(read.key(), epochs.of(read.key()), read.allowsStale()));
    }

    /** See {@link StoredEntries#peekExpired}. One reply for each read, in their order. */
    List<EntryReply<Optional<Peeked>>> peekExpired(List<? extends ReadRequest<?>> reads) {
        return callAll(reads, read -> new EntryCall.PeekExpired(read.key(), epochs.strictOf(read.key())));
    }

    private interface CallOf<T> {

        EntryCall<T> of(ReadRequest<?> read);
    }

    /** A partition that does not give its epochs is called once, not once for each entry that needs them. */
    private <T> List<EntryReply<T>> callAll(List<? extends ReadRequest<?>> reads, CallOf<T> callOf) {
        GuardedCalls<T> guarded = store.several();
        Map<CircuitBreaker, StoreUnavailableException> unknown = new HashMap<>();
        List<EntryCall<T>> calls = new ArrayList<>(reads.size());
        List<@Nullable StoreUnavailableException> failures = new ArrayList<>(reads.size());
        for (ReadRequest<?> read : reads) {
            StoreUnavailableException failure = unknown.isEmpty() ? null : unknown.get(epochs.askedFor(read.key()));
            if (failure == null) {
                try {
                    calls.add(callOf.of(read));
                } catch (StoreUnavailableException away) {
                    unknown.put(epochs.askedFor(read.key()), away);
                    failure = away;
                }
            }
            failures.add(failure);
        }
        List<EntryReply<T>> replies = calls.isEmpty() ? List.of() : guarded.callAll(calls);
        return unknown.isEmpty() ? replies : merged(replies, failures);
    }

    private static <T> List<EntryReply<T>> merged(
            List<EntryReply<T>> replies, List<@Nullable StoreUnavailableException> failures) {
        List<EntryReply<T>> all = new ArrayList<>(failures.size());
        Iterator<EntryReply<T>> next = replies.iterator();
        for (StoreUnavailableException failure : failures) {
            all.add(failure == null ? next.next() : EntryReply.failed(failure));
        }
        return all;
    }
}
