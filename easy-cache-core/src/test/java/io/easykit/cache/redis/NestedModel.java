package io.easykit.cache.redis;

import io.easykit.cache.Consistency;
import io.easykit.cache.Outcome;
import io.easykit.cache.redis.Explorer.Step;
import io.easykit.cache.redis.Laboratory.Result;
import io.easykit.cache.redis.Model.Violation;
import io.easykit.cache.redis.NestedWorld.Neighbour;
import io.easykit.cache.redis.NestedWorld.NeighbourAt;
import io.easykit.cache.redis.NestedWorld.Reader;
import io.easykit.cache.redis.NestedWorld.Side;
import io.easykit.cache.redis.NestedWorld.Updater;
import io.easykit.cache.redis.NestedWorld.UpdaterAt;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The rules for {@link NestedWorld}. As in {@link Model} each step is atomic, and a process crashes by never moving again.
 *
 * <p>What must hold: no read of either entry, now or when the reader of the outer value returns, gives a version below the
 * floor; AP: unless that version's bound is still to come. So an outer value is never stored with an inner one from before
 * an update of both that has returned.
 */
final class NestedModel implements Explorer.Rules<NestedWorld> {

    /** Mistakes of a load or an update. */
    enum Fault {
        /** A read inside a load takes a value inside its stale window. */
        TAKES_STALE_INSIDE,
        /** A read inside a load takes the result of a load that began before. */
        SHARES_OLDER_LOAD,
        /** A read inside a load takes the value of the local level. */
        TAKES_LOCAL_INSIDE,
        /** Several keys are invalidated one after the other, without being prepared first. */
        DOES_NOT_PREPARE
    }

    private static final int LEASE_TICKS = 2;
    private static final String LEASE = Laboratory.millis(LEASE_TICKS);
    private static final String LOAD_LEASE = Laboratory.millis(1);
    private static final String LIFE = Laboratory.millis(3);
    private static final String NO_EPOCH = "0";
    private static final String TOKEN = "u";

    private final Laboratory laboratory;
    private final HitRule hitRule = HitRule.shipped();
    private final Consistency outerConsistency;
    private final Consistency innerConsistency;
    private final boolean commitsFirst;
    private final boolean innerFirst;
    private final int lastTick;
    private final Set<Fault> faults;

    /**
     * @param commitsFirst whether the data change before the first call of the cache: an invalidation
     * @param innerFirst whether the inner key is prepared and invalidated before the outer one
     * @param lastTick where the clock stops
     */
    NestedModel(
            Laboratory laboratory,
            Consistency outerConsistency,
            Consistency innerConsistency,
            boolean commitsFirst,
            boolean innerFirst,
            int lastTick,
            Set<Fault> faults) {
        this.laboratory = laboratory;
        this.outerConsistency = outerConsistency;
        this.innerConsistency = innerConsistency;
        this.commitsFirst = commitsFirst;
        this.innerFirst = innerFirst;
        this.lastTick = lastTick;
        this.faults = faults.isEmpty() ? EnumSet.noneOf(Fault.class) : EnumSet.copyOf(faults);
    }

    /**
     * Visits every state that can be reached.
     *
     * @param warmInner whether the inner entry holds version 0 at the start
     * @return how many states there are
     * @throws Violation if something does not hold
     */
    int visitAll(boolean warmInner) {
        Explorer<NestedWorld> explorer = new Explorer<>(this);
        explorer.visitAll(start(warmInner));
        return explorer.states();
    }

    private NestedWorld start(boolean warmInner) {
        Side empty = new Side(laboratory.nothing(), 0, List.of());
        UpdaterAt first = commitsFirst ? UpdaterAt.COMMIT : UpdaterAt.PREPARE_FIRST;
        NestedWorld cold =
                new NestedWorld(empty, empty, 0, 0, Reader.RESTING, Neighbour.RESTING, new Updater(first, 0, 0));
        if (!warmInner) {
            return cold;
        }
        Result fetched = fetch(cold, false, "warm", false);
        Result stored = store(cold.withInner(fetched.entry()), false, fetched.loadLease(), 0);
        return cold.withInner(stored.entry());
    }

    @Override
    public List<Step<NestedWorld>> steps(NestedWorld world) {
        List<Step<NestedWorld>> steps = new ArrayList<>();
        addReader(steps, world);
        addNeighbour(steps, world);
        addUpdater(steps, world);
        addTime(steps, world);
        return steps;
    }

    private void addTime(List<Step<NestedWorld>> steps, NestedWorld world) {
        if (expiresNow(world, world.outer())) {
            steps.add(new Step<>("the outer key expires", world.withOuter(laboratory.nothing())));
        }
        if (expiresNow(world, world.inner())) {
            steps.add(new Step<>("the inner key expires", world.withInner(laboratory.nothing())));
        }
        if (world.clock() < lastTick) {
            NestedWorld later = world.withClock(world.clock() + 1);
            later = isGone(later, later.outer()) ? later.withOuter(laboratory.nothing()) : later;
            later = isGone(later, later.inner()) ? later.withInner(laboratory.nothing()) : later;
            steps.add(new Step<>("the clock ticks", later));
        }
    }

    private static boolean expiresNow(NestedWorld world, Side side) {
        return side.entry().exists() && side.entry().deadline() == world.clock();
    }

    private static boolean isGone(NestedWorld world, Side side) {
        return side.entry().exists() && side.entry().deadline() < world.clock();
    }

    // The reader of the outer value

    private void addReader(List<Step<NestedWorld>> steps, NestedWorld world) {
        Reader reader = world.reader();
        switch (reader.at()) {
            case REST -> {
                Integer hit = hitRule.accepts(world.outer().entry());
                steps.add(
                        hit != null
                                ? new Step<>("R hits", world.with(reader.isDone()))
                                : new Step<>(
                                        "R misses",
                                        world.with(reader.arrives(world.outer().floor()))));
            }
            case FETCH_OUTER -> addOuterFetch(steps, world, reader);
            case READ_INNER -> addInnerRead(steps, world, reader);
            case FETCH_INNER -> addInnerFetch(steps, world, reader);
            case LOAD_INNER ->
                steps.add(new Step<>("R loads the inner value", world.with(reader.hasLoadedInner(world.version()))));
            case STORE_INNER -> {
                Result stored = store(world, false, reader.innerLoadLease(), reader.loaded());
                steps.add(new Step<>(
                        "R stores the inner version " + reader.loaded() + ": " + stored.reply(),
                        world.withInner(stored.entry()).with(reader.hasInner(reader.loaded()))));
            }
            case STORE_OUTER -> {
                Result stored = store(world, true, reader.outerLoadLease(), reader.loaded());
                requireServable(world, true, reader.loaded(), reader.floor(), "R returns the outer");
                steps.add(new Step<>(
                        "R stores the outer version " + reader.loaded() + ": " + stored.reply(),
                        world.withOuter(stored.entry()).with(reader.isDone())));
            }
            case DONE -> {}
        }
    }

    private void addOuterFetch(List<Step<NestedWorld>> steps, NestedWorld world, Reader reader) {
        Result fetched = fetch(world, true, "R   ", allowsStale(outerConsistency));
        NestedWorld next = world.withOuter(fetched.entry());
        Outcome outcome = fetched.outcome();
        boolean granted = outcome == Outcome.NEED_QUERY || outcome == Outcome.SUCCESS_NEED_QUERY;
        steps.add(
                granted
                        ? new Step<>(
                                "R begins to load the outer value",
                                next.with(reader.beginsOuterLoad(fetched.loadLease()))
                                        .with(world.neighbour().growsOlder()))
                        // It waits, is served, or loads without storing: the checks of one entry see to that.
                        : new Step<>("R is granted no load lease", next.with(reader.isDone())));
    }

    private void addInnerRead(List<Step<NestedWorld>> steps, NestedWorld world, Reader reader) {
        Integer hit = hitRule.accepts(world.inner().entry());
        steps.add(
                hit != null
                        ? new Step<>("R hits the inner version " + hit, world.with(reader.hasInner(hit)))
                        : new Step<>("R misses the inner value", world.with(reader.missesInner())));
        if (faults.contains(Fault.TAKES_LOCAL_INSIDE)) {
            steps.add(new Step<>("R takes the inner version 0 from the local level", world.with(reader.hasInner(0))));
        }
    }

    private void addInnerFetch(List<Step<NestedWorld>> steps, NestedWorld world, Reader reader) {
        Neighbour neighbour = world.neighbour();
        if (neighbour.at() == NeighbourAt.STORE && (!neighbour.older() || faults.contains(Fault.SHARES_OLDER_LOAD))) {
            steps.add(new Step<>("R has P's inner version", world.with(reader.hasInner(neighbour.loaded()))));
        }
        boolean stale = faults.contains(Fault.TAKES_STALE_INSIDE) && allowsStale(innerConsistency);
        Result fetched = fetch(world, false, "Ri  ", stale);
        NestedWorld next = world.withInner(fetched.entry());
        Outcome outcome = fetched.outcome();
        String what = "R fetches the inner value: " + outcome;
        switch (outcome) {
            case SUCCESS, SUCCESS_NEED_QUERY ->
                steps.add(new Step<>(what, next.with(reader.hasInner(fetched.version()))));
            case NEED_QUERY -> steps.add(new Step<>(what, next.with(reader.beginsInnerLoad(fetched.loadLease()))));
            case NEED_WAIT, NEED_QUERY_NO_STORE -> {
                steps.add(new Step<>(what + ", waits", next));
                steps.add(new Step<>(what + ", loads without storing", next.with(reader.hasInner(world.version()))));
            }
        }
    }

    // The reader of the inner value

    private void addNeighbour(List<Step<NestedWorld>> steps, NestedWorld world) {
        Neighbour neighbour = world.neighbour();
        switch (neighbour.at()) {
            case REST -> {
                boolean hit = hitRule.accepts(world.inner().entry()) != null;
                steps.add(new Step<>(
                        hit ? "P hits" : "P misses",
                        world.with(hit ? Neighbour.DONE : neighbour.at(NeighbourAt.FETCH))));
            }
            case FETCH -> {
                Result fetched = fetch(world, false, "P   ", allowsStale(innerConsistency));
                Outcome outcome = fetched.outcome();
                boolean granted = outcome == Outcome.NEED_QUERY || outcome == Outcome.SUCCESS_NEED_QUERY;
                steps.add(new Step<>(
                        "P fetches: " + outcome,
                        world.withInner(fetched.entry())
                                .with(granted ? neighbour.takesLoadLease(fetched.loadLease()) : Neighbour.DONE)));
            }
            case LOAD -> steps.add(new Step<>("P loads", world.with(neighbour.hasLoaded(world.version()))));
            case STORE -> {
                Result stored = store(world, false, neighbour.loadLease(), neighbour.loaded());
                steps.add(new Step<>(
                        "P stores version " + neighbour.loaded() + ": " + stored.reply(),
                        world.withInner(stored.entry()).with(Neighbour.DONE)));
            }
            case DONE -> {}
        }
    }

    // The updater

    private void addUpdater(List<Step<NestedWorld>> steps, NestedWorld world) {
        Updater updater = world.updater();
        switch (updater.at()) {
            case PREPARE_FIRST -> addPrepare(steps, world, !innerFirst, UpdaterAt.PREPARE_SECOND);
            case PREPARE_SECOND ->
                addPrepare(steps, world, innerFirst, commitsFirst ? UpdaterAt.INVALIDATE_FIRST : UpdaterAt.COMMIT);
            case COMMIT -> {
                if (commitsFirst || world.clock() < updater.leaseEnd()) {
                    boolean prepares = !faults.contains(Fault.DOES_NOT_PREPARE);
                    UpdaterAt next = commitsFirst && prepares ? UpdaterAt.PREPARE_FIRST : UpdaterAt.INVALIDATE_FIRST;
                    steps.add(new Step<>(
                            "U commits", world.committed(!commitsFirst).with(updater.at(next))));
                }
            }
            case INVALIDATE_FIRST -> addInvalidate(steps, world, !innerFirst, UpdaterAt.INVALIDATE_SECOND);
            case INVALIDATE_SECOND -> addInvalidate(steps, world, innerFirst, UpdaterAt.DONE);
            case DONE -> {}
        }
    }

    private void addPrepare(List<Step<NestedWorld>> steps, NestedWorld world, boolean outer, UpdaterAt then) {
        Result prepared = laboratory.run(
                side(world, outer).entry(),
                world.clock(),
                CacheScript.PREPARE,
                List.of(TOKEN, LEASE, Laboratory.millis(window(consistency(outer)))));
        steps.add(new Step<>(
                "U prepares the " + name(outer),
                with(world, outer, prepared.entry())
                        .with(world.updater().prepared(then, world.clock() + LEASE_TICKS))));
    }

    private void addInvalidate(List<Step<NestedWorld>> steps, NestedWorld world, boolean outer, UpdaterAt then) {
        Result invalidated = laboratory.run(
                side(world, outer).entry(),
                world.clock(),
                CacheScript.INVALIDATE,
                List.of(TOKEN, Laboratory.millis(window(consistency(outer)))));
        NestedWorld next =
                with(world, outer, invalidated.entry()).with(world.updater().at(then));
        steps.add(new Step<>(
                "U invalidates the " + name(outer),
                then == UpdaterAt.DONE ? next.returned(window(outerConsistency), window(innerConsistency)) : next));
    }

    // What must hold

    @Override
    public void check(NestedWorld world) {
        for (boolean outer : new boolean[] {true, false}) {
            Side side = side(world, outer);
            Integer hit = hitRule.accepts(side.entry());
            if (hit != null) {
                requireServable(world, outer, hit, side.floor(), "a plain read would hit the " + name(outer));
            }
            Result fetched = fetch(world, outer, "look", allowsStale(consistency(outer)));
            if (fetched.outcome() == Outcome.SUCCESS || fetched.outcome() == Outcome.SUCCESS_NEED_QUERY) {
                requireServable(
                        world, outer, fetched.version(), side.floor(), "a fetch would bring the " + name(outer));
            }
        }
    }

    private void requireServable(NestedWorld world, boolean outer, int version, int floor, String what) {
        side(world, outer).requireServable(consistency(outer), version, floor, world.clock(), what);
    }

    // Scripts

    private Result fetch(NestedWorld world, boolean outer, String caller, boolean allowsStale) {
        return laboratory.run(
                side(world, outer).entry(),
                world.clock(),
                CacheScript.FETCH,
                List.of(
                        caller,
                        LOAD_LEASE,
                        LOAD_LEASE,
                        allowsStale ? Laboratory.millis(1) : "0",
                        "0",
                        "0",
                        NO_EPOCH,
                        "v"));
    }

    private Result store(NestedWorld world, boolean outer, String loadLease, int version) {
        return laboratory.run(
                side(world, outer).entry(),
                world.clock(),
                CacheScript.STORE,
                List.of(loadLease, NO_EPOCH, "v" + version, LIFE, "v", "0"));
    }

    private static Side side(NestedWorld world, boolean outer) {
        return outer ? world.outer() : world.inner();
    }

    private static NestedWorld with(NestedWorld world, boolean outer, Entry entry) {
        return outer ? world.withOuter(entry) : world.withInner(entry);
    }

    private Consistency consistency(boolean outer) {
        return outer ? outerConsistency : innerConsistency;
    }

    private static String name(boolean outer) {
        return outer ? "outer" : "inner";
    }

    private static boolean allowsStale(Consistency consistency) {
        return consistency == Consistency.AP;
    }

    private static int window(Consistency consistency) {
        return consistency == Consistency.AP ? 1 : 0;
    }
}
