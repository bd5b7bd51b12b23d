package io.easykit.cache.store;

import io.easykit.cache.CacheKey;
import io.easykit.cache.Outcome;
import java.time.Duration;

/** The answer to {@link EntryStore#fetch(CacheKey, long, boolean)}: one record for each {@link Outcome}. */
public sealed interface Fetched {

    Outcome outcome();

    /** There is a value that the caller may return. */
    sealed interface Served extends Fetched {

        Envelope value();

        /** Whether the value was invalidated and is only served inside the stale window. */
        boolean stale();
    }

    /** The caller has got the load lease. */
    sealed interface Leased extends Fetched {

        LoadLease lease();
    }

    /** {@link Outcome#SUCCESS}. */
    record Success(Envelope value, boolean stale) implements Served {

        @Override
        public Outcome outcome() {
            return Outcome.SUCCESS;
        }
    }

    /** {@link Outcome#SUCCESS_NEED_QUERY}. */
    record SuccessNeedQuery(Envelope value, boolean stale, LoadLease lease) implements Served, Leased {

        @Override
        public Outcome outcome() {
            return Outcome.SUCCESS_NEED_QUERY;
        }
    }

    /** {@link Outcome#NEED_QUERY}. */
    record NeedQuery(LoadLease lease) implements Leased {

        @Override
        public Outcome outcome() {
            return Outcome.NEED_QUERY;
        }
    }

    /**
     * {@link Outcome#NEED_WAIT}.
     *
     * @param leaseLeft maximum time until the lease of the running load ends
     */
    record NeedWait(Duration leaseLeft) implements Fetched {

        @Override
        public Outcome outcome() {
            return Outcome.NEED_WAIT;
        }
    }

    /** {@link Outcome#NEED_QUERY_NO_STORE}. */
    record NeedQueryNoStore() implements Fetched {

        @Override
        public Outcome outcome() {
            return Outcome.NEED_QUERY_NO_STORE;
        }
    }
}
