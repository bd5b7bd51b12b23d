package io.easykit.cache.redis;

import io.easykit.cache.Outcome;
import io.easykit.cache.redis.Explorer.Step;
import io.easykit.cache.redis.Laboratory.Result;
import io.easykit.cache.redis.Model.Violation;
import io.easykit.cache.redis.NearWorld.Hints;
import io.easykit.cache.redis.NearWorld.Near;
import io.easykit.cache.redis.NearWorld.Reader;
import io.easykit.cache.redis.NearWorld.ReaderAt;
import io.easykit.cache.redis.NearWorld.Updater;
import io.easykit.cache.redis.NearWorld.UpdaterAt;
import java.util.ArrayList;
import java.util.List;

/**
 * The rules for {@link NearWorld}. As in {@link Model} each step is atomic. A fill of the near level has three steps: the stamp,
 * the command, the put. An update of the near level's own node has three steps around each of its commands: the key leaves,
 * the command runs, the key leaves again.
 *
 * <p>What must hold: a read that comes when an update has been acknowledged for the longer one of stale window and near TTL, or
 * longer, returns nothing older than that update. A read on the node of the updater returns nothing older from the
 * acknowledgement on. So no near hit that could be made now is too old. With hints, an update elsewhere sends one with its
 * invalidation. It may arrive at any time later, or never. When it has arrived, a near hit returns nothing older than that update.
 */
final class NearModel implements Explorer.Rules<NearWorld> {

    /** Mistakes of a near level; the checker must find each. */
    enum Fault {
        NONE,
        /** A fill is kept, although an update of the node has removed the key meanwhile. */
        FILLS_WITHOUT_STAMP,
        /** The life of a value counts from the put. */
        COUNTS_FROM_INSERTION,
        /** A value inside its stale window is kept. */
        KEEPS_STALE_VALUES,
        /** A loaded value is kept, although the store rejected it. */
        KEEPS_REJECTED_VALUES,
        /** The key leaves before the commands of an update, and not after them. */
        LEAVES_BEFORE_COMMANDS_ONLY,
        /** A hint removes the key, and not the fills that are under way. */
        HINTS_WITHOUT_STAMP
    }

    private static final int LEASE_TICKS = 3;
    private static final String LEASE = Laboratory.millis(LEASE_TICKS);
    private static final String LOAD_LEASE = Laboratory.millis(1);
    private static final int LIFE_TICKS = 6;
    private static final String LIFE = Laboratory.millis(LIFE_TICKS);
    private static final String NO_EPOCH = "0";
    private static final String FIELD = HitRule.FIELD;

    private final Laboratory laboratory;
    private final HitRule hitRule = HitRule.shipped();
    private final int window;
    private final int nearTtl;
    private final int lastTick;
    private final boolean hints;
    private final Fault fault;

    /**
     * @param window stale window in ticks
     * @param nearTtl in ticks
     * @param lastTick where the clock stops
     * @param hints whether updates elsewhere send hints
     */
    NearModel(Laboratory laboratory, int window, int nearTtl, int lastTick, boolean hints, Fault fault) {
        this.hints = hints;
        this.laboratory = laboratory;
        this.window = window;
        this.nearTtl = nearTtl;
        this.lastTick = lastTick;
        this.fault = fault;
    }

    /** The entry holds version 0, and the near level nothing. */
    NearWorld warm(List<Reader> readers, List<Updater> updaters) {
        Result fetched = laboratory.run(laboratory.nothing(), 0, CacheScript.FETCH, fetchArguments("warm", true));
        String lease = fetched.loadLease();
        Result stored = laboratory.run(fetched.entry(), 0, CacheScript.STORE, storeArguments(lease, 0));
        return new NearWorld(stored.entry(), 0, 0, List.of(), 0, false, null, 0, Hints.NONE, readers, updaters);
    }

    @Override
    public List<Step<NearWorld>> steps(NearWorld world) {
        List<Step<NearWorld>> steps = new ArrayList<>();
        for (int i = 0; i < world.readers().size(); i++) {
            addSteps(steps, world, i, world.readers().get(i));
        }
        for (int i = 0; i < world.updaters().size(); i++) {
            addSteps(steps, world, i, world.updaters().get(i));
        }
        for (int i = 0; i < world.hints().onTheWay().size(); i++) {
            addHint(steps, world, i);
        }
        if (world.clock() < lastTick) {
            NearWorld later = world.withClock(world.clock() + 1);
            boolean gone = later.entry().exists() && later.entry().deadline() <= later.clock();
            steps.add(new Step<>("the clock ticks", gone ? later.withEntry(laboratory.nothing()) : later));
        }
        return steps;
    }

    private void addHint(List<Step<NearWorld>> steps, NearWorld world, int index) {
        Hints hints = world.hints();
        NearWorld removed = fault == Fault.HINTS_WITHOUT_STAMP ? world.withNear(null) : world.evicted();
        steps.add(new Step<>("a hint arrives", removed.withHints(hints.without(index, true))));
        steps.add(new Step<>("a hint is lost", world.withHints(hints.without(index, false))));
    }

    // A reader

    private void addSteps(List<Step<NearWorld>> steps, NearWorld world, int index, Reader reader) {
        String name = reader.name();
        switch (reader.at()) {
            case REST -> {
                if (reader.reads() == 0) {
                    return;
                }
                Near near = world.near();
                steps.add(
                        near != null
                                ? new Step<>(
                                        name + " hits version " + near.version() + " nearby",
                                        world.with(index, reader.isDone()))
                                : new Step<>(name + " comes", world.with(index, reader.arrives(world))));
            }
            case READ -> {
                Integer hit = hitRule.accepts(world.entry());
                if (hit == null) {
                    steps.add(new Step<>(name + " misses", world.with(index, reader.at(ReaderAt.FETCH))));
                    return;
                }
                requireServable(world, hit, reader, name + " returns");
                int end = world.entry().expires(FIELD);
                steps.add(new Step<>(
                        name + " reads version " + hit, world.with(index, reader.holds(hit, end, ReaderAt.KEEP))));
            }
            case FETCH -> addFetch(steps, world, index, reader);
            case LOAD ->
                steps.add(new Step<>(
                        name + " loads version " + world.version(),
                        world.with(index, reader.holds(world.version(), 0, ReaderAt.LOADED))));
            case LOADED ->
                steps.add(new Step<>(
                        name + " takes a stamp", world.with(index, reader.takesStamp(world, ReaderAt.STORE))));
            case STORE -> addStore(steps, world, index, reader);
            case KEEP -> steps.add(new Step<>(name + " keeps version " + reader.held(), kept(world, index, reader)));
        }
    }

    private void addFetch(List<Step<NearWorld>> steps, NearWorld world, int index, Reader reader) {
        Result fetched = laboratory.run(
                world.entry(), world.clock(), CacheScript.FETCH, fetchArguments(reader.caller(), !world.ownUpdate()));
        Outcome outcome = fetched.outcome();
        String what = reader.name() + " fetches: " + outcome;
        NearWorld next = world.withEntry(fetched.entry());
        switch (outcome) {
            case SUCCESS, SUCCESS_NEED_QUERY -> {
                int version = fetched.version();
                requireServable(world, version, reader, what);
                if (fault == Fault.KEEPS_STALE_VALUES) {
                    next = next.withNear(new Near(version, world.clock() + nearTtl));
                }
                if (outcome == Outcome.SUCCESS_NEED_QUERY) {
                    steps.add(new Step<>(what, next.with(index, reader.takesLoadLease(fetched.loadLease(), true))));
                } else {
                    steps.add(new Step<>(what, next.with(index, reader.isDone())));
                }
            }
            case NEED_QUERY ->
                steps.add(new Step<>(
                        what, next.with(index, reader.takesLoadLease(fetched.loadLease(), reader.served()))));
            case NEED_WAIT, NEED_QUERY_NO_STORE -> {
                steps.add(new Step<>(what + ", waits", next));
                steps.add(new Step<>(what + ", loads without storing", next.with(index, reader.isDone())));
            }
        }
    }

    private void addStore(List<Step<NearWorld>> steps, NearWorld world, int index, Reader reader) {
        Result stored = laboratory.run(
                world.entry(), world.clock(), CacheScript.STORE, storeArguments(reader.loadLease(), reader.held()));
        boolean accepted = stored.reply().equals(1L);
        String what = reader.name() + " stores version " + reader.held() + ": " + stored.reply();
        if (!reader.served()) {
            requireServable(world, reader.held(), reader, reader.name() + " returns what it loaded,");
        }
        int end = world.clock() + LIFE_TICKS;
        NearWorld next = world.withEntry(stored.entry());
        boolean keeps = accepted || fault == Fault.KEEPS_REJECTED_VALUES;
        steps.add(new Step<>(
                what, next.with(index, keeps ? reader.holds(reader.held(), end, ReaderAt.KEEP) : reader.isDone())));
    }

    private NearWorld kept(NearWorld world, int index, Reader reader) {
        NearWorld next = world.with(index, reader.isDone());
        int from = fault == Fault.COUNTS_FROM_INSERTION ? world.clock() : reader.sentAt();
        int until = Math.min(from + nearTtl, reader.expires());
        boolean old = reader.stamp() != world.stamp() && fault != Fault.FILLS_WITHOUT_STAMP;
        return old || until <= world.clock() ? next : next.withNear(new Near(reader.held(), until));
    }

    // An updater

    private void addSteps(List<Step<NearWorld>> steps, NearWorld world, int index, Updater updater) {
        String name = updater.name();
        switch (updater.at()) {
            case REST -> {
                if (updater.updates() > 0) {
                    UpdaterAt first = updater.prepares() ? UpdaterAt.PREPARE : UpdaterAt.COMMIT;
                    NearWorld next = updater.here() && updater.prepares() ? world.evicted() : world;
                    steps.add(new Step<>(name + " begins", next.with(index, updater.at(first))));
                }
            }
            case PREPARE -> {
                Result prepared = laboratory.run(
                        world.entry(),
                        world.clock(),
                        CacheScript.PREPARE,
                        List.of(updater.token(), LEASE, Laboratory.millis(window)));
                steps.add(new Step<>(
                        name + " prepares",
                        world.withEntry(prepared.entry())
                                .with(index, updater.isPrepared(world.clock() + LEASE_TICKS))));
            }
            case AFTER_PREPARE ->
                steps.add(new Step<>(
                        name + " is prepared", evictedAfter(world, updater).with(index, updater.mayCommit())));
            case COMMIT -> {
                if (!updater.prepares() || world.clock() < updater.leaseEnd()) {
                    steps.add(new Step<>(
                            name + " commits version " + (world.version() + 1),
                            world.committed().with(index, updater.at(UpdaterAt.BEFORE_INVALIDATE))));
                }
            }
            case BEFORE_INVALIDATE -> {
                NearWorld next = updater.here() ? world.evicted().withOwnUpdate() : world;
                steps.add(new Step<>(
                        name + " is about to invalidate", next.with(index, updater.at(UpdaterAt.INVALIDATE))));
            }
            case INVALIDATE -> {
                Result invalidated = laboratory.run(
                        world.entry(),
                        world.clock(),
                        CacheScript.INVALIDATE,
                        List.of(updater.token(), Laboratory.millis(window)));
                NearWorld next = world.withEntry(invalidated.entry());
                if (hints && !updater.here()) {
                    next = next.withHints(world.hints().sent(world.version()));
                }
                steps.add(new Step<>(name + " invalidates", next.with(index, updater.hasInvalidated(world.version()))));
            }
            case AFTER_INVALIDATE ->
                steps.add(new Step<>(
                        name + " returns",
                        evictedAfter(world, updater)
                                .acknowledged(updater, Math.max(window, nearTtl))
                                .with(index, updater.isDone())));
        }
    }

    private NearWorld evictedAfter(NearWorld world, Updater updater) {
        return updater.here() && fault != Fault.LEAVES_BEFORE_COMMANDS_ONLY ? world.evicted() : world;
    }

    // What must hold

    @Override
    public void check(NearWorld world) {
        Near near = world.near();
        if (near != null) {
            require(
                    world,
                    near.version() >= world.hints().arrived(),
                    "a near hit now returns version " + near.version()
                            + ", older than an update of which a hint has arrived");
            requireServable(world, near.version(), world.clock(), world.floorHere(), "a near hit now returns");
        }
        Entry entry = world.entry();
        if (near != null && entry.exists() && entry.has(FIELD) && !entry.has("s") && !entry.has("i")) {
            require(world, near.until() <= entry.expires(FIELD), "a near hit outlives the value in Redis");
        }
    }

    private static void requireServable(NearWorld world, int version, Reader reader, String what) {
        requireServable(world, version, reader.arrivedAt(), reader.floor(), what);
    }

    private static void requireServable(NearWorld world, int version, int arrivedAt, int floor, String what) {
        int until = version < world.staleUntil().size() ? world.staleUntil().get(version) : NearWorld.FOR_EVER;
        require(world, version >= floor, what + " version " + version + ", older than an own update");
        require(world, arrivedAt < until, what + " version " + version + ", which is too old");
    }

    private static void require(NearWorld world, boolean holds, String otherwise) {
        if (!holds) {
            throw new Violation(otherwise + " (clock " + world.clock() + ", " + world.entry() + ")");
        }
    }

    private List<String> fetchArguments(String caller, boolean allowsStale) {
        return List.of(
                caller, LOAD_LEASE, LIFE, allowsStale ? Laboratory.millis(window) : "0", "0", "0", NO_EPOCH, FIELD);
    }

    private static List<String> storeArguments(String loadLease, int version) {
        return List.of(loadLease, NO_EPOCH, Entry.envelopeOf(FIELD, version), LIFE, FIELD, "0");
    }
}
