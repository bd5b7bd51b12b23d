package io.easykit.cache.redis;

import io.easykit.cache.Outcome;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.redis.ListReply;
import java.time.Duration;

/** The reply of the script fetch. */
final class FetchReply {

    private enum Field {
        NOW,
        OUTCOME,
        VALUE,
        LEASE,
        LEASE_LEFT,
        IS_STALE
    }

    private final ListReply reply;

    private FetchReply(ListReply reply) {
        this.reply = reply;
    }

    static FetchReply of(Object answer) {
        return new FetchReply(ListReply.of(CacheScript.FETCH.file(), answer, Field.class));
    }

    /** The time of the server in milliseconds. */
    long now() {
        return reply.number(Field.NOW);
    }

    /** @param epoch that the fetch was sent with */
    Fetched fetched(long epoch) {
        return switch (Outcome.valueOf(reply.text(Field.OUTCOME))) {
            case SUCCESS -> new Fetched.Success(value(), isStale());
            case SUCCESS_NEED_QUERY -> new Fetched.SuccessNeedQuery(value(), isStale(), lease(epoch));
            case NEED_QUERY -> new Fetched.NeedQuery(lease(epoch));
            case NEED_WAIT -> new Fetched.NeedWait(Duration.ofMillis(reply.number(Field.LEASE_LEFT)));
            case NEED_QUERY_NO_STORE -> new Fetched.NeedQueryNoStore();
        };
    }

    private Envelope value() {
        return EntryFields.envelope(reply.bytes(Field.VALUE));
    }

    private LoadLease lease(long epoch) {
        return new LoadLease(reply.bytes(Field.LEASE), epoch);
    }

    /** The mark is the last part of the reply, and only there for a stale value. */
    private boolean isStale() {
        return reply.has(Field.IS_STALE);
    }
}
