package io.easykit.cache;

import java.time.Duration;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One Redis at work: how it is read and told of updates, and what is kept for it while it is away. */
final class Cluster {

    private static final Logger log = LoggerFactory.getLogger(Cluster.class);

    /** A failover, and the time until enough calls have failed, fit into it. */
    private static final Duration KEEP_RECENT = Duration.ofSeconds(30);

    private static final int MOST_RECENT = 50_000;

    private final String id;
    private final DegradedOptions degraded;
    private final CacheListener listener;
    private final Availability availability;
    private final EntryStore store;
    private final Epochs epochs = new Epochs();
    private final LocalEntries local;
    private final Journal journal;
    private final RecentInvalidations recent;
    private final CacheReader reader;
    private final ClusterKeeper keeper;

    Cluster(
            String id,
            EntryStore store,
            LocalLevel level,
            AvailabilityOptions options,
            DegradedOptions degraded,
            Engine engine) {
        this.id = id;
        this.degraded = degraded;
        this.listener = engine.listener();
        this.journal = new Journal(degraded.journalSize());
        this.recent = new RecentInvalidations(KEEP_RECENT, MOST_RECENT, engine.ticker());
        this.availability = new Availability(id, options, engine.ticker(), this::onAvailability);
        this.store = new GuardedStore(store, availability);
        this.local = new LocalEntries(level, engine.values(), degraded.localLife());
        this.reader = new DegradingReader(id, new CacheDispatcher(this.store, epochs, engine), local, degraded, engine);
        this.keeper = new ClusterKeeper(this, options, engine.ticker());
    }

    String id() {
        return id;
    }

    EntryStore store() {
        return store;
    }

    Availability availability() {
        return availability;
    }

    Epochs epochs() {
        return epochs;
    }

    LocalEntries local() {
        return local;
    }

    Journal journal() {
        return journal;
    }

    RecentInvalidations recent() {
        return recent;
    }

    CacheReader reader() {
        return reader;
    }

    ClusterKeeper keeper() {
        return keeper;
    }

    /**
     * Announces an update.
     *
     * @throws CacheUnavailableException if a CP update cannot be announced and is not to go on without
     */
    void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        try {
            store.prepare(keys, token, lease);
        } catch (StoreUnavailableException away) {
            refuseOrGoOn(keys, away);
        }
    }

    /** Ends an update; what cannot be delivered now is delivered before the cluster is read again. */
    void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        keys.forEach(local::invalidate);
        try {
            store.invalidate(keys, token);
            recent.add(keys);
            keys.forEach(key -> listener.onInvalidation(key, null));
        } catch (StoreUnavailableException away) {
            log.debug("The invalidation of {} waits for Redis cluster '{}'", keys, id, away);
            journal.add(keys, token);
            keys.forEach(key -> listener.onInvalidation(key, away));
            if (availability.mayWrite()) {
                keeper.lookSoon();
            }
        }
    }

    private void refuseOrGoOn(Collection<? extends CacheKey<?>> keys, StoreUnavailableException away) {
        for (CacheKey<?> key : keys) {
            boolean strong = key.spec().options().consistency() == Consistency.CP;
            if (strong && degraded.cpUpdates() == DegradedOptions.CpUpdates.REFUSE) {
                throw new CacheUnavailableException(
                        id,
                        "The update of " + key + " is refused: Redis cluster '" + id + "' cannot be told before the"
                                + " commit, so readers elsewhere could keep the old value (consistency = CP). Repeat it"
                                + " when Redis is back, or let CP updates proceed without Redis.",
                        away);
            }
        }
        log.debug("Updating {} without telling Redis cluster '{}' first", keys, id, away);
    }

    /** What was invalidated just before the failure may be lost with its master, so it is said again as well. */
    private void onAvailability(Availability.State state) {
        if (state == Availability.State.UNAVAILABLE) {
            journal.add(recent.all(), "");
        }
        listener.onAvailability(id, state);
    }
}
