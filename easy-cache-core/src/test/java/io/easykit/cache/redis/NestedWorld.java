package io.easykit.cache.redis;

import io.easykit.cache.Consistency;
import io.easykit.cache.redis.Model.Violation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One state of the model with two entries: an outer value is computed from an inner one, and both are versions of the
 * same data.
 *
 * @param outer the outer entry and the versions that may be read of it
 * @param inner the inner entry and the versions that may be read of it
 * @param clock Redis's clock in ticks
 * @param version the committed version
 * @param reader reads the outer value, and the inner one when it loads
 * @param neighbour reads the inner value in the same JVM
 * @param updater updates both
 */
record NestedWorld(
        Side outer, Side inner, int clock, int version, Reader reader, Neighbour neighbour, Updater updater) {

    /** Spelled out as in {@link World}, for the same reason. */
    @Override
    public int hashCode() {
        int hash = outer.hashCode();
        hash = 31 * hash + inner.hashCode();
        hash = 31 * hash + clock;
        hash = 31 * hash + version;
        hash = 31 * hash + reader.hashCode();
        hash = 31 * hash + neighbour.hashCode();
        return 31 * hash + updater.hashCode();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof NestedWorld world
                        && clock == world.clock
                        && version == world.version
                        && outer.equals(world.outer)
                        && inner.equals(world.inner)
                        && reader.equals(world.reader)
                        && neighbour.equals(world.neighbour)
                        && updater.equals(world.updater));
    }

    /** No version is bounded yet. */
    static final int FOR_EVER = Integer.MAX_VALUE;

    /**
     * One entry.
     *
     * @param floor the oldest version that a read may return that comes now
     * @param staleUntil for each version, until which tick an AP read may return it although it is below the floor
     */
    record Side(Entry entry, int floor, List<Integer> staleUntil) {

        @Override
        public int hashCode() {
            int hash = System.identityHashCode(entry);
            hash = 31 * hash + floor;
            return 31 * hash + staleUntil.hashCode();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other
                    || (other instanceof Side side
                            && entry == side.entry
                            && floor == side.floor
                            && staleUntil.equals(side.staleUntil));
        }

        /**
         * A version that is returned now must be at least as new as a floor; AP: unless its bound is still to come.
         *
         * @param what what returns it, for the message
         */
        void requireServable(Consistency consistency, int version, int least, int clock, String what) {
            boolean inWindow =
                    consistency == Consistency.AP && version < staleUntil.size() && clock < staleUntil.get(version);
            if (version < least && !inWindow) {
                throw new Violation(
                        what + " version " + version + ", where " + least + " is the oldest that may be returned");
            }
        }

        Side with(Entry value) {
            return new Side(value, floor, staleUntil);
        }

        /** Older versions than this one must be gone at a tick, unless they must be gone before. */
        Side bounded(int version, int newFloor, int tick) {
            List<Integer> bounds = new ArrayList<>(staleUntil);
            while (bounds.size() < version) {
                bounds.add(FOR_EVER);
            }
            for (int i = 0; i < version; i++) {
                bounds.set(i, Math.min(bounds.get(i), tick));
            }
            return new Side(entry, newFloor, Collections.unmodifiableList(bounds));
        }
    }

    enum ReaderAt {
        REST,
        FETCH_OUTER,
        /** Loads the outer value and is about to read the inner one, without a script. */
        READ_INNER,
        FETCH_INNER,
        LOAD_INNER,
        STORE_INNER,
        STORE_OUTER,
        DONE
    }

    /**
     * The reader of the outer value.
     *
     * @param floor of the outer value when it came
     * @param loaded the version of the inner value that it has
     */
    record Reader(ReaderAt at, int floor, String outerLoadLease, String innerLoadLease, int loaded) {

        static final Reader RESTING = new Reader(ReaderAt.REST, 0, "", "", 0);

        Reader arrives(int floorNow) {
            return new Reader(ReaderAt.FETCH_OUTER, floorNow, "", "", 0);
        }

        Reader beginsOuterLoad(String loadLease) {
            return new Reader(ReaderAt.READ_INNER, floor, loadLease, "", 0);
        }

        Reader missesInner() {
            return new Reader(ReaderAt.FETCH_INNER, floor, outerLoadLease, "", 0);
        }

        Reader beginsInnerLoad(String loadLease) {
            return new Reader(ReaderAt.LOAD_INNER, floor, outerLoadLease, loadLease, 0);
        }

        Reader hasLoadedInner(int version) {
            return new Reader(ReaderAt.STORE_INNER, floor, outerLoadLease, innerLoadLease, version);
        }

        Reader hasInner(int version) {
            return new Reader(ReaderAt.STORE_OUTER, floor, outerLoadLease, "", version);
        }

        Reader isDone() {
            return new Reader(ReaderAt.DONE, 0, "", "", 0);
        }

        /** Whether its load of the outer value runs. */
        boolean isLoading() {
            return at.compareTo(ReaderAt.READ_INNER) >= 0 && at.compareTo(ReaderAt.STORE_OUTER) < 0;
        }
    }

    enum NeighbourAt {
        REST,
        FETCH,
        LOAD,
        /** Has loaded, and is about to store. Others may have its result. */
        STORE,
        DONE
    }

    /**
     * A reader of the inner value in the same JVM.
     *
     * @param older whether its load began before the running load of the outer value
     */
    record Neighbour(NeighbourAt at, String loadLease, int loaded, boolean older) {

        static final Neighbour RESTING = new Neighbour(NeighbourAt.REST, "", 0, false);
        static final Neighbour DONE = new Neighbour(NeighbourAt.DONE, "", 0, false);

        Neighbour at(NeighbourAt next) {
            return new Neighbour(next, loadLease, loaded, older);
        }

        Neighbour takesLoadLease(String newLoadLease) {
            return new Neighbour(NeighbourAt.LOAD, newLoadLease, 0, false);
        }

        Neighbour hasLoaded(int version) {
            return new Neighbour(NeighbourAt.STORE, loadLease, version, older);
        }

        /** The load of the outer value begins now. */
        Neighbour growsOlder() {
            boolean loads = at == NeighbourAt.LOAD || at == NeighbourAt.STORE;
            return new Neighbour(at, loadLease, loaded, loads);
        }
    }

    enum UpdaterAt {
        PREPARE_FIRST,
        PREPARE_SECOND,
        COMMIT,
        INVALIDATE_FIRST,
        INVALIDATE_SECOND,
        DONE
    }

    /**
     * The updater of both.
     *
     * @param leaseEnd the tick until which it must have committed: the end of its first lease
     * @param lastLeaseEnd the tick until which older values may be returned if it crashes
     */
    record Updater(UpdaterAt at, int leaseEnd, int lastLeaseEnd) {

        Updater at(UpdaterAt next) {
            return new Updater(next, leaseEnd, lastLeaseEnd);
        }

        Updater prepared(UpdaterAt next, int end) {
            return new Updater(next, leaseEnd == 0 ? end : leaseEnd, end);
        }
    }

    NestedWorld withOuter(Entry entry) {
        return new NestedWorld(outer.with(entry), inner, clock, version, reader, neighbour, updater);
    }

    NestedWorld withInner(Entry entry) {
        return new NestedWorld(outer, inner.with(entry), clock, version, reader, neighbour, updater);
    }

    NestedWorld with(Reader value) {
        return new NestedWorld(outer, inner, clock, version, value, neighbour, updater);
    }

    NestedWorld with(Neighbour value) {
        return new NestedWorld(outer, inner, clock, version, reader, value, updater);
    }

    NestedWorld with(Updater value) {
        return new NestedWorld(outer, inner, clock, version, reader, neighbour, value);
    }

    NestedWorld withClock(int value) {
        return new NestedWorld(outer, inner, value, version, reader, neighbour, updater);
    }

    /** A commit. A prepared version is the floor at once; older versions must be gone when the lease ends. */
    NestedWorld committed(boolean prepared) {
        int next = version + 1;
        int bound = prepared ? updater.lastLeaseEnd : FOR_EVER;
        return new NestedWorld(
                outer.bounded(next, prepared ? next : outer.floor, bound),
                inner.bounded(next, prepared ? next : inner.floor, bound),
                clock,
                next,
                reader,
                neighbour,
                updater);
    }

    /** The update returned: older versions must be gone when the windows are over. */
    NestedWorld returned(int outerWindow, int innerWindow) {
        return new NestedWorld(
                outer.bounded(version, version, clock + outerWindow),
                inner.bounded(version, version, clock + innerWindow),
                clock,
                version,
                reader,
                neighbour,
                updater);
    }
}
