package io.easykit.cache.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One state of the model: the entry in Redis, the data in the database, and where each process stands.
 *
 * <p>The data is a version number that each commit raises. Two things are noted for the invariants only. The
 * {@code floor} is the oldest version that a read may return that comes now. {@code staleUntil} has for each version
 * the tick until which an AP read may return it although it is below the floor.
 *
 * <p>Components that no longer matter are set to zero, so that states that differ in nothing else are equal.
 *
 * @param clock Redis's clock in ticks
 * @param version the committed version
 * @param repeats how many commands may still be executed twice
 * @param repeated whether one was
 * @param rows messages in the outbox, in the same database as the data
 * @param relay the node that delivers them
 */
record World(
        Entry entry,
        int clock,
        int version,
        int floor,
        List<Integer> staleUntil,
        int repeats,
        boolean repeated,
        List<Reader> readers,
        List<Updater> updaters,
        List<Row> rows,
        Relay relay) {

    /**
     * Spelled out, here and in {@link Reader} and {@link Updater}: a checker computes it for some million worlds, and the
     * generated method of a record takes half as long again.
     */
    @Override
    public int hashCode() {
        int hash = System.identityHashCode(entry);
        hash = 31 * hash + clock;
        hash = 31 * hash + version;
        hash = 31 * hash + floor;
        hash = 31 * hash + staleUntil.hashCode();
        hash = 31 * hash + repeats;
        hash = 31 * hash + readers.hashCode();
        hash = 31 * hash + updaters.hashCode();
        hash = 31 * hash + rows.hashCode();
        return 31 * hash + relay.hashCode();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof World world
                && entry == world.entry
                && clock == world.clock
                && version == world.version
                && floor == world.floor
                && repeats == world.repeats
                && repeated == world.repeated
                && readers.equals(world.readers)
                && updaters.equals(world.updaters)
                && staleUntil.equals(world.staleUntil)
                && rows.equals(world.rows)
                && relay.equals(world.relay);
    }

    /** No version is bounded yet. */
    static final int FOR_EVER = Integer.MAX_VALUE;

    /** Where a reader stands; it does as {@link io.easykit.cache.engine.CacheDispatcher} does. */
    enum ReaderAt {
        /** No read is in progress; the next step is a plain read. */
        REST,
        /** The plain read was no hit. */
        FETCH,
        /** Was granted the load lease and is about to read the database. */
        LOAD,
        /** Has loaded and is about to store. */
        STORE,
        /** Could not load and is about to release the load lease. */
        RELEASE_LOAD,
        /** Could not load and is about to look for an expired value. */
        PEEK,
        CRASHED
    }

    /**
     * One reader.
     *
     * @param field of the values that its version of the application reads and stores
     * @param reads how many reads are still to come, with the present one
     * @param floor the floor when the present read came
     * @param served whether the caller has a value already: this is a refresh in the background
     * @param loadLease of the present load; empty without one
     * @param loaded the version that was loaded
     * @param grants how often it was granted a load lease, which makes its next caller id fresh
     * @param turns how many stores of the present read were rejected
     */
    record Reader(
            String name,
            String field,
            ReaderAt at,
            int reads,
            int floor,
            boolean served,
            String loadLease,
            int loaded,
            int grants,
            int turns) {

        static Reader resting(String name, String field, int reads) {
            return new Reader(name, field, ReaderAt.REST, reads, 0, false, "", 0, 0, 0);
        }

        Reader arrives(int floor) {
            return new Reader(name, field, ReaderAt.FETCH, reads, floor, false, "", 0, grants, 0);
        }

        /** The caller has its value, and a refresh begins in the background. */
        Reader refreshes() {
            return new Reader(name, field, ReaderAt.FETCH, reads, 0, true, "", 0, grants, 0);
        }

        Reader takesLoadLease(String loadLease, boolean served) {
            return new Reader(
                    name, field, ReaderAt.LOAD, reads, served ? 0 : floor, served, loadLease, 0, grants + 1, turns);
        }

        Reader hasLoaded(int version) {
            return new Reader(name, field, ReaderAt.STORE, reads, floor, served, loadLease, version, grants, turns);
        }

        Reader cannotLoad() {
            return new Reader(name, field, ReaderAt.RELEASE_LOAD, reads, 0, false, loadLease, 0, grants, 0);
        }

        Reader looksForAnExpiredValue() {
            return new Reader(name, field, ReaderAt.PEEK, reads, 0, false, "", 0, grants, 0);
        }

        Reader takesAnotherTurn() {
            return new Reader(name, field, ReaderAt.FETCH, reads, floor, false, "", 0, grants, turns + 1);
        }

        Reader isDone() {
            return new Reader(name, field, ReaderAt.REST, reads - 1, 0, false, "", 0, reads > 1 ? grants : 0, 0);
        }

        Reader crashes() {
            return new Reader(name, field, ReaderAt.CRASHED, 0, 0, false, "", 0, 0, 0);
        }

        /** Four bytes that no reader had for an earlier load lease. */
        String caller() {
            return name + grants + "  ";
        }

        @Override
        public int hashCode() {
            int hash = name.hashCode();
            hash = 31 * hash + at.hashCode();
            hash = 31 * hash + reads;
            hash = 31 * hash + floor;
            hash = 31 * hash + loadLease.hashCode();
            hash = 31 * hash + loaded;
            hash = 31 * hash + grants;
            return 31 * hash + turns;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other
                    || (other instanceof Reader reader
                            && at == reader.at
                            && reads == reader.reads
                            && floor == reader.floor
                            && served == reader.served
                            && loaded == reader.loaded
                            && grants == reader.grants
                            && turns == reader.turns
                            && name.equals(reader.name)
                            && field.equals(reader.field)
                            && loadLease.equals(reader.loadLease));
        }

        boolean isLoading(int clock) {
            return (at == ReaderAt.LOAD || at == ReaderAt.STORE) && Entry.loadLeaseEnd(loadLease) > clock;
        }
    }

    /** Where an updater stands. */
    enum UpdaterAt {
        REST,
        COMMIT,
        INVALIDATE,
        CRASHED
    }

    /** How an updater informs the cache of its update. */
    enum Way {
        /** It prepares before it commits, and invalidates afterwards. */
        PREPARING,
        /** It only invalidates afterwards. */
        INVALIDATING_ONLY,
        /** Without Redis: a message is part of its transaction. */
        MESSAGE_IN_TRANSACTION,
        /** Without Redis: a message is committed before its update, and closed after it. */
        MESSAGE_BEFORE,
        /** Without Redis, and without an outbox. A weakness. */
        UNTOLD,
        /** As {@link #MESSAGE_BEFORE}, but as if the update had ended already. A weakness. */
        MESSAGE_TOO_EARLY
    }

    /**
     * One updater.
     *
     * @param updates how many updates are still to come, with the present one
     * @param leaseEnd the tick until which it must have committed, once it has prepared or written a message
     */
    record Updater(String name, Way way, UpdaterAt at, int updates, int leaseEnd) {

        static Updater preparing(String name, int updates) {
            return of(name, Way.PREPARING, updates);
        }

        static Updater invalidatingOnly(String name, int updates) {
            return of(name, Way.INVALIDATING_ONLY, updates);
        }

        static Updater of(String name, Way way, int updates) {
            return new Updater(name, way, UpdaterAt.REST, updates, 0);
        }

        boolean prepares() {
            return way == Way.PREPARING;
        }

        /** Whether it reaches Redis. */
        boolean tells() {
            return prepares() || way == Way.INVALIDATING_ONLY;
        }

        Updater isPrepared(int leaseEnd) {
            return new Updater(name, way, UpdaterAt.COMMIT, updates, leaseEnd);
        }

        Updater hasEnded() {
            return new Updater(name, way, UpdaterAt.INVALIDATE, updates, 0);
        }

        Updater isDone() {
            return new Updater(name, way, UpdaterAt.REST, updates - 1, 0);
        }

        Updater crashes() {
            return new Updater(name, way, UpdaterAt.CRASHED, 0, 0);
        }

        @Override
        public int hashCode() {
            return 31 * (31 * (31 * name.hashCode() + at.hashCode()) + updates) + leaseEnd;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other
                    || (other instanceof Updater updater
                            && at == updater.at
                            && updates == updater.updates
                            && leaseEnd == updater.leaseEnd
                            && way == updater.way
                            && name.equals(updater.name));
        }

        /** Of the present update; empty without a preparation. */
        String token() {
            return prepares() ? name + updates : "";
        }

        /** Of the message of the present update. */
        String message() {
            return name + updates;
        }
    }

    /**
     * A message.
     *
     * @param openUntil the tick until which its update may still be running; {@link #CLOSED} if it is not
     */
    record Row(String message, int openUntil) {

        static final int CLOSED = 0;

        boolean isOpen(int clock) {
            return openUntil > clock;
        }
    }

    /** Where the relay stands. */
    enum RelayAt {
        REST,
        PREPARE,
        INVALIDATE,
        MARK
    }

    /**
     * The relay.
     *
     * @param ended the messages that it has read and whose updates have ended
     */
    record Relay(RelayAt at, List<String> ended) {

        static final Relay RESTING = new Relay(RelayAt.REST, List.of());

        Relay goesOn(RelayAt next) {
            return new Relay(next, ended);
        }
    }

    World withEntry(Entry value) {
        return new World(value, clock, version, floor, staleUntil, repeats, repeated, readers, updaters, rows, relay);
    }

    World withClock(int value) {
        return new World(entry, value, version, floor, staleUntil, repeats, repeated, readers, updaters, rows, relay);
    }

    World withOneRepeatLess() {
        return new World(entry, clock, version, floor, staleUntil, repeats - 1, true, readers, updaters, rows, relay);
    }

    World with(int index, Reader reader) {
        return new World(
                entry,
                clock,
                version,
                floor,
                staleUntil,
                repeats,
                repeated,
                replaced(readers, index, reader),
                updaters,
                rows,
                relay);
    }

    World with(int index, Updater updater) {
        return new World(
                entry,
                clock,
                version,
                floor,
                staleUntil,
                repeats,
                repeated,
                readers,
                replaced(updaters, index, updater),
                rows,
                relay);
    }

    World with(Relay value) {
        return new World(entry, clock, version, floor, staleUntil, repeats, repeated, readers, updaters, rows, value);
    }

    /** Adds a message, or replaces the one of its id. */
    World with(Row row) {
        List<Row> all = new ArrayList<>(without(List.of(row.message)).rows);
        all.add(row);
        return withRows(all);
    }

    World without(List<String> messages) {
        return withRows(
                rows.stream().filter(row -> !messages.contains(row.message)).toList());
    }

    private World withRows(List<Row> value) {
        return new World(
                entry,
                clock,
                version,
                floor,
                staleUntil,
                repeats,
                repeated,
                readers,
                updaters,
                Collections.unmodifiableList(value),
                relay);
    }

    /** A commit. A prepared version is the floor at once; older versions must be gone when the lease ends. */
    World committed(Updater updater) {
        int next = version + 1;
        return new World(
                entry,
                clock,
                next,
                updater.prepares() ? next : floor,
                bounded(next, updater.prepares() ? updater.leaseEnd() : FOR_EVER),
                repeats,
                repeated,
                readers,
                updaters,
                rows,
                relay);
    }

    /** An invalidation was acknowledged: older versions must be gone when the window is over. */
    World invalidated(int window) {
        return new World(
                entry,
                clock,
                version,
                version,
                bounded(version, clock + window),
                repeats,
                repeated,
                readers,
                updaters,
                rows,
                relay);
    }

    /** Everything older than a version is bounded by a tick, if it was not by an earlier one. */
    private List<Integer> bounded(int below, int tick) {
        List<Integer> bounds = new ArrayList<>(staleUntil);
        while (bounds.size() < below) {
            bounds.add(FOR_EVER);
        }
        for (int i = 0; i < below; i++) {
            bounds.set(i, Math.min(bounds.get(i), tick));
        }
        return Collections.unmodifiableList(bounds);
    }

    private static <T> List<T> replaced(List<T> list, int index, T element) {
        List<T> copy = new ArrayList<>(list);
        copy.set(index, element);
        return Collections.unmodifiableList(copy);
    }
}
