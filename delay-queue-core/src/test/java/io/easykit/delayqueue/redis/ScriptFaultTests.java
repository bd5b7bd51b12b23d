package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.store.AlertReport;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Lets each script fail at each command that it executes, one after the other: no message is ever in no place, the call may be
 * repeated, neighbours go on, and after the sweep the ledger is right.
 */
class ScriptFaultTests {

    private static final NodeReport REPORT =
            new NodeReport("shop", "host-1", Map.of("java", "17"), Duration.ofSeconds(5), List.of());

    private static final Set<String> ALL = Set.of("w1", "w2", "w3", "w4", "f1", "f2", "f3", "e1", "e2", "d1", "d2");

    private static final AtomicLong JOBS = new AtomicLong();

    private static final Position BEHIND_ALL = new Position("900000", "behind all");

    private static FaultyShard shard;

    @BeforeAll
    static void open() {
        shard = new FaultyShard(UnaryOperator.identity());
    }

    @AfterAll
    static void close() {
        shard.close();
    }

    /**
     * One move, on messages of each kind that it can meet.
     *
     * @param beginsOrEnds ids that the move stores or ends
     */
    record Step(String name, Set<String> beginsOrEnds, BiFunction<FaultyShard, QueueBackend, Object> call) {

        Step(String name, BiFunction<FaultyShard, QueueBackend, Object> call) {
            this(name, Set.of(), call);
        }

        boolean is(String start) {
            return name.startsWith(start);
        }

        Function<QueueBackend, Object> on(FaultyShard shard) {
            return store -> call.apply(shard, store);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Step> steps() {
        Set<String> flying = Set.of("f1", "f2");
        Set<String> dead = Set.of("d1", "d2");
        return List.of(
                new Step(
                        "send",
                        Set.of("n1", "n2"),
                        (s, store) -> store.send(KEY, s.messages("n1", "w1", "n2", "f1", "d1"))),
                new Step("send new ones", Set.of("n4", "n5"), (s, store) -> store.send(KEY, s.messages("n4", "n5"))),
                new Step(
                        "send one",
                        Set.of("n6"),
                        (s, store) -> store.send(KEY, List.of(TestShard.in("n6", 0, "body")))),
                new Step(
                        "send a large body",
                        Set.of("n3"),
                        (s, store) -> store.send(KEY, List.of(TestShard.at("n3", 101_000, "x".repeat(9000))))),
                new Step("claim", (s, store) -> store.claim(KEY, claim(List.of()))),
                new Step("claim where bodies are large", (s, store) -> {
                    // pcall: a test may have damaged this key.
                    s.redis().command("EVAL", "redis.pcall('HSET', KEYS[1], 'large', '1')", "1", "dq:{t:0}:settings");
                    return store.claim(KEY, claim(List.of()));
                }),
                new Step("claim, acknowledge", flying, (s, store) -> store.claim(KEY, claim(s.leases("f1", "f2")))),
                new Step(
                        "claim under limits",
                        (s, store) -> store.claim(KEY, claim(List.of()).under(new FlowShare(3_600_000_000L, 2, 4)))),
                new Step("lend", (s, store) -> store.lend(KEY, new FlowShare(3_600_000_000L, 2, 4), 1)),
                new Step("acknowledge", flying, (s, store) -> store.acknowledge(KEY, s.leases("f1", "f2"))),
                new Step(
                        "give up: fail",
                        (s, store) -> store.fail(
                                KEY,
                                List.of(
                                        new Failure(s.lease("f1"), Duration.ofMillis(50), "again"),
                                        new Failure(s.lease("f2"), null, "dead")))),
                new Step("give up: release", (s, store) -> store.release(KEY, s.leases("f1", "f2"))),
                new Step(
                        "give up: release later",
                        (s, store) -> store.release(KEY, s.leases("f1", "f2"), Duration.ofSeconds(1))),
                new Step("extend", (s, store) -> store.extend(KEY, s.leases("f1", "f2"), Duration.ofMinutes(2))),
                new Step("reap", (s, store) -> store.reap(KEY, 100, 3, Duration.ZERO)),
                new Step("reap to death", (s, store) -> store.reap(KEY, 100, 1, Duration.ZERO)),
                new Step(
                        "cancel",
                        Set.of("w1", "w3"),
                        (s, store) -> store.cancel(KEY, List.of(target("w1"), target("w3"), target("f1")))),
                new Step(
                        "reschedule", (s, store) -> store.reschedule(KEY, List.of(move("w1"), move("w3"), move("f1")))),
                new Step("redrive", (s, store) -> store.redrive(KEY, deaths())),
                new Step(
                        "replace",
                        (s, store) -> store.replace(
                                KEY, deaths().get(0), TestShard.frame("d1-body"), TestShard.frame("d1-other"))),
                new Step("announce", (s, store) -> store.announced(KEY, deaths())),
                new Step("purge", dead, (s, store) -> store.purge(KEY, deaths())),
                new Step("purge by age", dead, (s, store) -> store.purge(KEY, Duration.ZERO, 100)),
                new Step("stopped keys", (s, store) -> store.stoppedKeys(KEY, "0")),
                new Step("free key", (s, store) -> store.freeKey(KEY, "k", "~~k~a")),
                new Step("pause", (s, store) -> store.pause(KEY, "ops")),
                new Step("declare", (s, store) -> store.declare("t", 1)),
                new Step("grow", (s, store) -> {
                    store.declare("t", 1);
                    return store.grow("t", 2);
                }),
                new Step("alert", (s, store) -> {
                    store.raise(KEY, "due", new AlertReport("a", false));
                    store.raise(KEY, "due", new AlertReport("a", true));
                    return store.resolve(KEY, "due", new AlertReport("b", false));
                }),
                new Step("repair", (s, store) -> store.repair(KEY, Repaired.BEGIN)),
                new Step("stats", (s, store) -> store.stats(KEY)),
                new Step("health", (s, store) -> {
                    store.checkWrites(KEY);
                    return true;
                }),
                new Step("sample", (s, store) -> store.fleet().sample(KEY)),
                new Step("samples", (s, store) -> store.fleet().samples(KEY, Duration.ofHours(1))),
                new Step("find", (s, store) -> store.find(KEY, "w1")),
                new Step("browse", (s, store) -> store.browse(KEY, new Browse(State.DEAD, true, BEHIND_ALL, 10, 512))),
                new Step("triage", (s, store) -> store.errors(KEY, new Position("1", "before all"), 10)),
                new Step("read", (s, store) -> store.read(KEY, "w1", Bytes.NONE, 0, 100)),
                new Step("diagnose", (s, store) -> s.diagnose()),
                new Step("topics", (s, store) -> {
                    store.fleet().addTopics(Map.of("t", 1));
                    return store.fleet().topics();
                }),
                new Step("beat", (s, store) -> store.fleet().beat("node", REPORT, Duration.ofSeconds(30))),
                new Step("nodes", (s, store) -> store.fleet().nodes()),
                new Step("pause-request", (s, store) -> store.fleet().requestPause("node", "listener", true, "ops")),
                new Step("jobs", (s, store) -> {
                    String id = "job" + JOBS.incrementAndGet(); // one of the same id would be the former one
                    store.jobs().create(id, "t", Map.of("action", "redrive"));
                    store.jobs().list();
                    store.jobs().running();
                    store.jobs().take(id, "node");
                    store.jobs().save(id, "node", "running", Map.of("done", "1"));
                    return store.jobs().stop(id);
                }),
                new Step("actions", (s, store) -> {
                    store.actions().add("purge", 10);
                    return store.actions().read(0, 10);
                }),
                new Step("share", (s, store) -> {
                    store.fleet().sharedSnapshot(Duration.ofMinutes(1));
                    return store.fleet().sharedSnapshot(Duration.ofMinutes(1));
                }));
    }

    private static Claim claim(List<Lease> acknowledged) {
        return new Claim("p", 1, 10, 10, FaultyShard.LEASE, acknowledged);
    }

    private static Target target(String id) {
        return new Target(id, null);
    }

    private static Reschedule move(String id) {
        return new Reschedule(target(id), DueTime.after(Duration.ofSeconds(5)));
    }

    private static List<DeadLetterRef> deaths() {
        return List.of(new DeadLetterRef("d1", ms(100_000)), new DeadLetterRef("d2", ms(100_000)));
    }

    @Test
    void runsEveryScript() {
        Set<QueueScript> ran = EnumSet.noneOf(QueueScript.class);
        for (Step step : steps()) {
            shard.empty();
            shard.populate();
            shard.redis().command("SCRIPT", "FLUSH");
            shard.attempt(step.on(shard));
            ran.addAll(shard.scriptsThatRan());
        }

        assertThat(ran).containsExactlyInAnyOrder(QueueScript.values());
    }

    @ParameterizedTest
    @MethodSource("steps")
    void losesNothingWhereverTheScriptFails(Step step) {
        assertThat(check(step, false, shard)).as("commands of " + step).isGreaterThan(0);
    }

    /** What would take back the first half fails as well. */
    @ParameterizedTest
    @MethodSource("steps")
    @Tag("heavy")
    void losesNothingWhereAllCommandsFailFromThere(Step step) {
        check(step, true, shard);
    }

    @Test
    void losesNothingInSequencesOfFailuresAndRepetitions() {
        playSequences(12);
    }

    @Test
    @Tag("heavy")
    void losesNothingInManySequencesOfFailuresAndRepetitions() {
        playSequences(1000);
    }

    /** Otherwise nothing would announce it, and its error would be that of the first death. */
    @Test
    void theNextDeathIsNewWhereverARedriveStopped() {
        boolean struck = true;
        for (int command = 1; struck; command++) {
            shard.empty();
            shard.populate();
            shard.store.announced(KEY, deaths());
            shard.failAt(command, false);
            shard.attempt(s -> s.redrive(KEY, deaths()));
            struck = shard.heal();
            shard.clock(101_100);

            List<Failure> failures = shard.store.claim(KEY, claim(List.of())).deliveries().stream()
                    .filter(delivery -> delivery.id().startsWith("d"))
                    .map(delivery -> new Failure(delivery.lease(), null, "next"))
                    .toList();
            shard.store.fail(KEY, failures);

            List<String> ids =
                    failures.stream().map(failure -> failure.lease().id()).toList();
            assertThat(shard.store.errors(KEY, null, 10).entries())
                    .as("stopped at command %d", command)
                    .filteredOn(death -> ids.contains(death.position().id()))
                    .hasSameSizeAs(ids)
                    .allMatch(DeadLetterErrors.Entry::isUnannounced);
        }
    }

    /** It waits and is dead, is claimed, and leaves: whichever way it goes, its former death does not count any more. */
    @ParameterizedTest
    @MethodSource("waysOutOfFlight")
    void aMessageThatWasHalfRedrivenIsNoDeadLetterAnyMore(WayOut way) {
        int looked = 0;
        boolean struck = true;
        for (int command = 1; struck; command++) {
            shard.empty();
            shard.populate();
            shard.failAt(command, false);
            shard.attempt(s -> s.redrive(KEY, deaths()));
            struck = shard.heal();
            shard.clock(101_100);
            List<Lease> redriven = shard.store.claim(KEY, claim(List.of())).deliveries().stream()
                    .filter(delivery -> delivery.id().startsWith("d"))
                    .map(Delivery::lease)
                    .toList();

            way.call.accept(shard.store, redriven);

            Set<String> ids = redriven.stream().map(Lease::id).collect(Collectors.toSet());
            assertThat(shard.store
                            .browse(KEY, new Browse(State.DEAD, false, null, 10, 0))
                            .entries())
                    .as("stopped at command %d", command)
                    .noneMatch(entry -> ids.contains(entry.id()));
            for (String id : ids) {
                assertThat(shard.store.find(KEY, id).isEmpty()).isEqualTo(way.ends);
            }
            looked += ids.size();
        }
        assertThat(looked).as("messages that were redriven").isGreaterThan(2);
    }

    /** @param ends whether the message is gone afterwards */
    record WayOut(String name, boolean ends, BiConsumer<QueueBackend, List<Lease>> call) {

        @Override
        public String toString() {
            return name;
        }
    }

    static List<WayOut> waysOutOfFlight() {
        return List.of(
                new WayOut("acknowledge", true, (store, leases) -> store.acknowledge(KEY, leases)),
                new WayOut("release", false, (store, leases) -> store.release(KEY, leases)),
                new WayOut(
                        "release later", false, (store, leases) -> store.release(KEY, leases, Duration.ofSeconds(1))),
                new WayOut("extend", false, (store, leases) -> store.extend(KEY, leases, Duration.ofMinutes(1))),
                new WayOut(
                        "retry",
                        false,
                        (store, leases) -> store.fail(
                                KEY,
                                leases.stream()
                                        .map(lease -> new Failure(lease, Duration.ofMillis(50), "again"))
                                        .toList())),
                new WayOut("lose", false, (store, leases) -> {
                    shard.clock(500_000);
                    store.reap(KEY, 100, 3, Duration.ZERO);
                }));
    }

    private static void playSequences(int seeds) {
        int first = ThreadLocalRandom.current().nextInt(1_000_000_000);
        for (int seed = first; seed < first + seeds; seed++) {
            List<String> history = new ArrayList<>();
            try {
                shard.empty();
                shard.populate();
                playSequence(new Random(seed), history);
            } catch (AssertionError e) {
                throw new AssertionError("Seed " + seed + " after " + history, e);
            }
        }
    }

    private static void playSequence(Random random, List<String> history) {
        List<Step> steps = steps();
        Set<String> owed = new TreeSet<>(ALL);
        for (int i = 0; i < 15; i++) {
            Step step = steps.get(random.nextInt(steps.size()));
            // The step may have ended its messages. A purge by age may also end those that a reap buried.
            owed.removeAll(step.is("purge by age") ? ALL : step.beginsOrEnds());
            if (step.is("cancel")) {
                owed.remove("f1"); // waits if it was given up
            }
            for (boolean again = true; again; again = random.nextBoolean()) {
                int command = 1 + random.nextInt(20);
                history.add(step + " at " + command);
                shard.failAt(command, false);
                shard.attempt(step.on(shard));
                shard.heal();
                shard.assertInPlace(owed);
                shard.assertWholeOrGone(ALL);
            }
        }
        shard.store.resume(KEY);
        shard.repair();
        assertThat(shard.drain().keySet()).containsAll(owed);
        shard.repair();
        assertThat(shard.left()).as("keys that are left").isEmpty();
        assertThat(shard.store.stats(KEY).imbalance()).as("ledger").isZero();
    }

    /** Returns how many commands the script has executed. */
    static int check(Step step, boolean lasts, FaultyShard shard) {
        for (int command = 1; ; command++) {
            try {
                shard.empty();
                shard.populate();
                if (!strikes(shard, step, command, lasts)) {
                    return command - 1;
                }
            } catch (AssertionError e) {
                throw new AssertionError(step + " that failed at command " + command, e);
            }
        }
    }

    private static boolean strikes(FaultyShard shard, Step step, int command, boolean lasts) {
        Set<String> untouched = new TreeSet<>(ALL);
        untouched.removeAll(step.beginsOrEnds());

        shard.failAt(command, lasts);
        boolean isRefused = FaultyShard.REFUSED.equals(shard.attempt(step.on(shard)));
        if (!shard.heal()) {
            return false;
        }
        if (!isRefused) {
            assertThat(shard.store.stats(KEY).imbalance() + countedTwice(shard))
                    .as("ledger after a call that succeeded")
                    .isZero();
        }
        shard.assertInPlace(untouched);
        if (!lasts) {
            shard.assertWholeOrGone(step.beginsOrEnds());
        }
        if (!step.is("cancel")) {
            nobodyGetsWhatIsHeld(shard, step);
        }

        shard.attempt(step.on(shard));
        shard.assertInPlace(untouched);
        if (step.is("send")) {
            shard.assertInPlace(step.beginsOrEnds());
        } else if (!lasts) {
            assertThat(shard.whereabouts().keySet().stream().filter(step.beginsOrEnds()::contains))
                    .as("ended")
                    .isEmpty();
        }

        shard.store.resume(KEY);
        shard.repair();
        shard.assertWholeOrGone(step.beginsOrEnds());
        if (!lasts) {
            assertThat(shard.store.stats(KEY).imbalance() + countedTwice(shard))
                    .as("ledger after the sweep")
                    .isZero();
        }
        Set<String> delivered = shard.drain().keySet();
        assertThat(delivered).containsAll(untouched);
        if (step.is("send")) {
            assertThat(delivered).containsAll(step.beginsOrEnds());
        }
        shard.repair();
        assertThat(shard.left()).as("keys that are left").isEmpty();
        if (!lasts) {
            assertThat(shard.store.stats(KEY).imbalance()).as("ledger").isZero();
        }
        return true;
    }

    /** A message with an unexpired lease is not handed to another consumer, unless its holder has given it up. */
    private static void nobodyGetsWhatIsHeld(FaultyShard shard, Step step) {
        List<String> held = new ArrayList<>(List.of("f1", "f2", "f3"));
        if (step.is("give up")) {
            held = List.of("f3");
        }
        assertThat(shard.store
                        .claim(KEY, new Claim("thief", 1, 10, 10, Duration.ofMillis(1), List.of()))
                        .deliveries())
                .extracting(Delivery::id)
                .doesNotContainAnyElementsOf(held);
    }

    /** Messages in two places stand on the ledger twice, until their lease ends. */
    private static long countedTwice(FaultyShard shard) {
        return shard.whereabouts().values().stream()
                .mapToLong(places -> Math.max(0, places.size() - 1))
                .sum();
    }
}
