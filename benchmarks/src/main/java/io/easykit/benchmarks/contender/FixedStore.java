package io.easykit.benchmarks.contender;

import io.easykit.cache.CacheKey;
import io.easykit.cache.EntryStore;
import io.easykit.cache.Envelope;
import io.easykit.cache.Ticket;
import java.time.Duration;
import java.util.Collection;

/** A store of which only the plain read is of interest. */
abstract class FixedStore implements EntryStore {

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean store(CacheKey<?> key, Ticket ticket, Envelope value, Duration life) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void release(CacheKey<?> key, Ticket ticket) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void discard(CacheKey<?> key) {
        throw new UnsupportedOperationException();
    }
}
