package io.easykit.cache.redis;

import io.easykit.cache.redis.NestedWorld.Side;
import java.util.ArrayList;
import java.util.List;

/**
 * One state of the model with two entries that one call reads. Both are versions of the same data.
 *
 * @param sides the two entries, and the versions that may be read of each
 * @param clock Redis's clock in ticks
 * @param version the committed version
 * @param batch reads both
 * @param single reads the second one on another node
 * @param updater updates both
 */
record BatchWorld(List<Side> sides, int clock, int version, Batch batch, Single single, Updater updater) {

    enum BatchAt {
        READ,
        FETCH,
        LOAD,
        STORE,
        DONE
    }

    /**
     * The reader of both.
     *
     * @param index the element of the next step
     * @param round 1 after the store of an element was rejected
     */
    record Batch(BatchAt at, int index, int round, List<Part> parts) {

        static final Batch RESTING = new Batch(BatchAt.READ, 0, 0, List.of(Part.OPEN, Part.OPEN));

        Part part() {
            return parts.get(index);
        }

        Batch with(int element, Part part) {
            List<Part> copy = new ArrayList<>(parts);
            copy.set(element, part);
            return new Batch(at, index, round, List.copyOf(copy));
        }

        Batch at(BatchAt next) {
            return new Batch(next, 0, round, parts);
        }

        /** The same step of the second element, or the first one of another step. */
        Batch nextOr(BatchAt next) {
            return index == 0 ? new Batch(at, 1, round, parts) : at(next);
        }

        boolean isOpen() {
            return parts.stream().anyMatch(Part::isOpen);
        }
    }

    /**
     * One element of the batch.
     *
     * @param floor of the entry when the batch came
     * @param lease the load lease; empty without one
     * @param value the version that it has; -1 while it has none
     */
    record Part(int floor, String lease, int value) {

        static final Part OPEN = new Part(0, "", -1);

        boolean isOpen() {
            return value < 0;
        }

        Part withFloor(int now) {
            return new Part(now, lease, value);
        }

        Part withLease(String given) {
            return new Part(floor, given, value);
        }

        Part withValue(int version) {
            return new Part(floor, lease, version);
        }
    }

    enum SingleAt {
        REST,
        FETCH,
        LOAD,
        STORE,
        DONE
    }

    /** A reader of the second entry alone. */
    record Single(SingleAt at, String lease, int loaded) {

        static final Single RESTING = new Single(SingleAt.REST, "", 0);
        static final Single DONE = new Single(SingleAt.DONE, "", 0);
    }

    enum UpdaterAt {
        PREPARE,
        COMMIT,
        INVALIDATE,
        DONE
    }

    /**
     * The updater of both.
     *
     * @param index the entry of the next step
     * @param leaseEnd the tick until which it must have committed
     * @param lastLeaseEnd the tick until which older values may be returned if it crashes
     */
    record Updater(UpdaterAt at, int index, int leaseEnd, int lastLeaseEnd) {

        Updater at(UpdaterAt next) {
            return new Updater(next, 0, leaseEnd, lastLeaseEnd);
        }

        Updater nextOr(UpdaterAt next) {
            return index == 0 ? new Updater(at, 1, leaseEnd, lastLeaseEnd) : at(next);
        }

        Updater until(int end) {
            return new Updater(at, index, leaseEnd == 0 ? end : leaseEnd, end);
        }
    }

    BatchWorld with(int element, Entry entry) {
        return withSide(element, sides.get(element).with(entry));
    }

    private BatchWorld withSide(int element, Side side) {
        List<Side> copy = new ArrayList<>(sides);
        copy.set(element, side);
        return new BatchWorld(List.copyOf(copy), clock, version, batch, single, updater);
    }

    BatchWorld with(Batch value) {
        return new BatchWorld(sides, clock, version, value, single, updater);
    }

    BatchWorld with(Single value) {
        return new BatchWorld(sides, clock, version, batch, value, updater);
    }

    BatchWorld with(Updater value) {
        return new BatchWorld(sides, clock, version, batch, single, value);
    }

    BatchWorld withClock(int value) {
        return new BatchWorld(sides, value, version, batch, single, updater);
    }

    /** A commit. A prepared version is the floor at once; older versions must be gone when the lease ends. */
    BatchWorld committed(boolean prepared) {
        int next = version + 1;
        BatchWorld world = new BatchWorld(sides, clock, next, batch, single, updater);
        for (int i = 0; i < 2; i++) {
            Side side = sides.get(i);
            int bound = prepared ? updater.lastLeaseEnd : NestedWorld.FOR_EVER;
            world = world.withSide(i, side.bounded(next, prepared ? next : side.floor(), bound));
        }
        return world;
    }

    /** The update returned: older versions must be gone when the window is over. */
    BatchWorld returned(int window) {
        BatchWorld world = this;
        for (int i = 0; i < 2; i++) {
            world = world.withSide(i, sides.get(i).bounded(version, version, clock + window));
        }
        return world;
    }
}
