package io.easykit.cache.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One state of {@link NearModel}: the entry in Redis, the near level of one node, and where its readers and the updaters of
 * all nodes stand.
 *
 * @param version the committed version
 * @param staleUntil for each version the tick until which it may be returned; versions that are not listed have no bound yet
 * @param floorHere the oldest version that a read of the node may return, after updates of its own
 * @param near the value in the near level, null for none
 * @param stamp how often updates of the node, and hints, have changed the stamp of the key
 * @param hints those of updates elsewhere
 */
record NearWorld(
        Entry entry,
        int clock,
        int version,
        List<Integer> staleUntil,
        int floorHere,
        boolean ownUpdate,
        @Nullable Near near,
        int stamp,
        Hints hints,
        List<Reader> readers,
        List<Updater> updaters) {

    /** Spelled out as in {@link World}, for the same reason. */
    @Override
    public int hashCode() {
        int hash = System.identityHashCode(entry);
        hash = 31 * hash + clock;
        hash = 31 * hash + version;
        hash = 31 * hash + staleUntil.hashCode();
        hash = 31 * hash + floorHere;
        hash = 31 * hash + (ownUpdate ? 1 : 0);
        hash = 31 * hash + Objects.hashCode(near);
        hash = 31 * hash + stamp;
        hash = 31 * hash + hints.hashCode();
        hash = 31 * hash + readers.hashCode();
        return 31 * hash + updaters.hashCode();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof NearWorld world
                        && entry == world.entry
                        && clock == world.clock
                        && version == world.version
                        && floorHere == world.floorHere
                        && ownUpdate == world.ownUpdate
                        && stamp == world.stamp
                        && staleUntil.equals(world.staleUntil)
                        && Objects.equals(near, world.near)
                        && hints.equals(world.hints)
                        && readers.equals(world.readers)
                        && updaters.equals(world.updaters));
    }

    static final int FOR_EVER = Integer.MAX_VALUE;

    /**
     * @param until the tick from which the value is not returned
     */
    record Near(int version, int until) {}

    /**
     * Hints about updates elsewhere.
     *
     * @param onTheWay the version that was committed when each was sent
     * @param arrived the newest version of which one has arrived: the near level has nothing older
     */
    record Hints(List<Integer> onTheWay, int arrived) {

        static final Hints NONE = new Hints(List.of(), 0);

        Hints sent(int version) {
            List<Integer> more = new ArrayList<>(onTheWay);
            more.add(version);
            return new Hints(Collections.unmodifiableList(more), arrived);
        }

        /** The hint at an index is lost, or arrives. */
        Hints without(int index, boolean arrives) {
            List<Integer> left = new ArrayList<>(onTheWay);
            int version = left.remove(index);
            return new Hints(Collections.unmodifiableList(left), arrives ? Math.max(arrived, version) : arrived);
        }
    }

    enum ReaderAt {
        REST,
        /** Has taken a stamp, and a plain read is on its way. */
        READ,
        FETCH,
        LOAD,
        /** Has loaded, and takes a stamp next. */
        LOADED,
        STORE,
        /** Has a value, and puts it into the near level next. */
        KEEP
    }

    /**
     * A reader of the node.
     *
     * @param arrivedAt tick at which the present read came
     * @param floor the floor of the node at that tick
     * @param served whether the caller has its value already
     * @param held the version that was loaded or read
     * @param stamp taken before the command
     * @param sentAt tick of the stamp
     * @param expires end of life of the value in Redis
     */
    record Reader(
            String name,
            ReaderAt at,
            int reads,
            int arrivedAt,
            int floor,
            boolean served,
            String loadLease,
            int held,
            int stamp,
            int sentAt,
            int expires,
            int grants) {

        @Override
        public int hashCode() {
            int hash = name.hashCode();
            hash = 31 * hash + at.hashCode();
            hash = 31 * hash + reads;
            hash = 31 * hash + arrivedAt;
            hash = 31 * hash + floor;
            hash = 31 * hash + (served ? 1 : 0);
            hash = 31 * hash + loadLease.hashCode();
            hash = 31 * hash + held;
            hash = 31 * hash + stamp;
            hash = 31 * hash + sentAt;
            hash = 31 * hash + expires;
            return 31 * hash + grants;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other
                    || (other instanceof Reader reader
                            && at == reader.at
                            && reads == reader.reads
                            && arrivedAt == reader.arrivedAt
                            && floor == reader.floor
                            && served == reader.served
                            && held == reader.held
                            && stamp == reader.stamp
                            && sentAt == reader.sentAt
                            && expires == reader.expires
                            && grants == reader.grants
                            && name.equals(reader.name)
                            && loadLease.equals(reader.loadLease));
        }

        static Reader resting(String name, int reads) {
            return new Reader(name, ReaderAt.REST, reads, 0, 0, false, "", 0, 0, 0, 0, 0);
        }

        Reader arrives(NearWorld world) {
            return new Reader(
                    name,
                    ReaderAt.READ,
                    reads,
                    world.clock,
                    world.floorHere,
                    false,
                    "",
                    0,
                    world.stamp,
                    world.clock,
                    0,
                    grants);
        }

        Reader at(ReaderAt next) {
            return new Reader(
                    name, next, reads, arrivedAt, floor, served, loadLease, held, stamp, sentAt, expires, grants);
        }

        Reader takesLoadLease(String lease, boolean nowServed) {
            return new Reader(name, ReaderAt.LOAD, reads, arrivedAt, floor, nowServed, lease, 0, 0, 0, 0, grants + 1);
        }

        Reader holds(int version, int end, ReaderAt next) {
            return new Reader(
                    name, next, reads, arrivedAt, floor, served, loadLease, version, stamp, sentAt, end, grants);
        }

        Reader takesStamp(NearWorld world, ReaderAt next) {
            return new Reader(
                    name,
                    next,
                    reads,
                    arrivedAt,
                    floor,
                    served,
                    loadLease,
                    held,
                    world.stamp,
                    world.clock,
                    expires,
                    grants);
        }

        Reader isDone() {
            return new Reader(name, ReaderAt.REST, reads - 1, 0, 0, false, "", 0, 0, 0, 0, reads > 1 ? grants : 0);
        }

        String caller() {
            return name + grants + "  ";
        }
    }

    enum UpdaterAt {
        REST,
        PREPARE,
        AFTER_PREPARE,
        COMMIT,
        BEFORE_INVALIDATE,
        INVALIDATE,
        AFTER_INVALIDATE
    }

    /**
     * An updater.
     *
     * @param here whether it is on the node of the near level
     * @param prepares whether it prepares before it commits
     * @param leaseEnd the tick until which it must have committed
     * @param invalidated the version that was committed when its invalidation ran: older ones are gone from Redis
     */
    record Updater(
            String name, boolean here, boolean prepares, UpdaterAt at, int updates, int leaseEnd, int invalidated) {

        @Override
        public int hashCode() {
            int hash = name.hashCode();
            hash = 31 * hash + (here ? 1 : 0);
            hash = 31 * hash + (prepares ? 1 : 0);
            hash = 31 * hash + at.hashCode();
            hash = 31 * hash + updates;
            hash = 31 * hash + leaseEnd;
            return 31 * hash + invalidated;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other
                    || (other instanceof Updater updater
                            && here == updater.here
                            && prepares == updater.prepares
                            && at == updater.at
                            && updates == updater.updates
                            && leaseEnd == updater.leaseEnd
                            && invalidated == updater.invalidated
                            && name.equals(updater.name));
        }

        static Updater resting(String name, boolean here, boolean prepares, int updates) {
            return new Updater(name, here, prepares, UpdaterAt.REST, updates, 0, 0);
        }

        Updater at(UpdaterAt next) {
            return new Updater(name, here, prepares, next, updates, 0, 0);
        }

        Updater isPrepared(int end) {
            return new Updater(name, here, prepares, UpdaterAt.AFTER_PREPARE, updates, end, 0);
        }

        Updater mayCommit() {
            return new Updater(name, here, prepares, UpdaterAt.COMMIT, updates, leaseEnd, 0);
        }

        Updater hasInvalidated(int version) {
            return new Updater(name, here, prepares, UpdaterAt.AFTER_INVALIDATE, updates, 0, version);
        }

        Updater isDone() {
            return new Updater(name, here, prepares, UpdaterAt.REST, updates - 1, 0, 0);
        }

        String token() {
            return prepares ? name + updates : "";
        }
    }

    NearWorld withEntry(Entry value) {
        return new NearWorld(
                value, clock, version, staleUntil, floorHere, ownUpdate, near, stamp, hints, readers, updaters);
    }

    NearWorld withClock(int value) {
        Near left = near != null && near.until > value ? near : null;
        return new NearWorld(
                entry, value, version, staleUntil, floorHere, ownUpdate, left, stamp, hints, readers, updaters);
    }

    NearWorld withNear(@Nullable Near value) {
        return new NearWorld(
                entry, clock, version, staleUntil, floorHere, ownUpdate, value, stamp, hints, readers, updaters);
    }

    NearWorld withHints(Hints value) {
        return new NearWorld(
                entry, clock, version, staleUntil, floorHere, ownUpdate, near, stamp, value, readers, updaters);
    }

    NearWorld committed() {
        return new NearWorld(
                entry, clock, version + 1, staleUntil, floorHere, ownUpdate, near, stamp, hints, readers, updaters);
    }

    /** The key leaves the near level, and fills under way are dropped. */
    NearWorld evicted() {
        return new NearWorld(
                entry, clock, version, staleUntil, floorHere, ownUpdate, null, stamp + 1, hints, readers, updaters);
    }

    /** Readers of the node get nothing stale from now on. */
    NearWorld withOwnUpdate() {
        return new NearWorld(entry, clock, version, staleUntil, floorHere, true, near, stamp, hints, readers, updaters);
    }

    /** An update has returned: older versions are bounded, and gone for readers of its own node. */
    NearWorld acknowledged(Updater updater, int bound) {
        List<Integer> bounds = new ArrayList<>(staleUntil);
        while (bounds.size() < updater.invalidated) {
            bounds.add(FOR_EVER);
        }
        for (int older = 0; older < updater.invalidated; older++) {
            bounds.set(older, Math.min(bounds.get(older), clock + bound));
        }
        return new NearWorld(
                entry,
                clock,
                version,
                Collections.unmodifiableList(bounds),
                updater.here ? Math.max(floorHere, updater.invalidated) : floorHere,
                ownUpdate,
                near,
                stamp,
                hints,
                readers,
                updaters);
    }

    NearWorld with(int index, Reader reader) {
        List<Reader> copy = new ArrayList<>(readers);
        copy.set(index, reader);
        return new NearWorld(
                entry,
                clock,
                version,
                staleUntil,
                floorHere,
                ownUpdate,
                near,
                stamp,
                hints,
                Collections.unmodifiableList(copy),
                updaters);
    }

    NearWorld with(int index, Updater updater) {
        List<Updater> copy = new ArrayList<>(updaters);
        copy.set(index, updater);
        return new NearWorld(
                entry,
                clock,
                version,
                staleUntil,
                floorHere,
                ownUpdate,
                near,
                stamp,
                hints,
                readers,
                Collections.unmodifiableList(copy));
    }
}
