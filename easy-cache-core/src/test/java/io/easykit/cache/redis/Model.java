package io.easykit.cache.redis;

import io.easykit.cache.Consistency;
import io.easykit.cache.Outcome;
import io.easykit.cache.redis.Explorer.Step;
import io.easykit.cache.redis.Laboratory.Result;
import io.easykit.cache.redis.World.Reader;
import io.easykit.cache.redis.World.Relay;
import io.easykit.cache.redis.World.RelayAt;
import io.easykit.cache.redis.World.Row;
import io.easykit.cache.redis.World.Updater;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the model: which steps are possible in a {@link World}, and what must hold after each.
 *
 * <p>Each step is atomic: one script or plain read on Redis, one read or commit of the database, one tick of Redis's
 * clock, or the expiry of the key. A process crashes by never moving again: where all interleavings are visited, those
 * in which it does not are among them, at each of its steps. In a single random schedule everybody moves, so there a
 * crash is a step.
 *
 * <p>A command may be executed twice: the client repeats it when the connection was lost before the reply came. The
 * process then gets the second reply only.
 *
 * <p>What must hold:
 *
 * <ol>
 *   <li>No read returns a version below the floor of its arrival; AP: unless that version's bound is still to come. The
 *       floor rises with the commit of a prepared update, and with the invalidation of any other. So a CP read never
 *       returns a version that was outdated when the read came.
 *   <li>The values that a plain read would accept now, and that a fetch would bring now, may be returned now.
 *   <li>A key has a time to live, in any state; the fields are consistent with each other.
 *   <li>A rejected store changes nothing; an accepted one leaves nothing but values.
 *   <li>Nodes of two versions of the application never decode each other's values, and no store displaces a value of the
 *       other version that is valid and lives for another half of its life. The rules for one value hold for both.
 *   <li>One reader at a time is granted the load lease, and none while an update is prepared.
 *   <li>A reader whose load has failed gets no version below the floor of that moment, not even inside the stale window: what
 *       was invalidated is not returned as an expired value.
 *   <li>When all messages of the outbox are delivered, no reader gets a version older than the updates that wrote them.
 * </ol>
 */
final class Model implements Explorer.Rules<World> {

    private static final int LEASE_TICKS = 2;
    private static final String LEASE = Laboratory.millis(LEASE_TICKS);
    private static final String LOAD_LEASE = Laboratory.millis(1);
    private static final String KEEP = Laboratory.millis(1);
    private static final int LIFE_TICKS = 3;
    private static final String LIFE = Laboratory.millis(LIFE_TICKS);
    private static final int KEPT_TICKS = 2;
    private static final int AHEAD_TICKS = 1;
    private static final String AHEAD = Laboratory.millis(AHEAD_TICKS);
    private static final String NO_EPOCH = "0";
    private static final String RELAY_TOKEN = "relay";
    private static final int MOST_TURNS = 2;

    private final Laboratory laboratory;
    private final HitRule hitRule;
    private final RelayRule relayRule;
    private final Consistency consistency;
    private final int window;
    private final int lastTick;
    private final boolean crashes;
    private final boolean keeps;
    private final String windowMillis;
    private final Set<Entry> consistentEntries = new HashSet<>();

    /**
     * @param lastTick where the clock stops
     * @param crashes whether a crash is a step
     */
    Model(Laboratory laboratory, HitRule hitRule, Consistency consistency, int lastTick, boolean crashes) {
        this(laboratory, hitRule, RelayRule.SHIPPED, consistency, lastTick, crashes, false);
    }

    /**
     * A model in which entries outlive their values, for readers whose load fails. The reader B runs without the setting, as
     * during a rolling change of it.
     */
    static Model thatKeepsExpiredValues(Laboratory laboratory, HitRule hitRule, int lastTick, boolean crashes) {
        return new Model(laboratory, hitRule, RelayRule.SHIPPED, Consistency.AP, lastTick, crashes, true);
    }

    Model(
            Laboratory laboratory,
            HitRule hitRule,
            RelayRule relayRule,
            Consistency consistency,
            int lastTick,
            boolean crashes) {
        this(laboratory, hitRule, relayRule, consistency, lastTick, crashes, false);
    }

    private Model(
            Laboratory laboratory,
            HitRule hitRule,
            RelayRule relayRule,
            Consistency consistency,
            int lastTick,
            boolean crashes,
            boolean keeps) {
        this.relayRule = relayRule;
        this.laboratory = laboratory;
        this.hitRule = hitRule;
        this.consistency = consistency;
        this.window = consistency == Consistency.AP ? 1 : 0;
        this.lastTick = lastTick;
        this.crashes = crashes;
        this.keeps = keeps;
        this.windowMillis = Laboratory.millis(window);
    }

    /** How the relay handles a message; all but the first are weaknesses. */
    enum RelayRule {
        /** As {@code OutboxRelay} does. */
        SHIPPED,
        /** A message whose update may still be running is delivered once. */
        FORGETS_OPEN_MESSAGES,
        /** The old value is left for the stale window. */
        KEEPS_THE_WINDOW
    }

    /** An invariant does not hold. */
    static final class Violation extends AssertionError {

        private static final long serialVersionUID = 1L;

        Violation(String message) {
            super(message);
        }
    }

    World cold(List<Reader> readers, List<Updater> updaters, int repeats) {
        return new World(
                laboratory.nothing(), 0, 0, 0, List.of(), repeats, false, readers, updaters, List.of(), Relay.RESTING);
    }

    /** The entry holds version 0 when the schedule begins, in the field of each version of the application. */
    World warm(List<Reader> readers, List<Updater> updaters, int repeats) {
        World world = cold(readers, updaters, repeats);
        for (String field : fields(world)) {
            Result fetched = laboratory.run(world.entry(), 0, CacheScript.FETCH, fetchArguments("warm", field));
            String loadLease = fetched.loadLease();
            Result stored =
                    laboratory.run(fetched.entry(), 0, CacheScript.STORE, storeArguments(loadLease, field, 0, keeps));
            world = world.withEntry(stored.entry());
        }
        return world;
    }

    private static List<String> fields(World world) {
        List<String> fields = new ArrayList<>();
        for (Reader reader : world.readers()) {
            if (!fields.contains(reader.field())) {
                fields.add(reader.field());
            }
        }
        return fields;
    }

    @Override
    public List<Step<World>> steps(World world) {
        List<Step<World>> steps = new ArrayList<>();
        for (int i = 0; i < world.readers().size(); i++) {
            addSteps(steps, world, i, world.readers().get(i));
        }
        for (int i = 0; i < world.updaters().size(); i++) {
            addSteps(steps, world, i, world.updaters().get(i));
        }
        addRelaySteps(steps, world);
        addSteps(steps, world);
        return steps;
    }

    // Time

    private void addSteps(List<Step<World>> steps, World world) {
        if (world.entry().exists() && world.entry().deadline() == world.clock()) {
            steps.add(new Step<>("the key expires", world.withEntry(laboratory.nothing())));
        }
        if (world.clock() < lastTick) {
            World later = world.withClock(world.clock() + 1);
            boolean gone = later.entry().exists() && later.entry().deadline() < later.clock();
            steps.add(new Step<>("the clock ticks", gone ? later.withEntry(laboratory.nothing()) : later));
        }
    }

    // A reader

    private void addSteps(List<Step<World>> steps, World world, int index, Reader reader) {
        String name = reader.name();
        switch (reader.at()) {
            case REST -> {
                if (reader.reads() > 0) {
                    addRead(steps, world, index, reader);
                }
            }
            case FETCH -> {
                Result fetched = laboratory.run(
                        world.entry(),
                        world.clock(),
                        CacheScript.FETCH,
                        fetchArguments(reader.caller(), reader.field()));
                addRepeat(steps, world, name + " fetches", fetched);
                addFetched(steps, world.withEntry(fetched.entry()), world.entry(), index, reader, fetched);
            }
            case LOAD -> {
                steps.add(new Step<>(name + " loads", world.with(index, reader.hasLoaded(world.version()))));
                steps.add(new Step<>(name + " cannot load", world.with(index, reader.cannotLoad())));
                addCrash(steps, name, world.with(index, reader.crashes()));
            }
            case STORE -> {
                Result stored = laboratory.run(
                        world.entry(),
                        world.clock(),
                        CacheScript.STORE,
                        storeArguments(reader.loadLease(), reader.field(), reader.loaded(), keeps(reader)));
                addRepeat(steps, world, name + " stores", stored);
                steps.add(new Step<>(
                        name + " stores version " + reader.loaded() + ": " + stored.reply(),
                        stored(world, index, reader, stored)));
            }
            case RELEASE_LOAD -> {
                Result released = laboratory.run(
                        world.entry(), world.clock(), CacheScript.RELEASE_LOAD, List.of(reader.loadLease()));
                steps.add(new Step<>(
                        name + " releases: " + released.reply(),
                        world.withEntry(released.entry())
                                .with(index, keeps(reader) ? reader.looksForAnExpiredValue() : reader.isDone())));
            }
            case PEEK -> addPeek(steps, world, index, reader);
            case CRASHED -> {}
        }
    }

    private boolean keeps(Reader reader) {
        return keeps && !reader.name().equals("B");
    }

    private void addPeek(List<Step<World>> steps, World world, int index, Reader reader) {
        Result peeked = laboratory.run(
                world.entry(),
                world.clock(),
                CacheScript.PEEK,
                List.of("0", NO_EPOCH, reader.field(), Laboratory.millis(KEPT_TICKS)));
        require(world, peeked.entry() == world.entry(), "a peek changed the entry");
        List<?> reply = (List<?>) peeked.reply();
        String what = reader.name() + " finds nothing";
        if (reply.size() > 1) {
            int version = decoded(world, ((String) reply.get(1)).substring(10), reader.field());
            what = reader.name() + " returns the expired version " + version;
            require(world, version >= world.floor(), what + ", which was invalidated");
            int kept = world.entry().expires(reader.field()) + KEPT_TICKS;
            require(world, world.clock() < kept, what + ", although its time is over");
        }
        steps.add(new Step<>(what, world.with(index, reader.isDone())));
    }

    private void addRead(List<Step<World>> steps, World world, int index, Reader reader) {
        Integer hit = hit(world, reader.field());
        if (hit == null) {
            steps.add(new Step<>(reader.name() + " misses", world.with(index, reader.arrives(world.floor()))));
            return;
        }
        requireServable(world, hit, world.floor(), reader.name() + " hits");
        steps.add(new Step<>(reader.name() + " hits", world.with(index, reader.isDone())));
        if (world.entry().expires(reader.field()) - world.clock() <= AHEAD_TICKS) {
            steps.add(new Step<>(reader.name() + " hits and refreshes", world.with(index, reader.refreshes())));
        }
    }

    private void addFetched(
            List<Step<World>> steps, World world, Entry before, int index, Reader reader, Result fetched) {
        Outcome outcome = fetched.outcome();
        String what = reader.name() + " fetches: " + outcome;
        require(world, world.entry().values().equals(before.values()), "a fetch changed a value");
        switch (outcome) {
            case SUCCESS, SUCCESS_NEED_QUERY -> {
                int version =
                        decoded(world, ((String) ((List<?>) fetched.reply()).get(2)).substring(10), reader.field());
                requireServable(world, version, reader.floor(), what);
                if (outcome == Outcome.SUCCESS) {
                    steps.add(new Step<>(what, world.with(index, reader.isDone())));
                } else {
                    requireNoOtherLoadLease(world, before, reader);
                    steps.add(new Step<>(what, world.with(index, reader.takesLoadLease(fetched.loadLease(), true))));
                }
            }
            case NEED_QUERY -> {
                requireNoOtherLoadLease(world, before, reader);
                steps.add(new Step<>(
                        what, world.with(index, reader.takesLoadLease(fetched.loadLease(), reader.served()))));
            }
            case NEED_WAIT, NEED_QUERY_NO_STORE -> {
                // To wait is to fetch again later, and in the end to load without storing. A value that is loaded now
                // was current after the reader came, so there is nothing to check.
                steps.add(new Step<>(what + ", waits", world));
                steps.add(new Step<>(what + ", loads without storing", world.with(index, reader.isDone())));
            }
        }
    }

    private World stored(World world, int index, Reader reader, Result stored) {
        boolean accepted = stored.reply().equals(1L);
        if (!accepted) {
            require(world, stored.entry() == world.entry(), "a rejected store changed the entry");
        } else {
            SortedMap<String, String> left = new TreeMap<>(stored.entry().fields());
            left.remove("x");
            require(world, left.equals(stored.entry().values()), "a store left more than the value: " + stored.entry());
            require(world, stored.entry().has(reader.field()), "an accepted store left no value");
            requireOthersKept(world, reader.field(), stored.entry());
        }
        World next = world.withEntry(stored.entry());
        if (!reader.served()) {
            // Stored or not: readers of this JVM who came before the load get it, too.
            requireServable(next, reader.loaded(), reader.floor(), reader.name() + " returns what it loaded");
        }
        boolean repeats = !accepted && !reader.served() && consistency == Consistency.CP;
        return next.with(
                index, repeats && reader.turns() + 1 < MOST_TURNS ? reader.takesAnotherTurn() : reader.isDone());
    }

    // An updater

    private void addSteps(List<Step<World>> steps, World world, int index, Updater updater) {
        String name = updater.name();
        switch (updater.at()) {
            case REST -> {
                if (updater.updates() == 0) {
                    return;
                }
                if (!updater.tells()) {
                    addStepsWithoutRedis(steps, world, index, updater);
                    return;
                }
                if (!updater.prepares()) {
                    World next = world.committed(updater);
                    steps.add(new Step<>(
                            name + " commits version " + next.version(), next.with(index, updater.hasEnded())));
                    return;
                }
                Result prepared = laboratory.run(
                        world.entry(), world.clock(), CacheScript.PREPARE, prepareArguments(updater.token()));
                addRepeat(steps, world, name + " prepares", prepared);
                steps.add(new Step<>(
                        name + " prepares",
                        world.withEntry(prepared.entry())
                                .with(index, updater.isPrepared(world.clock() + LEASE_TICKS))));
            }
            case COMMIT -> {
                // The promise holds for leases that are longer than the commit.
                if (world.clock() < updater.leaseEnd()) {
                    World next = world.committed(updater);
                    steps.add(new Step<>(
                            name + " commits version " + next.version(), next.with(index, updater.hasEnded())));
                }
                steps.add(new Step<>(name + " rolls back", world.with(index, updater.hasEnded())));
                addCrash(steps, name, world.with(index, updater.crashes()));
            }
            case INVALIDATE -> {
                if (updater.way() == World.Way.MESSAGE_BEFORE) {
                    steps.add(new Step<>(
                            name + " closes its message",
                            world.with(new Row(updater.message(), Row.CLOSED)).with(index, updater.isDone())));
                    return;
                }
                if (updater.way() == World.Way.MESSAGE_TOO_EARLY) {
                    steps.add(new Step<>(name + " is done", world.with(index, updater.isDone())));
                    return;
                }
                Result invalidated = laboratory.run(
                        world.entry(), world.clock(), CacheScript.INVALIDATE, invalidateArguments(updater.token()));
                addRepeat(steps, world, name + " invalidates", invalidated);
                steps.add(new Step<>(
                        name + " invalidates",
                        world.withEntry(invalidated.entry()).invalidated(window).with(index, updater.isDone())));
                addCrash(steps, name, world.with(index, updater.crashes()));
            }
            case CRASHED -> {}
        }
    }

    /** The step instead of the preparation; the only step of the update if its message is part of its transaction. */
    private static void addStepsWithoutRedis(List<Step<World>> steps, World world, int index, Updater updater) {
        String name = updater.name();
        World committed = world.committed(updater);
        Row closed = new Row(updater.message(), Row.CLOSED);
        switch (updater.way()) {
            case MESSAGE_IN_TRANSACTION -> {
                steps.add(new Step<>(
                        name + " commits version " + committed.version() + " with a message",
                        committed.with(closed).with(index, updater.isDone())));
                steps.add(new Step<>(name + " rolls back", world.with(index, updater.isDone())));
            }
            case MESSAGE_BEFORE, MESSAGE_TOO_EARLY -> {
                int end = world.clock() + LEASE_TICKS;
                Row row = updater.way() == World.Way.MESSAGE_BEFORE ? new Row(updater.message(), end) : closed;
                steps.add(new Step<>(name + " writes a message", world.with(row).with(index, updater.isPrepared(end))));
            }
            case UNTOLD ->
                steps.add(new Step<>(
                        name + " commits version " + committed.version(), committed.with(index, updater.isDone())));
            default -> throw new IllegalArgumentException(updater.toString());
        }
    }

    // The relay of the outbox

    private void addRelaySteps(List<Step<World>> steps, World world) {
        Relay relay = world.relay();
        boolean keepsWindow = relayRule == RelayRule.KEEPS_THE_WINDOW;
        switch (relay.at()) {
            case REST -> {
                if (!world.rows().isEmpty()) {
                    List<String> ended = world.rows().stream()
                            .filter(row -> relayRule == RelayRule.FORGETS_OPEN_MESSAGES || !row.isOpen(world.clock()))
                            .map(Row::message)
                            .toList();
                    steps.add(new Step<>("the relay reads", world.with(new Relay(RelayAt.PREPARE, ended))));
                }
                return;
            }
            case PREPARE -> {
                Result prepared = laboratory.run(
                        world.entry(),
                        world.clock(),
                        CacheScript.PREPARE,
                        List.of(RELAY_TOKEN, LEASE, keepsWindow ? windowMillis : "0"));
                addRepeat(steps, world, "the relay prepares", prepared);
                steps.add(new Step<>(
                        "the relay prepares",
                        world.withEntry(prepared.entry()).with(relay.goesOn(RelayAt.INVALIDATE))));
            }
            case INVALIDATE -> {
                String left = keepsWindow ? windowMillis : "0";
                Result invalidated = laboratory.run(
                        world.entry(), world.clock(), CacheScript.INVALIDATE, List.of(RELAY_TOKEN, left));
                addRepeat(steps, world, "the relay invalidates", invalidated);
                steps.add(new Step<>(
                        "the relay invalidates",
                        world.withEntry(invalidated.entry()).invalidated(0).with(relay.goesOn(RelayAt.MARK))));
            }
            case MARK ->
                steps.add(new Step<>(
                        "the relay marks " + relay.ended(),
                        world.without(relay.ended()).with(Relay.RESTING)));
        }
        steps.add(new Step<>("another relay takes over", world.with(Relay.RESTING)));
    }

    private void addCrash(List<Step<World>> steps, String name, World next) {
        if (crashes) {
            steps.add(new Step<>(name + " crashes", next));
        }
    }

    /** The command runs, its reply is lost, and the process is where it was: its client will repeat it. */
    private static void addRepeat(List<Step<World>> steps, World world, String what, Result result) {
        if (world.repeats() > 0) {
            steps.add(new Step<>(
                    what + ", the reply is lost",
                    world.withEntry(result.entry()).withOneRepeatLess()));
        }
    }

    // What must hold

    /** Checks what must hold in every state. */
    @Override
    public void check(World world) {
        Entry entry = world.entry();
        if (consistentEntries.add(entry)) {
            checkFields(world, entry);
        }
        for (String field : fields(world)) {
            checkReads(world, entry, field);
        }
        if (!world.repeated()) {
            checkLoadLeases(world);
        }
    }

    private void checkReads(World world, Entry entry, String field) {
        Integer hit = hit(world, field);
        if (hit != null) {
            requireServable(world, hit, world.floor(), "a plain read now would hit");
            require(world, world.clock() <= entry.expires(field), "a plain read now would hit an expired value");
        }
        List<?> reply = (List<?>) laboratory
                .run(entry, world.clock(), CacheScript.FETCH, fetchArguments("look", field))
                .reply();
        if (reply.size() > 2 && reply.get(2) instanceof String value && !value.isEmpty()) {
            int version = decoded(world, value.substring(10), field);
            requireServable(world, version, world.floor(), "a fetch now would bring");
        }
        if (world.rows().isEmpty() && !hasUpdaterThatTells(world)) {
            checkDelivered(world, hit, reply);
        }
    }

    private static boolean hasUpdaterThatTells(World world) {
        for (Updater updater : world.updaters()) {
            if (updater.tells()) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Integer hit(World world, String field) {
        String envelope = hitRule.accepts(world.entry(), field, world.clock());
        return envelope == null ? null : Integer.valueOf(decoded(world, envelope, field));
    }

    private static int decoded(World world, String envelope, String field) {
        if (!Entry.isOf(field, envelope)) {
            throw violation(world, "a reader of " + field + " would decode a foreign value");
        }
        return Entry.versionOf(envelope);
    }

    /** Versions of the application do not displace each other's values at every read. */
    private static void requireOthersKept(World before, String field, Entry after) {
        if (before.entry().has("s")) {
            return;
        }
        before.entry().values().forEach((other, value) -> {
            int left = before.entry().expires(other) - before.clock();
            if (!other.equals(field) && 2 * left > LIFE_TICKS) {
                require(before, value.equals(after.fields().get(other)), "a store displaced a foreign value");
            }
        });
    }

    /** Every message was delivered: all readers see the updates without Redis, in the stale window too. */
    private static void checkDelivered(World world, @Nullable Integer hit, List<?> reply) {
        String delivered = ", although every message was delivered";
        if (hit != null) {
            require(world, hit >= world.version(), "a plain read now would hit version " + hit + delivered);
        }
        if (reply.size() > 2 && reply.get(2) instanceof String value && !value.isEmpty()) {
            int version = Entry.versionOf(value.substring(10));
            require(world, version >= world.version(), "a fetch now would bring version " + version + delivered);
        }
    }

    /** A repeated fetch may be granted a load lease beside the reader that took over from it. No other fetch may. */
    private static void checkLoadLeases(World world) {
        Set<String> rights = new HashSet<>();
        for (Reader reader : world.readers()) {
            if (reader.isLoading(world.clock())) {
                String right = reader.loadLease().substring(0, 8);
                require(world, rights.add(right), "two readers load with one load lease");
            }
        }
    }

    private static void checkFields(World world, Entry entry) {
        if (!entry.exists()) {
            return;
        }
        require(world, entry.deadline() != Entry.NEVER, "the key never expires");
        List<Integer> intents = entry.fields().keySet().stream()
                .filter(field -> field.startsWith("i:"))
                .map(entry::tick)
                .toList();
        if (entry.has("i")) {
            require(world, intents.stream().allMatch(end -> end <= entry.tick("i")), "an intent outlives field i");
        } else {
            require(world, intents.isEmpty(), "an intent without field i");
        }
        if (entry.has("f")) {
            require(world, entry.fields().get("f").length() == 14, "a fencing token of the wrong length");
        }
        boolean holdsValues = !entry.values().isEmpty();
        if (holdsValues && !entry.has("s")) {
            require(world, !entry.has("i"), "a prepared update left the value fresh");
            if (!entry.has("f")) {
                int first = entry.values().keySet().stream()
                        .mapToInt(entry::expires)
                        .min()
                        .orElseThrow();
                int kept = entry.has("x") ? KEPT_TICKS : 0;
                require(world, entry.deadline() == first + kept, "a value at rest does not expire with its key");
            }
        }
        require(world, holdsValues || !entry.has("s"), "a stale window without a value");
        require(world, holdsValues || !entry.has("x"), "a mark of an expired value without a value");
    }

    private void requireServable(World world, int version, int floor, String what) {
        boolean inWindow = consistency == Consistency.AP
                && version < world.staleUntil().size()
                && world.clock() < world.staleUntil().get(version);
        if (version < floor && !inWindow) {
            throw violation(
                    world, what + " version " + version + ", where " + floor + " is the oldest that may be returned");
        }
    }

    private static void requireNoOtherLoadLease(World world, Entry before, Reader reader) {
        if (before.has("f") && !before.fields().get("f").startsWith(reader.caller())) {
            require(
                    world,
                    Entry.loadLeaseEnd(before.fields().get("f")) <= world.clock(),
                    reader.name() + " was granted a load lease beside another reader");
        }
        if (before.has("i")) {
            require(
                    world,
                    before.tick("i") <= world.clock(),
                    reader.name() + " was granted a load lease during an update");
        }
    }

    private static void require(World world, boolean holds, String otherwise) {
        if (!holds) {
            throw violation(world, otherwise);
        }
    }

    private static Violation violation(World world, String what) {
        return new Violation(what + " (clock " + world.clock() + ", " + world.entry() + ")");
    }

    // Arguments of the scripts

    private List<String> fetchArguments(String caller, String field) {
        return List.of(caller, LOAD_LEASE, KEEP, windowMillis, AHEAD, AHEAD, NO_EPOCH, field);
    }

    private static List<String> storeArguments(String loadLease, String field, int version, boolean keeps) {
        return List.of(
                loadLease,
                NO_EPOCH,
                Entry.envelopeOf(field, version),
                LIFE,
                field,
                keeps ? Laboratory.millis(KEPT_TICKS) : "0");
    }

    private List<String> prepareArguments(String token) {
        return List.of(token, LEASE, windowMillis);
    }

    private List<String> invalidateArguments(String token) {
        return List.of(token, windowMillis);
    }

    static List<Reader> readers(int count, int reads) {
        return readers(Collections.nCopies(count, HitRule.FIELD), reads);
    }

    /** Readers of two versions of the application. */
    static List<Reader> readersOfTwoVersions(int reads) {
        return readers(List.of(HitRule.FIELD, HitRule.OTHER_FIELD), reads);
    }

    private static List<Reader> readers(List<String> fields, int reads) {
        return IntStream.range(0, fields.size())
                .mapToObj(i -> Reader.resting(String.valueOf((char) ('A' + i)), fields.get(i), reads))
                .toList();
    }
}
