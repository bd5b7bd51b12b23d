package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.Consistency;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Outcome;
import io.easykit.cache.RunningLoad;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.Flight.Landing;
import io.easykit.cache.engine.Values.Opened;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.EntryStore.Fetched;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Envelope.Kind;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.store.Ticket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings one reader to a value: asks the store, acts on its outcome, loads, stores.
 *
 * <h2>What is to be prevented</h2>
 *
 * A reader loads the old value; an update commits and invalidates; the reader stores what it loaded: the old value stays
 * until its TTL. A lock around the load does not help, since locks expire. So the right to <em>store</em> is a thing of
 * its own.
 *
 * <h2>The parts of an entry</h2>
 *
 * <ul>
 *   <li>The <b>fill token</b> is the right to store. The first election creates it, successive loaders share it, and each
 *       prepare and invalidation removes it. A store without it is rejected. Hence what was loaded before an invalidation
 *       is never stored after it, however slow the loader was; and a loader slower than its election still stores, if
 *       nothing was invalidated meanwhile.
 *   <li>The <b>election</b> says who loads now. It is short and ends by itself, so a crashed loader costs others a
 *       moment.
 *   <li><b>staleUntil</b> bounds how long an invalidated value may be returned under AP. It only ever sinks, so updates
 *       in a row do not prolong an old value.
 *   <li>An <b>intent</b> stands for one update between <em>prepare</em> and <em>invalidate</em>. While there is one,
 *       nobody gets a fill token. It has a lease, so a crashed updater costs others the lease, without storing.
 * </ul>
 *
 * <h2>One read</h2>
 *
 * A plain read accepts a value that lies there alone: it was neither invalidated nor under an update when the store
 * answered, and the store drops it when its life is over. That is the hit path; it runs no script. Anything else is
 * decided by the store in one step ({@link Outcome}), once for all readers of the key in this JVM (a {@link Flight}).
 *
 * <h2>Who may share a result</h2>
 *
 * A reader may wait for any running load, but have its result only if that is as new as a read of its own would have
 * been: the load began, or its store was accepted, after the reader came. An AP reader takes a load that began less than
 * the stale window before it came. Everybody else takes a turn of its own; since all of them wait for the same flight to
 * land, the next one serves them all.
 *
 * <h2>What may go wrong</h2>
 *
 * A lost reply of a fetch costs an election; of a store, a load. A rejected store changes nothing: the readers still get
 * what was loaded, if the load began after they came. The database held that value after they came, so a CP read may
 * return it. A CP reader that loaded it itself looks for a newer one once. So nobody waits for more than two loads of
 * this JVM, however fast the updates are; for two loads of other nodes at most, and never longer than its waiting time:
 * then a reader loads for itself and stores nothing, one at a time in this JVM. {@link StoreUnavailableException} leaves this class only before anything was loaded.
 */
final class CacheDispatcher implements CacheReader {

    private static final Logger log = LoggerFactory.getLogger(CacheDispatcher.class);

    /** How many loads of other nodes a reader waits for before it loads for itself. */
    private static final int FOREIGN_LOADS = 2;

    /** How long readers wait for an update to end before they load beside it. */
    private static final Duration UPDATE_WAIT = Duration.ofMillis(50);

    private static final long FIRST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LAST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final EntryStore store;
    private final Epochs epochs;
    private final Freshness freshness;
    private final LoadLimit limit;
    private final Values values;
    private final Transactions transactions;
    private final Executor background;
    private final CacheListener listener;
    private final Ticker ticker;

    private final Map<CacheKey<?>, Flight<?>> flights = new ConcurrentHashMap<>();
    private final SoloLoads soloLoads;
    private final FailingRefreshes failingRefreshes;
    private final LoadHints hints = new LoadHints();

    CacheDispatcher(EntryStore store, Epochs epochs, Freshness freshness, LoadLimit limit, Engine engine) {
        this.store = store;
        this.epochs = epochs;
        this.freshness = freshness;
        this.limit = limit;
        this.values = engine.values();
        this.transactions = engine.transactions();
        this.background = engine.background();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
        this.soloLoads = new SoloLoads(limit, engine);
        this.failingRefreshes = new FailingRefreshes(engine.ticker());
    }

    @Override
    public <V> @Nullable V fetch(Read<V> read) throws Throwable {
        Snapshot seen = store.read(read.key(), epochs.of(read.key()));
        Opened<V> hit = openFresh(read, seen);
        boolean undelivered = freshness.isUndelivered(read.key());
        if (hit != null && !undelivered) {
            listener.onHit(read.key(), Hit.FRESH);
            refreshWhenDue(read, seen);
            return hit.value();
        }
        Read<V> strict = freshness.demandedBy(read);
        try (LoadScope scope = transactions.openLoadScope()) {
            String attached = scope.attachedReason();
            if (attached == null) {
                Read<V> apart = strict.in(scope);
                return (undelivered ? loadUnstored(apart) : fetchMissed(apart, seen)).get();
            }
            listener.onMiss(read.key());
            hints.notStored(read.key(), attached);
            return soloLoads.load(strict).get();
        }
    }

    private <V> Landing<V> loadUnstored(Read<V> read) {
        listener.onMiss(read.key());
        return soloLoads.join(read, null);
    }

    private <V> Landing<V> fetchMissed(Read<V> read, Snapshot first) {
        Landing<V> landing = mayBeServed(read, first) ? decide(read, true) : join(read, true);
        while (landing == null) {
            Snapshot seen = store.read(read.key(), epochs.of(read.key()));
            Opened<V> hit = openFresh(read, seen);
            if (hit != null) {
                refreshWhenDue(read, seen);
                return Landing.ownOnly(hit.value());
            }
            landing = mayBeServed(read, seen) ? decide(read, false) : join(read, false);
        }
        return landing;
    }

    /** One call is one hit or one miss, however often it looks. */
    private void tell(Read<?> read, @Nullable Hit hit, boolean first) {
        if (first && hit != null) {
            listener.onHit(read.key(), hit);
        } else if (first) {
            listener.onMiss(read.key());
        }
    }

    private static boolean mayBeServed(Read<?> read, Snapshot seen) {
        return seen.value() != null && (!seen.invalidated() || read.takesStale());
    }

    /** A value is there that the store may let us have although it is not fresh: then nobody waits for anybody. */
    private <V> @Nullable Landing<V> decide(Read<V> read, boolean first) {
        Fetched fetched = fetched(read);
        Opened<V> served = serve(read, fetched);
        if (served != null) {
            tell(read, fetched.old() ? Hit.OLD : Hit.FRESH, first);
            return Landing.ownOnly(served.value());
        }
        if (fetched.outcome() == Outcome.NEED_QUERY) {
            tell(read, null, first);
            return lead(new Flight<>(), read, fetched);
        }
        return join(read, first);
    }

    /** Takes part in this JVM's flight for the key. Null if it brought nothing for this reader, who has to look again. */
    private <V> @Nullable Landing<V> join(Read<V> read, boolean first) {
        tell(read, null, first);
        Flight<V> mine = new Flight<>();
        Flight<V> running = putIfAbsent(read.key(), mine);
        if (running == null) {
            return lead(mine, read, null);
        }
        if (running.isOwn()) {
            return soloLoads.load(read);
        }
        if (running.isStuck(read.options().waiting())) {
            return takeOver(running, mine, read);
        }
        Landing<V> landing = awaitLanding(running, read);
        if (landing == null) {
            return soloLoads.join(read, running);
        }
        if (landing.unstorable()) {
            return soloLoads.load(read);
        }
        return landing.serves(read) ? values.unpack(landing, read.key()) : null;
    }

    /** Loads and stores in place of a load that may never return. As many such loads as overdue readers may run. */
    private <V> @Nullable Landing<V> takeOver(Flight<V> stuck, Flight<V> mine, Read<V> read) {
        try (LoadLimit.Permit permit = limit.tryEnterOverdue(read.key())) {
            if (permit == null) {
                return soloLoads.join(read, stuck);
            }
            return flights.replace(read.key(), stuck, mine) ? lead(mine, read, null) : null;
        }
    }

    private <V> @Nullable Landing<V> awaitLanding(Flight<V> running, Read<V> read) {
        try {
            return running.await(null, Math.max(0, read.patience(ticker)));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Loads, shares the result, and repeats the load once for a CP reader if an update overtook it. */
    private <V> Landing<V> lead(Flight<V> flight, Read<V> read, @Nullable Fetched first) {
        Landing<V> landing = fly(flight, read, first);
        boolean repeat = landing.overtaken() && read.options().consistency() == Consistency.CP;
        return repeat ? repeated(read, landing) : landing;
    }

    private <V> Landing<V> fly(Flight<V> flight, Read<V> read, @Nullable Fetched first) {
        flights.put(read.key(), flight);
        Landing<V> landing = Landing.ownOnly(null);
        try {
            landing = turn(read, first);
        } catch (StoreUnavailableException away) {
            landing = Landing.failed(away, ticker.nanoTime());
        } finally {
            flights.remove(read.key(), flight);
            flight.land(values.pack(landing, read.key()));
        }
        return landing;
    }

    /** The next load, own or not; the overtaken one if there is none. */
    private <V> Landing<V> repeated(Read<V> read, Landing<V> overtaken) {
        Flight<V> mine = new Flight<>();
        Flight<V> running = putIfAbsent(read.key(), mine);
        Landing<V> next = running == null ? fly(mine, read, null) : awaitLanding(running, read);
        if (next == null || next.failure() instanceof StoreUnavailableException) {
            return overtaken;
        }
        return running == null ? next : next.serves(read) ? values.unpack(next, read.key()) : overtaken;
    }

    /** The dispatcher proper: asks the store and does what it says, until there is a result. */
    private <V> Landing<V> turn(Read<V> read, @Nullable Fetched first) {
        boolean discarded = false;
        boolean waitedForUpdate = false;
        int foreignLoads = 0;
        for (Fetched known = first; ; known = null) {
            long asked = ticker.nanoTime();
            Fetched fetched = known != null ? known : fetched(read);
            Landing<V> news = null;
            switch (fetched.outcome()) {
                case SUCCESS, SUCCESS_NEED_QUERY -> {
                    Opened<V> served = serve(read, fetched);
                    if (served != null) {
                        return fetched.old() ? Landing.ownOnly(served.value()) : Landing.of(served.value(), asked);
                    }
                    if (discarded) {
                        return soloLoads.join(read, null);
                    }
                    discarded = true;
                }
                case NEED_QUERY -> {
                    return loadAndStore(read, ticketOf(fetched));
                }
                case NEED_WAIT -> {
                    if (foreignLoads++ == FOREIGN_LOADS) {
                        return soloLoads.join(read, null);
                    }
                    news = awaitLoad(read, fetched.electionLeft());
                    if (news == null && read.patience(ticker) <= 0) {
                        return soloLoads.join(read, null);
                    }
                }
                case NEED_QUERY_NO_STORE -> {
                    if (waitedForUpdate) {
                        return soloLoads.join(read, null);
                    }
                    waitedForUpdate = true;
                    news = awaitUpdate(read);
                }
            }
            if (news != null) {
                return news;
            }
        }
    }

    /** The fetched value, with the refresh that it asks for; null if there is none, or none that can be read. */
    private <V> @Nullable Opened<V> serve(Read<V> read, Fetched fetched) {
        if (fetched.value() == null) {
            return null;
        }
        Opened<V> opened = open(read, fetched.value());
        return opened != null && fetched.outcome() == Outcome.SUCCESS_NEED_QUERY
                ? renew(read, ticketOf(fetched), opened)
                : opened;
    }

    /** Loads in the background, or here and now if the load cannot leave the calling thread. */
    private <V> Opened<V> renew(Read<V> read, Ticket ticket, Opened<V> older) {
        if (!failingRefreshes.mayTry(read.key())) {
            release(read.key(), ticket);
            return older;
        }
        Read<V> there = handedOver(read);
        if (there != null) {
            inBackground(there, ticket, () -> loadAndStore(there, ticket));
            return older;
        }
        Landing<V> landing = loadAndStore(read, ticket);
        noteRefresh(read, landing);
        return landing.failure() == null ? new Opened<>(landing.value()) : older;
    }

    private Fetched fetched(Read<?> read) {
        return store.fetch(read.key(), epochs.of(read.key()), read.takesStale());
    }

    private <V> Landing<V> loadAndStore(Read<V> read, Ticket ticket) {
        return requireNonNull(read.scope().run(() -> loadAndStoreHere(read, ticket)));
    }

    private <V> Landing<V> loadAndStoreHere(Read<V> read, Ticket ticket) {
        long began = ticker.nanoTime();
        boolean needsPermit = limit.isFading() && RunningLoad.current() == null;
        Landing<V> landing = LoadInProgress.load(needsPermit ? limit.around(read) : read.loader(), began);
        Duration took = since(began);
        if (landing.failure() == null) {
            failingRefreshes.succeeded(read.key());
        }
        Envelope sealed = null;
        if (landing.failure() == null && !landing.unstorable()) {
            try {
                boolean storable = read.storable().test(landing.value());
                sealed = storable ? values.seal(landing.value(), read.key()) : null;
                if (storable && sealed == null) {
                    landing = values.refused(landing.value(), began, read.key());
                }
            } catch (Throwable failure) {
                landing = Landing.failed(failure, began);
            }
        }
        if (sealed == null) {
            release(read.key(), ticket);
            listener.onLoad(read.key(), took, landing.failure() == null ? Load.NOT_STORED : Load.FAILED);
            return landing;
        }
        return stored(read, ticket, landing.value(), sealed, began, took);
    }

    private <V> Landing<V> stored(
            Read<V> read, Ticket ticket, @Nullable V value, Envelope sealed, long began, Duration took) {
        long sent = ticker.nanoTime();
        try {
            boolean accepted = store.store(read.key(), ticket, sealed, Values.life(value, read.options()));
            listener.onLoad(read.key(), took, accepted ? Load.STORED : Load.REJECTED);
            return accepted ? Landing.of(value, sent).packed(sealed) : Landing.rejected(value, began);
        } catch (StoreUnavailableException away) {
            log.debug("The load of {} could not be stored", read.key(), away);
            listener.onLoad(read.key(), took, Load.NOT_STORED);
            return Landing.of(value, began);
        }
    }

    /** Waits for news of somebody else's load. Null means: ask the store again, or the waiting time is over. */
    private <V> @Nullable Landing<V> awaitLoad(Read<V> read, Duration atMost) {
        long nanos = Math.min(atMost.toNanos() + FIRST_LOOK_NANOS, read.patience(ticker));
        return awaitNews(read, nanos, Snapshot::loading);
    }

    private <V> @Nullable Landing<V> awaitUpdate(Read<V> read) {
        return awaitNews(read, Math.min(UPDATE_WAIT.toNanos(), read.patience(ticker)), Snapshot::updating);
    }

    /** Looks at the entry now and then, for all readers of it in this JVM, while nothing has changed. */
    private <V> @Nullable Landing<V> awaitNews(Read<V> read, long nanos, Predicate<Snapshot> unchanged) {
        long end = ticker.nanoTime() + nanos;
        long pause = FIRST_LOOK_NANOS;
        for (long left = nanos; left > 0; left = end - ticker.nanoTime()) {
            try {
                ticker.pause(Math.min(left, pause - ThreadLocalRandom.current().nextLong(pause / 2)));
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                return soloLoads.load(read);
            }
            long asked = ticker.nanoTime();
            Snapshot seen = store.read(read.key(), epochs.of(read.key()));
            Opened<V> value = openFresh(read, seen);
            if (value != null) {
                return Landing.of(value.value(), asked);
            }
            if (!unchanged.test(seen)) {
                return null;
            }
            pause = Math.min(2 * pause, LAST_LOOK_NANOS);
        }
        return null;
    }

    /** A fresh value near its end is refreshed by one reader of this JVM, which asks whether another one already is. */
    private <V> void refreshWhenDue(Read<V> read, Snapshot seen) {
        Duration remaining = seen.remaining();
        if (remaining == null
                || remaining.compareTo(aheadOf(read, seen)) > 0
                || flights.containsKey(read.key())
                || !failingRefreshes.mayTry(read.key())
                || transactions.isActive()) {
            return;
        }
        Read<V> there = handedOver(read);
        if (there != null) {
            inBackground(there, null, () -> {
                Fetched fetched = fetched(there);
                return fetched.ticket() == null ? null : loadAndStore(there, fetched.ticket());
            });
        }
    }

    private static Duration aheadOf(Read<?> read, Snapshot seen) {
        Envelope value = seen.value();
        boolean nothing = value != null && value.kind() != Kind.VALUE;
        return nothing ? read.options().aheadOfNothing() : read.options().ahead();
    }

    private <V> @Nullable Read<V> handedOver(Read<V> read) {
        Read<V> there = read.forBackground();
        return there == null ? null : there.in(transactions.backgroundScope());
    }

    private <V> void inBackground(Read<V> read, @Nullable Ticket ticket, Refresh<V> work) {
        try {
            background.execute(() -> LoadInProgress.outside(() -> {
                Flight<V> flight = new Flight<>();
                boolean alone = putIfAbsent(read.key(), flight) == null;
                if (alone || ticket != null) {
                    flyInBackground(read, flight, work);
                }
            }));
        } catch (RejectedExecutionException full) {
            log.debug("No thread is free to refresh {}", read.key());
            giveUp(read.key(), ticket);
        } catch (Throwable fault) {
            log.warn("Cannot refresh {} in the background; it is loaded when it expires", read.key(), fault);
            giveUp(read.key(), ticket);
        }
    }

    private void giveUp(CacheKey<?> key, @Nullable Ticket ticket) {
        if (ticket != null) {
            release(key, ticket);
        }
    }

    private <V> void flyInBackground(Read<V> read, Flight<V> flight, Refresh<V> work) {
        Landing<V> landing = null;
        try {
            landing = work.run();
            if (landing != null) {
                noteRefresh(read, landing);
            }
        } catch (StoreUnavailableException away) {
            log.debug("Cannot refresh {}", read.key(), away);
        } finally {
            flights.remove(read.key(), flight);
            flight.land(landing != null ? values.pack(landing, read.key()) : Landing.ownOnly(null));
        }
    }

    private <V> void noteRefresh(Read<V> read, Landing<V> landing) {
        Throwable failure = landing.failure();
        if (failure instanceof LoadAbandonedException) {
            log.debug("The refresh of {} is dropped", read.key(), failure);
        } else if (failure != null) {
            failingRefreshes.failed(read.key(), failure);
        }
    }

    private <V> @Nullable Opened<V> openFresh(Read<V> read, Snapshot seen) {
        return seen.fresh() && seen.value() != null ? open(read, seen.value()) : null;
    }

    private <V> @Nullable Opened<V> open(Read<V> read, Envelope envelope) {
        Opened<V> opened = values.open(envelope, read.key());
        if (opened == null) {
            listener.onUnreadable(read.key());
            store.discard(read.key(), envelope);
        }
        return opened;
    }

    private void release(CacheKey<?> key, Ticket ticket) {
        try {
            store.release(key, ticket);
        } catch (StoreUnavailableException away) {
            log.debug("The election of {} ends by itself", key, away);
        }
    }

    @SuppressWarnings("unchecked") // equal keys have the same spec, so the same V
    private <V> @Nullable Flight<V> putIfAbsent(CacheKey<V> key, Flight<V> flight) {
        return (Flight<V>) flights.putIfAbsent(key, flight);
    }

    private Duration since(long began) {
        return Duration.ofNanos(ticker.nanoTime() - began);
    }

    private static Ticket ticketOf(Fetched fetched) {
        Ticket ticket = fetched.ticket();
        if (ticket == null) {
            throw new IllegalStateException(fetched.outcome() + " came without a ticket");
        }
        return ticket;
    }

    /** Work of a refresh; null if there was nothing to do. */
    private interface Refresh<V> {
        @Nullable Landing<V> run();
    }
}
