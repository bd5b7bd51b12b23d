package io.easykit.cache.redis;

import io.easykit.cache.Consistency;
import io.easykit.cache.redis.Explorer.Step;
import io.easykit.cache.redis.Laboratory.Result;
import io.easykit.cache.redis.Model.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Clears a cache while two nodes read an entry of it: the shipped scripts on the entry and on the hash with the epochs, through
 * all interleavings. Each step is atomic, and a process crashes by never moving again.
 *
 * <p>What must hold for a read that arrives now:
 *
 * <ol>
 *   <li>If its node has read the epochs and found no clearing: the read returns nothing older than the version committed then.
 *   <li>On the node of the updater: nothing older than an update whose end was acknowledged.
 *   <li>CP, on any node: nothing older than an update that has returned.
 * </ol>
 */
final class ClearingModel implements Explorer.Rules<ClearingModel.World> {

    /** Parts of the protocol that are left out. */
    enum Fault {
        /** A loader stores under the epoch that its node has when it stores, not under the one of its fetch. */
        COMPARES_THE_EPOCH_TOO_LATE,
        /** The epoch is raised before the commit only. */
        RAISES_BEFORE_THE_COMMIT,
        /** Nothing is left for other nodes to end. */
        DOES_NOT_PREPARE,
        /** A CP reader uses epochs of any age. */
        TAKES_OLD_EPOCHS,
        /** A CP update returns when the epoch is raised. */
        DOES_NOT_WAIT,
        /** A CP reader does not mind a clearing. */
        IGNORES_CLEARINGS
    }

    private static final String PREFIX = "p";
    private static final String FIELD = HitRule.FIELD;
    private static final int LEASE_TICKS = 2;
    private static final String LEASE = Laboratory.millis(LEASE_TICKS);
    private static final String LONG = Laboratory.millis(50);

    /** A CP reader uses epochs that were read in the present tick, and a CP update waits for the next one. */
    private static final int SEEN_TICKS = 1;

    private final Laboratory laboratory;
    private final Consistency consistency;
    private final int lastTick;
    private final Set<Fault> faults;

    ClearingModel(Laboratory laboratory, Consistency consistency, int lastTick, Set<Fault> faults) {
        this.laboratory = laboratory;
        this.consistency = consistency;
        this.lastTick = lastTick;
        this.faults = faults;
    }

    enum ReaderAt {
        REST,
        FETCH,
        LOAD,
        STORE
    }

    /**
     * A node with one reader.
     *
     * @param epoch that it has read
     * @param clearing whether it has found a clearing
     * @param current whether it has read the epochs in the present tick; always false where that does not matter
     * @param floor oldest version that a read may return that arrives now
     * @param reads how many reads are still to come
     * @param used epoch of the present read
     * @param bound oldest version that the present read may return
     */
    private record Node(
            String name,
            String epoch,
            boolean clearing,
            boolean current,
            int floor,
            int reads,
            ReaderAt at,
            String used,
            int bound,
            String lease,
            int loaded) {

        /** Spelled out as in {@link io.easykit.cache.redis.World}, for the same reason. */
        @Override
        public int hashCode() {
            int hash = name.hashCode();
            hash = 31 * hash + epoch.hashCode();
            hash = 31 * hash + (clearing ? 1 : 0);
            hash = 31 * hash + (current ? 1 : 0);
            hash = 31 * hash + floor;
            hash = 31 * hash + reads;
            hash = 31 * hash + at.hashCode();
            hash = 31 * hash + used.hashCode();
            hash = 31 * hash + bound;
            hash = 31 * hash + lease.hashCode();
            return 31 * hash + loaded;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other
                    || (other instanceof Node node
                            && clearing == node.clearing
                            && current == node.current
                            && floor == node.floor
                            && reads == node.reads
                            && at == node.at
                            && bound == node.bound
                            && loaded == node.loaded
                            && name.equals(node.name)
                            && epoch.equals(node.epoch)
                            && used.equals(node.used)
                            && lease.equals(node.lease));
        }

        Node knows(String newEpoch, boolean isClearing, boolean isCurrent, int newFloor) {
            return new Node(
                    name,
                    newEpoch,
                    isClearing,
                    isCurrent && reads > 0,
                    reads > 0 ? Math.max(floor, newFloor) : 0,
                    reads,
                    at,
                    used,
                    bound,
                    lease,
                    loaded);
        }

        Node arrives(int oldest) {
            return new Node(name, epoch, clearing, current, floor, reads, ReaderAt.FETCH, epoch, oldest, "", 0);
        }

        Node takesLoadLease(String newLease) {
            return new Node(name, epoch, clearing, current, floor, reads, ReaderAt.LOAD, used, bound, newLease, 0);
        }

        Node hasLoaded(int version) {
            return new Node(name, epoch, clearing, current, floor, reads, ReaderAt.STORE, used, bound, lease, version);
        }

        Node isDone() {
            boolean goesOn = reads > 1;
            return new Node(
                    name,
                    epoch,
                    clearing,
                    current && goesOn,
                    goesOn ? floor : 0,
                    reads - 1,
                    ReaderAt.REST,
                    "",
                    0,
                    "",
                    0);
        }

        Node ages() {
            return new Node(name, epoch, clearing, false, floor, reads, at, used, bound, lease, loaded);
        }
    }

    private enum UpdaterAt {
        REST,
        COMMIT,
        END,
        WAIT
    }

    /**
     * @param updates how many are still to come
     * @param until end of the lease or of the waiting
     * @param committed the last version that it committed
     */
    private record Updater(String token, UpdaterAt at, int updates, int until, int committed) {

        Updater goesOn(UpdaterAt next, int newUntil) {
            return new Updater(token, next, updates, newUntil, committed);
        }

        Updater commits(int version) {
            return new Updater(token, UpdaterAt.END, updates, 0, version);
        }

        Updater isDone() {
            return new Updater(token, UpdaterAt.REST, updates - 1, 0, committed);
        }
    }

    /**
     * @param returned version of the last CP update that has returned
     * @param repeats how many replies may still get lost
     */
    record World(
            Entry entry,
            Entry epochs,
            int clock,
            int version,
            int returned,
            int repeats,
            List<Node> nodes,
            List<Updater> updaters) {

        @Override
        public int hashCode() {
            int hash = System.identityHashCode(entry);
            hash = 31 * hash + System.identityHashCode(epochs);
            hash = 31 * hash + clock;
            hash = 31 * hash + version;
            hash = 31 * hash + returned;
            hash = 31 * hash + repeats;
            hash = 31 * hash + nodes.hashCode();
            return 31 * hash + updaters.hashCode();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof World world
                    && entry == world.entry
                    && epochs == world.epochs
                    && clock == world.clock
                    && version == world.version
                    && returned == world.returned
                    && repeats == world.repeats
                    && nodes.equals(world.nodes)
                    && updaters.equals(world.updaters);
        }

        World withEntry(Entry value) {
            return new World(value, epochs, clock, version, returned, repeats, nodes, updaters);
        }

        World withEpochs(Entry value) {
            return new World(entry, value, clock, version, returned, repeats, nodes, updaters);
        }

        World ticks() {
            return new World(
                    entry,
                    epochs,
                    clock + 1,
                    version,
                    returned,
                    repeats,
                    nodes.stream().map(Node::ages).toList(),
                    updaters);
        }

        World commits() {
            return new World(entry, epochs, clock, version + 1, returned, repeats, nodes, updaters);
        }

        World returns(int value) {
            return new World(entry, epochs, clock, version, Math.max(returned, value), repeats, nodes, updaters);
        }

        World losesReply() {
            return new World(entry, epochs, clock, version, returned, repeats - 1, nodes, updaters);
        }

        World with(Node node) {
            return new World(
                    entry,
                    epochs,
                    clock,
                    version,
                    returned,
                    repeats,
                    replaced(nodes, one -> one.name.equals(node.name) ? node : one),
                    updaters);
        }

        World with(Updater updater) {
            return new World(
                    entry,
                    epochs,
                    clock,
                    version,
                    returned,
                    repeats,
                    nodes,
                    replaced(updaters, one -> one.token.equals(updater.token) ? updater : one));
        }

        private static <T> List<T> replaced(List<T> list, UnaryOperator<T> change) {
            return list.stream().map(change).toList();
        }

        boolean isClearing() {
            return epochs.fields().keySet().stream().anyMatch(field -> field.startsWith("::"));
        }
    }

    /** Visits every state, and returns how many there are. */
    int visitAll(int updaters, int reads, int repeats) {
        List<Updater> all = new ArrayList<>();
        for (int i = 0; i < updaters; i++) {
            all.add(new Updater("u" + i, UpdaterAt.REST, 1, 0, 0));
        }
        World start = new World(
                warm(),
                laboratory.nothing(),
                0,
                0,
                0,
                repeats,
                List.of(
                        new Node("a", "0", false, consistency == Consistency.CP, 0, reads, ReaderAt.REST, "", 0, "", 0),
                        new Node(
                                "b", "0", false, consistency == Consistency.CP, 0, reads, ReaderAt.REST, "", 0, "", 0)),
                List.copyOf(all));
        Explorer<World> explorer = new Explorer<>(this);
        explorer.visitAll(start);
        return explorer.states();
    }

    /** Only what a read returns is checked, in its step. */
    @Override
    public void check(World world) {}

    private Entry warm() {
        Result fetched = laboratory.run(laboratory.nothing(), 0, CacheScript.FETCH, fetchArguments("warm", "0"));
        String lease = (String) ((List<?>) fetched.reply()).get(3);
        return laboratory
                .run(fetched.entry(), 0, CacheScript.STORE, storeArguments(lease, "0", 0))
                .entry();
    }

    @Override
    public List<Step<World>> steps(World world) {
        List<Step<World>> steps = new ArrayList<>();
        if (world.nodes.stream().allMatch(node -> node.reads == 0)) {
            return steps;
        }
        if (world.clock < lastTick) {
            steps.add(new Step<>("tick", world.ticks()));
        }
        for (Node node : world.nodes) {
            addLook(steps, world, node);
            addRead(steps, world, node);
        }
        // They are alike, so one of their orders will do.
        boolean mayBegin = true;
        for (Updater updater : world.updaters) {
            if (mayBegin) {
                addUpdate(steps, world, updater);
            }
            mayBegin = updater.at != UpdaterAt.REST || updater.updates == 0;
        }
        return steps;
    }

    // Nodes

    private void addLook(List<Step<World>> steps, World world, Node node) {
        String epoch = world.epochs.fields().getOrDefault(PREFIX, "0");
        int seen = world.isClearing() ? 0 : world.version;
        boolean current = consistency == Consistency.CP;
        steps.add(new Step<>(
                node.name + " reads the epochs", world.with(node.knows(epoch, world.isClearing(), current, seen))));
        if (node.clearing) {
            Result ended = laboratory.run(
                    world.epochs, world.clock, CacheScript.END_EXPIRED_CLEARS, List.of(PREFIX, node.epoch));
            steps.add(new Step<>(node.name + " ends what is expired", world.withEpochs(ended.entry())));
        }
    }

    private void addRead(List<Step<World>> steps, World world, Node node) {
        switch (node.at) {
            case REST -> addArrival(steps, world, node);
            case FETCH -> addFetch(steps, world, node);
            case LOAD ->
                steps.add(new Step<>(
                        node.name + " loads version " + world.version, world.with(node.hasLoaded(world.version))));
            case STORE -> {
                String epoch = faults.contains(Fault.COMPARES_THE_EPOCH_TOO_LATE) ? node.epoch : node.used;
                Result stored = laboratory.run(
                        world.entry, world.clock, CacheScript.STORE, storeArguments(node.lease, epoch, node.loaded));
                steps.add(new Step<>(
                        node.name + " stores version " + node.loaded,
                        world.withEntry(stored.entry()).with(node.isDone())));
            }
        }
    }

    private void addArrival(List<Step<World>> steps, World world, Node node) {
        if (node.reads == 0) {
            return;
        }
        boolean strong = consistency == Consistency.CP;
        if (strong && !faults.contains(Fault.TAKES_OLD_EPOCHS) && !node.current) {
            return;
        }
        if (strong && node.clearing && !faults.contains(Fault.IGNORES_CLEARINGS)) {
            steps.add(new Step<>(node.name + " loads and stores nothing", world.with(node.isDone())));
            return;
        }
        int oldest = strong ? Math.max(node.floor, world.returned) : node.floor;
        steps.add(new Step<>(node.name + " arrives", world.with(node.arrives(oldest))));
    }

    private void addFetch(List<Step<World>> steps, World world, Node node) {
        Result fetched = laboratory.run(
                world.entry, world.clock, CacheScript.FETCH, fetchArguments(node.name + node.reads + "  ", node.used));
        List<?> reply = (List<?>) fetched.reply();
        switch ((String) reply.get(1)) {
            case "SUCCESS" -> {
                int version = Entry.versionOf(((String) reply.get(2)).substring(10));
                if (version < node.bound) {
                    throw new Violation(node.name + " gets version " + version + ", where " + node.bound
                            + " is the oldest that may be returned");
                }
                steps.add(new Step<>(node.name + " hits version " + version, world.with(node.isDone())));
            }
            case "NEED_QUERY" ->
                steps.add(new Step<>(
                        node.name + " takes the load lease",
                        world.withEntry(fetched.entry()).with(node.takesLoadLease((String) reply.get(3)))));
            case "NEED_WAIT" -> {}
            default -> throw new IllegalStateException(reply.toString());
        }
    }

    // Updaters, on the first node

    private void addUpdate(List<Step<World>> steps, World world, Updater updater) {
        String name = updater.token;
        switch (updater.at) {
            case REST -> {
                if (updater.updates == 0) {
                    return;
                }
                int until = world.clock + LEASE_TICKS;
                if (faults.contains(Fault.DOES_NOT_PREPARE)) {
                    steps.add(new Step<>(name + " begins", world.with(updater.goesOn(UpdaterAt.COMMIT, until))));
                    return;
                }
                if (faults.contains(Fault.RAISES_BEFORE_THE_COMMIT)) {
                    steps.add(new Step<>(
                            name + " raises the epoch",
                            world.withEpochs(end(world, updater).entry())
                                    .with(updater.goesOn(UpdaterAt.COMMIT, until))));
                    return;
                }
                Entry prepared = laboratory
                        .run(world.epochs, world.clock, CacheScript.PREPARE_CLEAR, List.of(PREFIX, name, LEASE))
                        .entry();
                steps.add(new Step<>(
                        name + " prepares", world.withEpochs(prepared).with(updater.goesOn(UpdaterAt.COMMIT, until))));
                addLostReply(steps, world, name + " prepares", prepared);
            }
            case COMMIT -> {
                boolean early = faults.contains(Fault.RAISES_BEFORE_THE_COMMIT);
                if (world.clock < updater.until) {
                    steps.add(new Step<>(
                            name + " commits version " + (world.version + 1),
                            world.commits().with(early ? updater.isDone() : updater.commits(world.version + 1))));
                }
                steps.add(new Step<>(name + " rolls back", world.with(updater.goesOn(UpdaterAt.END, 0))));
            }
            case END -> {
                Result ended = end(world, updater);
                steps.add(new Step<>(name + " ends", ended(world.withEpochs(ended.entry()), updater, true)));
                addLostReply(steps, world, name + " ends", ended.entry());
                if (world.repeats > 0) {
                    steps.add(new Step<>(name + " ends in vain", ended(world.losesReply(), updater, false)));
                }
            }
            case WAIT -> {
                if (world.clock >= updater.until) {
                    steps.add(new Step<>(
                            name + " returns", world.returns(updater.committed).with(updater.isDone())));
                }
            }
        }
    }

    private Result end(World world, Updater updater) {
        return laboratory.run(
                world.epochs,
                world.clock,
                CacheScript.RAISE_EPOCH,
                List.of(PREFIX, world.nodes.get(0).epoch, updater.token));
    }

    private World ended(World world, Updater updater, boolean acknowledged) {
        World next = world;
        if (acknowledged) {
            Node own = world.nodes.get(0);
            String epoch = world.epochs.fields().getOrDefault(PREFIX, "0");
            next = world.with(own.knows(epoch, own.clearing, own.current, updater.committed));
        }
        if (consistency == Consistency.AP) {
            return next.with(updater.isDone());
        }
        int wait = faults.contains(Fault.DOES_NOT_WAIT) ? 0 : SEEN_TICKS;
        return next.with(updater.goesOn(UpdaterAt.WAIT, world.clock + wait));
    }

    private static void addLostReply(List<Step<World>> steps, World world, String what, Entry epochs) {
        if (world.repeats > 0) {
            steps.add(new Step<>(
                    what + ", the reply is lost", world.withEpochs(epochs).losesReply()));
        }
    }

    private static List<String> fetchArguments(String caller, String epoch) {
        return List.of(caller, Laboratory.millis(1), LONG, "0", "0", "0", epoch, FIELD);
    }

    private static List<String> storeArguments(String lease, String epoch, int version) {
        return List.of(lease, epoch, Entry.envelopeOf(FIELD, version), LONG, FIELD, "0");
    }
}
