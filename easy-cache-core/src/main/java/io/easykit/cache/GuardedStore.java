package io.easykit.cache;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Tells the decision maker how calls went, and lets none through while the cluster is marked unavailable. */
final class GuardedStore implements EntryStore {

    private final EntryStore store;
    private final Availability availability;

    GuardedStore(EntryStore store, Availability availability) {
        this.store = store;
        this.availability = availability;
    }

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        return guard(availability::mayRead, () -> store.read(key, epoch));
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean takesStale) {
        return guard(availability::mayRead, () -> store.fetch(key, epoch, takesStale));
    }

    @Override
    public boolean store(CacheKey<?> key, Ticket ticket, Envelope value, Duration life) {
        return guard(availability::mayRead, () -> store.store(key, ticket, value, life));
    }

    @Override
    public void release(CacheKey<?> key, Ticket ticket) {
        guard(availability::mayRead, () -> store.release(key, ticket));
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        guard(availability::mayWrite, () -> store.prepare(keys, token, lease));
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        guard(availability::mayWrite, () -> store.invalidate(keys, token));
    }

    @Override
    public void drop(Collection<? extends CacheKey<?>> keys, String token) {
        guard(availability::mayWrite, () -> store.drop(keys, token));
    }

    @Override
    public void drop(Map<CacheKey<?>, String> tokens) {
        guard(availability::mayWrite, () -> store.drop(tokens));
    }

    @Override
    public void discard(CacheKey<?> key, Envelope unreadable) {
        guard(availability::mayRead, () -> store.discard(key, unreadable));
    }

    @Override
    public Map<String, Long> epochs() {
        return guard(availability::mayWrite, store::epochs);
    }

    @Override
    public long raiseEpoch(String prefix, long known) {
        return guard(availability::mayWrite, () -> store.raiseEpoch(prefix, known));
    }

    @Override
    public Duration lease(String name, String owner, Duration duration) {
        return guard(availability::mayRead, () -> store.lease(name, owner, duration));
    }

    /** A probe is there to see whether an unavailable cluster answers, so it always goes through. */
    @Override
    public void probe() {
        store.probe();
    }

    @Override
    public void checkPermissions() {
        guard(availability::mayWrite, store::checkPermissions);
    }

    @Override
    public void onReconnect(Runnable action) {
        store.onReconnect(action);
    }

    private void guard(BooleanSupplier allowed, Runnable call) {
        guard(allowed, () -> {
            call.run();
            return true;
        });
    }

    private <T> T guard(BooleanSupplier allowed, Supplier<T> call) {
        if (!allowed.getAsBoolean()) {
            throw new StoreUnavailableException("The cluster is marked unavailable");
        }
        try {
            T result = call.get();
            availability.succeeded();
            return result;
        } catch (StoreUnavailableException failure) {
            if (failure.isRefused()) {
                availability.unavailable(failure);
            } else if (failure.isIll()) {
                availability.failed(failure);
            } else if (failure.isDelayed()) {
                availability.delayed(failure);
            } else {
                availability.singleFailed(failure);
            }
            throw failure;
        }
    }
}
