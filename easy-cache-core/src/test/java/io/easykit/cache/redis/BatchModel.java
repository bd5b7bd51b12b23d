package io.easykit.cache.redis;

import io.easykit.cache.Consistency;
import io.easykit.cache.Outcome;
import io.easykit.cache.redis.BatchWorld.Batch;
import io.easykit.cache.redis.BatchWorld.BatchAt;
import io.easykit.cache.redis.BatchWorld.Part;
import io.easykit.cache.redis.BatchWorld.Single;
import io.easykit.cache.redis.BatchWorld.SingleAt;
import io.easykit.cache.redis.BatchWorld.Updater;
import io.easykit.cache.redis.BatchWorld.UpdaterAt;
import io.easykit.cache.redis.Explorer.Step;
import io.easykit.cache.redis.Laboratory.Result;
import io.easykit.cache.redis.Model.Violation;
import io.easykit.cache.redis.NestedWorld.Side;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules for {@link BatchWorld}. Each step is atomic: one script or plain read of one entry, one load of all missing
 * elements, one commit. The commands of a pipeline are one step each, since others may come in between. A process crashes by
 * never moving again.
 *
 * <p>What must hold: no read of either entry, by the batch or another reader, gives a version below the floor; AP: unless
 * that version's bound is still to come. An element of the batch is as fresh as a single read at the moment of its reply.
 */
final class BatchModel implements Explorer.Rules<BatchWorld> {

    /** Mistakes of a batch. */
    enum Fault {
        /** It loads first, and gets the load leases for the loaded elements afterwards. */
        FETCHES_AFTER_THE_LOAD,
        /** An element whose store was rejected is stored under a new lease, without a new load. */
        STORES_A_REJECTED_ELEMENT_AGAIN
    }

    private static final int LEASE_TICKS = 2;
    private static final String LEASE = Laboratory.millis(LEASE_TICKS);
    private static final String LOAD_LEASE = Laboratory.millis(1);
    private static final String LIFE = Laboratory.millis(3);
    private static final String NO_EPOCH = "0";
    private static final String TOKEN = "u";

    private final Laboratory laboratory;
    private final HitRule hitRule = HitRule.shipped();
    private final Consistency consistency;
    private final boolean commitsFirst;
    private final int lastTick;
    private final @Nullable Fault fault;
    private final int window;

    /**
     * @param commitsFirst whether the data change before the first call of the cache: an invalidation
     * @param lastTick where the clock stops
     */
    BatchModel(
            Laboratory laboratory, Consistency consistency, boolean commitsFirst, int lastTick, @Nullable Fault fault) {
        this.laboratory = laboratory;
        this.consistency = consistency;
        this.commitsFirst = commitsFirst;
        this.lastTick = lastTick;
        this.fault = fault;
        this.window = consistency == Consistency.AP ? 1 : 0;
    }

    /**
     * Visits every state that can be reached.
     *
     * @param warm whether the first entry holds version 0 at the start
     * @return how many states there are
     * @throws Violation if something does not hold
     */
    int visitAll(boolean warm) {
        Explorer<BatchWorld> explorer = new Explorer<>(this);
        explorer.visitAll(start(warm));
        return explorer.states();
    }

    private BatchWorld start(boolean warm) {
        Side empty = new Side(laboratory.nothing(), 0, List.of());
        Updater updater = new Updater(commitsFirst ? UpdaterAt.COMMIT : UpdaterAt.PREPARE, 0, 0, 0);
        BatchWorld cold = new BatchWorld(List.of(empty, empty), 0, 0, Batch.RESTING, Single.RESTING, updater);
        if (!warm) {
            return cold;
        }
        Result fetched = fetch(cold, 0, "warm", false);
        return cold.with(
                0,
                store(cold.with(0, fetched.entry()), 0, fetched.loadLease(), 0).entry());
    }

    @Override
    public List<Step<BatchWorld>> steps(BatchWorld world) {
        List<Step<BatchWorld>> steps = new ArrayList<>();
        addBatch(steps, world);
        addSingle(steps, world);
        addUpdater(steps, world);
        addTime(steps, world);
        return steps;
    }

    private void addTime(List<Step<BatchWorld>> steps, BatchWorld world) {
        for (int i = 0; i < 2; i++) {
            Entry entry = world.sides().get(i).entry();
            if (entry.exists() && entry.deadline() == world.clock()) {
                steps.add(new Step<>("key " + i + " expires", world.with(i, laboratory.nothing())));
            }
        }
        if (world.clock() < lastTick) {
            BatchWorld later = world.withClock(world.clock() + 1);
            for (int i = 0; i < 2; i++) {
                Entry entry = later.sides().get(i).entry();
                boolean gone = entry.exists() && entry.deadline() < later.clock();
                later = gone ? later.with(i, laboratory.nothing()) : later;
            }
            steps.add(new Step<>("the clock ticks", later));
        }
    }

    // The batch

    private void addBatch(List<Step<BatchWorld>> steps, BatchWorld world) {
        Batch batch = world.batch();
        int i = batch.index();
        switch (batch.at()) {
            case READ -> {
                Batch arrived = i == 0 ? batch.with(0, floor(world, 0)).with(1, floor(world, 1)) : batch;
                Integer hit = hitRule.accepts(world.sides().get(i).entry());
                Part part = arrived.part();
                if (hit != null) {
                    requireServable(world, i, hit, part.floor(), "B hits of " + i);
                    part = part.withValue(hit);
                }
                Batch next = arrived.with(i, part).nextOr(first());
                steps.add(new Step<>("B reads " + i + ": " + hit, world.with(skipping(next))));
            }
            case FETCH -> addFetch(steps, world, batch, i);
            case LOAD -> {
                Batch loaded = batch;
                for (int element = 0; element < 2; element++) {
                    Part part = loaded.parts().get(element);
                    loaded = part.isOpen() ? loaded.with(element, part.withValue(world.version())) : loaded;
                }
                BatchAt then = fault == Fault.FETCHES_AFTER_THE_LOAD ? BatchAt.FETCH : BatchAt.STORE;
                steps.add(new Step<>("B loads version " + world.version(), world.with(loaded.at(then))));
            }
            case STORE -> addStore(steps, world, batch, i);
            case DONE -> {}
        }
    }

    private BatchAt first() {
        return fault == Fault.FETCHES_AFTER_THE_LOAD ? BatchAt.LOAD : BatchAt.FETCH;
    }

    private static Part floor(BatchWorld world, int element) {
        return Part.OPEN.withFloor(world.sides().get(element).floor());
    }

    /** A batch of hits is done. */
    private static Batch skipping(Batch batch) {
        boolean begins = batch.at() != BatchAt.READ && batch.at() != BatchAt.DONE;
        return begins && !batch.isOpen() ? batch.at(BatchAt.DONE) : batch;
    }

    private void addFetch(List<Step<BatchWorld>> steps, BatchWorld world, Batch batch, int i) {
        boolean late = fault == Fault.FETCHES_AFTER_THE_LOAD;
        Batch next = batch.nextOr(late ? BatchAt.STORE : BatchAt.LOAD);
        if (!batch.part().isOpen() && !late) {
            steps.add(new Step<>("B has " + i, world.with(next)));
            return;
        }
        Result fetched = fetch(world, i, "B   ", consistency == Consistency.AP);
        Outcome outcome = fetched.outcome();
        Part part = batch.part();
        if (!late && (outcome == Outcome.SUCCESS || outcome == Outcome.SUCCESS_NEED_QUERY)) {
            requireServable(world, i, fetched.version(), part.floor(), "B fetches of " + i);
            part = part.withValue(fetched.version());
        } else if (outcome == Outcome.NEED_QUERY) {
            part = part.withLease(fetched.loadLease());
        }
        steps.add(new Step<>(
                "B fetches " + i + ": " + outcome,
                world.with(i, fetched.entry()).with(next.with(i, part))));
    }

    private void addStore(List<Step<BatchWorld>> steps, BatchWorld world, Batch batch, int i) {
        Part part = batch.part();
        if (part.lease().isEmpty()) {
            steps.add(new Step<>("B has nothing to store of " + i, ended(world.with(batch.nextOr(BatchAt.DONE)))));
            return;
        }
        Result stored = store(world, i, part.lease(), part.value());
        boolean rejected = Long.valueOf(0).equals(stored.reply());
        boolean again = rejected && batch.round() == 0;
        Part after = part.withLease("");
        if (again && fault == Fault.STORES_A_REJECTED_ELEMENT_AGAIN) {
            Result fetched = fetch(world, i, "B   ", false);
            after = fetched.outcome() == Outcome.NEED_QUERY ? part.withLease(fetched.loadLease()) : after;
            BatchWorld there = world.with(i, fetched.entry());
            Batch same = new Batch(BatchAt.STORE, i, 1, batch.parts()).with(i, after);
            steps.add(new Step<>("B fetches " + i + " once more", there.with(same)));
            return;
        }
        after = again && consistency == Consistency.CP ? after.withValue(-1) : after;
        Batch next = batch.with(i, after).nextOr(BatchAt.DONE);
        steps.add(new Step<>(
                "B stores version " + part.value() + " of " + i + ": " + stored.reply(),
                ended(world.with(i, stored.entry()).with(next))));
    }

    /** CP: elements whose store was rejected are loaded once more. */
    private BatchWorld ended(BatchWorld world) {
        Batch batch = world.batch();
        if (batch.at() != BatchAt.DONE) {
            return world;
        }
        if (batch.isOpen()) {
            return world.with(new Batch(first(), 0, 1, batch.parts()));
        }
        return world.with(new Batch(BatchAt.DONE, 0, 0, List.of(Part.OPEN, Part.OPEN)));
    }

    // The other reader

    private void addSingle(List<Step<BatchWorld>> steps, BatchWorld world) {
        Single single = world.single();
        switch (single.at()) {
            case REST -> {
                boolean hit = hitRule.accepts(world.sides().get(1).entry()) != null;
                steps.add(new Step<>(
                        hit ? "S hits" : "S misses",
                        world.with(hit ? Single.DONE : new Single(SingleAt.FETCH, "", 0))));
            }
            case FETCH -> {
                Result fetched = fetch(world, 1, "S   ", consistency == Consistency.AP);
                boolean granted = fetched.outcome() == Outcome.NEED_QUERY;
                steps.add(new Step<>(
                        "S fetches: " + fetched.outcome(),
                        world.with(1, fetched.entry())
                                .with(granted ? new Single(SingleAt.LOAD, fetched.loadLease(), 0) : Single.DONE)));
            }
            case LOAD ->
                steps.add(
                        new Step<>("S loads", world.with(new Single(SingleAt.STORE, single.lease(), world.version()))));
            case STORE -> {
                Result stored = store(world, 1, single.lease(), single.loaded());
                steps.add(new Step<>(
                        "S stores version " + single.loaded() + ": " + stored.reply(),
                        world.with(1, stored.entry()).with(Single.DONE)));
            }
            case DONE -> {}
        }
    }

    // The updater

    private void addUpdater(List<Step<BatchWorld>> steps, BatchWorld world) {
        Updater updater = world.updater();
        int i = updater.index();
        switch (updater.at()) {
            case PREPARE -> {
                Result prepared = run(world, i, CacheScript.PREPARE, List.of(TOKEN, LEASE, Laboratory.millis(window)));
                steps.add(new Step<>(
                        "U prepares " + i,
                        world.with(i, prepared.entry())
                                .with(updater.until(world.clock() + LEASE_TICKS).nextOr(UpdaterAt.COMMIT))));
            }
            case COMMIT -> {
                if (commitsFirst || world.clock() < updater.leaseEnd()) {
                    steps.add(new Step<>(
                            "U commits", world.committed(!commitsFirst).with(updater.at(UpdaterAt.INVALIDATE))));
                }
            }
            case INVALIDATE -> {
                Result invalidated = run(world, i, CacheScript.INVALIDATE, List.of(TOKEN, Laboratory.millis(window)));
                BatchWorld next = world.with(i, invalidated.entry()).with(updater.nextOr(UpdaterAt.DONE));
                steps.add(new Step<>("U invalidates " + i, i == 1 ? next.returned(window) : next));
            }
            case DONE -> {}
        }
    }

    // What must hold

    @Override
    public void check(BatchWorld world) {
        for (int i = 0; i < 2; i++) {
            Side side = world.sides().get(i);
            Integer hit = hitRule.accepts(side.entry());
            if (hit != null) {
                requireServable(world, i, hit, side.floor(), "a plain read would hit of " + i);
            }
            Result fetched = fetch(world, i, "look", consistency == Consistency.AP);
            if (fetched.outcome() == Outcome.SUCCESS || fetched.outcome() == Outcome.SUCCESS_NEED_QUERY) {
                requireServable(world, i, fetched.version(), side.floor(), "a fetch would bring of " + i);
            }
        }
    }

    private void requireServable(BatchWorld world, int i, int version, int floor, String what) {
        world.sides().get(i).requireServable(consistency, version, floor, world.clock(), what);
    }

    // Scripts

    private Result run(BatchWorld world, int i, CacheScript script, List<String> arguments) {
        return laboratory.run(world.sides().get(i).entry(), world.clock(), script, arguments);
    }

    private Result fetch(BatchWorld world, int i, String caller, boolean stale) {
        return run(
                world,
                i,
                CacheScript.FETCH,
                List.of(
                        caller,
                        LOAD_LEASE,
                        LOAD_LEASE,
                        stale ? Laboratory.millis(window) : "0",
                        "0",
                        "0",
                        NO_EPOCH,
                        "v"));
    }

    private Result store(BatchWorld world, int i, String lease, int version) {
        return run(world, i, CacheScript.STORE, List.of(lease, NO_EPOCH, "v" + version, LIFE, "v", "0"));
    }
}
