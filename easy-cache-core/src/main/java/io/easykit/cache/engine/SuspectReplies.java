package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.Peeked;
import java.util.Optional;

/**
 * Takes values out of replies that may come from a server which lacks invalidations of this node.
 *
 * <h2>The problem</h2>
 *
 * Redis replicates asynchronously. After a fail-over the promoted server can have a value that this node has invalidated on the
 * former one, and the value looks valid. The node repeats its recent invalidations after each new connection. Until that is done,
 * its readers would get the old value, although the node never returns anything older than its own updates.
 *
 * <h2>The rule</h2>
 *
 * A reply is suspect if a connection was opened, and the recent invalidations had not been repeated over it before the command
 * was sent. All connections count that are known when the reply is used, and each is recorded before its first reply arrives. So a
 * command that was sent over the former connection and is answered by the new server is suspect, even if the repetition ends
 * before the reply is used.
 *
 * <p>In a suspect reply the entries that this node has invalidated recently look like entries under an update: the value is gone, and
 * the reader loads. If the reply has a load lease, it loads and stores; its store is accepted only if no repetition has removed the
 * fencing token. The acceptance of a store is suspect as well: the token may be from before the invalidation. All other
 * entries, and entries older than that, are read as usual, so a connection that was lost for a moment costs nothing but
 * loads of recently updated entries.
 *
 * <p>A reader notes the connection, then checks the epochs, then sends the command. If a connection was opened since the first of these
 * steps, the reply loses its value whatever the entry: the server may have come back with older data, and the mark that shows it
 * ({@link MarkHistory}) may be from before that.
 */
final class SuspectReplies {

    private final RecentInvalidations recent;

    SuspectReplies(RecentInvalidations recent) {
        this.recent = recent;
    }

    /**
     * @param sending {@link Repetition#sending} before the epochs were checked and the command was sent
     */
    boolean include(CircuitBreaker breaker, long sending, CacheKey<?> key) {
        Repetition repetition = breaker.repetition();
        return repetition.isOtherConnection(sending) || (repetition.isSuspect(sending) && recent.holds(key));
    }

    /** The reply to a call of several, without a value. */
    @SuppressWarnings("unchecked") // the type of the reply is that of the call
    static <T> EntryReply<T> withoutValue(EntryCall<T> call, EntryReply<T> reply) {
        T value = reply.value();
        if (value instanceof Snapshot seen) {
            return new EntryReply<>((T) withoutValue(seen), null);
        } else if (value instanceof Fetched fetched) {
            return new EntryReply<>((T) withoutValue(fetched), null);
        } else if (value instanceof Optional<?>) {
            return new EntryReply<>((T) Optional.<Peeked>empty(), null);
        } else if (value != null && call instanceof EntryCall.Store) {
            Boolean rejected = false;
            return new EntryReply<>((T) rejected, null);
        }
        return reply;
    }

    /** A reader that polls for the end of an update goes on at once, and fetches again. */
    static Snapshot withoutValue(Snapshot seen) {
        return new Snapshot(null, false, false, true, seen.loading(), false, null);
    }

    static Fetched withoutValue(Fetched fetched) {
        if (fetched instanceof Fetched.SuccessNeedQuery leased) {
            return new Fetched.NeedQuery(leased.lease());
        }
        return fetched instanceof Fetched.Success ? new Fetched.NeedQueryNoStore() : fetched;
    }
}
