package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.memory.StoreState;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs of the administration on two nodes, in simulated time. */
class JobTests {

    private static final int DEAD = 250;

    private final TestQueue queue = new TestQueue(builder -> builder.shards(topic -> 3));
    private final DelayQueueAdmin admin = queue.engine.admin();
    private final SimulatedTime.Node otherNode = queue.time.node();
    private final FaultyStore otherLine = new FaultyStore(queue.memory);
    private final DelayQueueEngine other = queue.builder(otherNode, otherLine.asStore())
            .shards(topic -> 3)
            .node("other")
            .build();
    private boolean healthy;

    @BeforeEach
    void die() {
        queue.start(other, listener().concurrency(20).retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
            if (!healthy) {
                throw message.id().startsWith("a")
                        ? new IllegalStateException("order " + message.id() + " is closed")
                        : new IllegalArgumentException("no customer " + message.id());
            }
        });
        IntStream.range(0, DEAD).forEach(i -> queue.send((i % 5 == 0 ? "a" : "b") + i, Duration.ofMillis(i)));
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(dead()).isEqualTo(DEAD);
        queue.runs.clear();
    }

    private long dead() {
        return queue.engine.stats(TOPIC).dead();
    }

    private Job await(String id) {
        queue.time.advanceUntil(
                Duration.ofMinutes(10),
                "the job ends",
                () -> admin.job(id).orElseThrow().state() != Job.State.RUNNING);
        return admin.job(id).orElseThrow();
    }

    @Test
    void namesTheNodeAsTheFleetDoes() {
        queue.engine.join();
        Job job = await(admin.start(JobRequest.group(TOPIC)).id());

        assertThat(job.node()).isEqualTo(queue.engine.fleet().thisNode());
        assertThat(queue.engine.fleet().nodes()).extracting(NodeInfo::id).containsExactly(job.node());
        assertThat(other.fleet().thisNode()).startsWith("other/").isNotEqualTo(job.node());
    }

    @Test
    void redrivesAllAtTheGivenRate() {
        healthy = true;
        Instant begin = queue.time.now();
        Job job = admin.redriveAll(TOPIC, 10);
        assertThat(job.state()).isEqualTo(Job.State.RUNNING);

        for (int second = 1; second <= 24; second++) {
            queue.time.advance(Duration.ofSeconds(1));
            assertThat(DEAD - dead()).isBetween(10L * second - 3, 10L * second + 3);
        }
        Job done = await(job.id());

        assertThat(done.state()).isEqualTo(Job.State.DONE);
        assertThat(done.done()).isEqualTo(DEAD);
        assertThat(done.matched()).isEqualTo(DEAD);
        assertThat(done.total()).isEqualTo(DEAD);
        assertThat(done.missed()).isZero();
        assertThat(done.updatedAt()).isBetween(begin.plusSeconds(24), begin.plusSeconds(28));
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(queue.runs).hasSize(DEAD);
        assertThat(dead()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 60, 600, 5_000})
    void keepsEachRate(int perSecond) {
        healthy = true;
        admin.redriveAll(TOPIC, perSecond);

        queue.time.advance(Duration.ofSeconds(1));

        assertThat(DEAD - dead())
                .isBetween(Math.min(DEAD, perSecond - perSecond / 4L - 1), Math.min(DEAD, perSecond + 1L));
    }

    @Test
    void redrivesEachOnceAlthoughTheyDieAgain() {
        Job job = admin.redriveAll(TOPIC, Integer.MAX_VALUE);
        assertThat(await(job.id()).done()).isEqualTo(DEAD);
        queue.time.advance(Duration.ofSeconds(2));

        assertThat(queue.runs).hasSize(DEAD);
        assertThat(dead()).isEqualTo(DEAD);
    }

    @Test
    void stopsAndContinues() {
        healthy = true;
        Job job = admin.redriveAll(TOPIC, 10);
        queue.time.advance(Duration.ofSeconds(5));

        assertThat(other.admin().stopJob(job.id())).isTrue();
        queue.time.advance(Duration.ofSeconds(1));
        Job stopped = other.admin().job(job.id()).orElseThrow();
        assertThat(stopped.state()).isEqualTo(Job.State.STOPPED);
        long left = dead();
        assertThat(left).isBetween(180L, 205L);
        assertThat(stopped.done() + left).isEqualTo(DEAD);
        queue.time.advance(Duration.ofMinutes(5));
        assertThat(dead()).isEqualTo(left);
        assertThat(other.admin().stopJob(job.id())).isFalse();

        assertThat(other.admin().resumeJob(job.id())).isTrue();
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(other.admin().job(job.id()).orElseThrow().node()).startsWith("other/");
        Job done = await(job.id());
        assertThat(done.done()).isEqualTo(DEAD);
        assertThat(done.missed()).isZero();
        assertThat(other.admin().resumeJob(job.id())).isFalse();
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(queue.runs).hasSize(DEAD);
    }

    /** The first node may die before or after each kind of call. */
    @ParameterizedTest
    @CsvSource({"redrive, KILLED_BEFORE", "redrive, KILLED_AFTER", "save, KILLED_BEFORE", "save, KILLED_AFTER"})
    void anotherNodeContinuesTheJobOfADeadOneAndNothingRunsTwice(String call, Fault fault) {
        healthy = true;
        Job job = admin.redriveAll(TOPIC, 20);
        queue.time.advance(Duration.ofSeconds(3));
        queue.line.plan(method -> method.equals(call) ? fault : Fault.NONE);
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.node.isAlive()).isFalse();
        long left = dead();
        assertThat(left).isBetween(150L, 220L);

        queue.time.advance(Duration.ofSeconds(10));
        assertThat(dead()).isEqualTo(left);
        Job running = other.admin().job(job.id()).orElseThrow();
        assertThat(running.state()).isEqualTo(Job.State.RUNNING);
        queue.time.advance(Duration.ofSeconds(90));

        Job done = other.admin().job(job.id()).orElseThrow();
        assertThat(done.state()).isEqualTo(Job.State.DONE);
        assertThat(done.node()).startsWith("other/");
        assertThat(done.done()).isEqualTo(DEAD);
        assertThat(dead()).isZero();
        assertThat(queue.runIds()).hasSize(DEAD).doesNotHaveDuplicates();
    }

    @Test
    void aNodeThatHasLostItsLockStoresNothingAndEnds() {
        healthy = true;
        Job job = admin.redriveAll(TOPIC, 20);
        queue.time.advance(Duration.ofSeconds(2));
        queue.node.freeze();
        queue.time.advance(Duration.ofSeconds(16));
        assertThat(other.admin().jobs()).hasSize(1);
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(other.admin().job(job.id()).orElseThrow().node()).startsWith("other/");
        queue.node.thaw();
        Job done = await(job.id());
        queue.time.advance(Duration.ofSeconds(5));

        assertThat(done.node()).startsWith("other/");
        assertThat(done.done() + done.missed()).isEqualTo(DEAD);
        assertThat(queue.runIds()).hasSize(DEAD).doesNotHaveDuplicates();
    }

    @Test
    void repeatsAMoveWithoutAReplyAndCountsItOnce() {
        healthy = true;
        queue.line.once("redrive", Fault.LOST_REPLY);
        Job first = await(admin.redriveAll(TOPIC, 100).id());

        assertThat(first.done()).isEqualTo(DEAD);
        assertThat(first.missed()).isZero();
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(queue.runIds()).hasSize(DEAD).doesNotHaveDuplicates();
    }

    @Test
    void endsByItselfWhenTooManyDieAgain() {
        Job job = admin.start(JobRequest.redrive(TOPIC).perSecond(10).stopAt(20));
        Job ended = await(job.id());

        assertThat(ended.state()).isEqualTo(Job.State.LIMIT_REACHED);
        assertThat(ended.deaths()).isBetween(20L, 24L);
        assertThat(ended.done()).isBetween(20L, 26L);
        assertThat(dead()).isBetween(DEAD - 6L, (long) DEAD);

        healthy = true;
        assertThat(admin.resumeJob(job.id())).isTrue();
        Job resumed = await(job.id());
        assertThat(resumed.state()).isEqualTo(Job.State.DONE);
        assertThat(resumed.done()).isEqualTo(DEAD);
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(dead()).isBetween(20L, 26L);
    }

    /** Without the deaths of the shard that is refused, it would move all of them. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void failsWhereDeathsCannotBeCountedAndHoldsItsLimitWhenResumed(int seconds) {
        Job job = admin.start(JobRequest.redrive(TOPIC).perSecond(10).stopAt(50));
        queue.time.advance(Duration.ofSeconds(seconds));
        queue.line.planCall(
                (method, shard) -> method.equals("stats") && shard.shard() == 1 ? Fault.REFUSED : Fault.NONE);
        Job failed = await(job.id());
        assertThat(failed.state()).isEqualTo(Job.State.FAILED);
        assertThat(failed.problem()).contains("refused stats");
        assertThat(failed.done()).isLessThanOrEqualTo(seconds * 10 + 10);

        queue.line.planCall((method, shard) -> Fault.NONE);
        assertThat(admin.resumeJob(job.id())).isTrue();
        Job ended = await(job.id());
        assertThat(ended.state()).isEqualTo(Job.State.LIMIT_REACHED);
        assertThat(ended.deaths()).isBetween(50L, 56L);
        assertThat(ended.done()).isBetween(50L, 60L);
    }

    /** As by a repair of a key that another program has written. */
    @Test
    void failsWhenItsCounterWasResetAndCountsAnewWhenResumed() {
        Job job = admin.start(JobRequest.redrive(TOPIC).perSecond(10).stopAt(50));
        queue.time.advance(Duration.ofSeconds(2));
        StoreState.resetCounters(queue.memory, new ShardKey(TOPIC, 1));
        Job failed = await(job.id());
        assertThat(failed.state()).isEqualTo(Job.State.FAILED);
        assertThat(failed.problem()).contains("reset");

        assertThat(admin.resumeJob(job.id())).isTrue();
        Job ended = await(job.id());
        assertThat(ended.state()).isEqualTo(Job.State.LIMIT_REACHED);
        assertThat(ended.deaths()).isBetween(50L, 56L);
    }

    @Test
    void movesOneGroupOrOneTextOrTheOldOnly() {
        healthy = true;
        ErrorGroups.Count smallest = admin.groups(TOPIC).groups().get(1);
        assertThat(smallest.count()).isEqualTo(50);
        Job group = await(
                admin.start(JobRequest.purge(TOPIC).inGroup(smallest.group().key()))
                        .id());
        assertThat(group.done()).isEqualTo(50);
        assertThat(group.scanned()).isEqualTo(DEAD);
        assertThat(dead()).isEqualTo(200);

        Job text = await(admin.start(JobRequest.redrive(TOPIC).containing("CUSTOMER B12"))
                .id());
        assertThat(text.done()).isEqualTo(9); // b12, and of b120 to b129 those that are not divisible by five
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.runIds()).hasSize(9).allMatch(id -> id.startsWith("b12"));

        Instant middle = queue.time.now();
        queue.time.advance(Duration.ofMinutes(3));
        healthy = false;
        queue.send("a-late", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(await(admin.start(JobRequest.purge(TOPIC).olderThan(Duration.ofMinutes(2)))
                                .id())
                        .done())
                .isEqualTo(191);
        assertThat(dead()).isEqualTo(1);
        for (Instant early : List.of(middle, Instant.MIN)) {
            assertThat(await(admin.start(JobRequest.purge(TOPIC).diedUntil(early))
                                    .id())
                            .done())
                    .isZero();
        }
        assertThat(await(admin.start(JobRequest.purge(TOPIC).diedUntil(Instant.MAX))
                                .id())
                        .done())
                .isEqualTo(1);
    }

    @Test
    void groupsAndFindsInTheBackground() {
        Job groups = await(admin.start(JobRequest.group(TOPIC)).id());
        assertThat(groups.scanned()).isEqualTo(DEAD);
        assertThat(groups.groups()).extracting(ErrorGroups.Count::count).containsExactly(200L, 50L);
        assertThat(groups.groups()).isEqualTo(admin.groups(TOPIC).groups());

        healthy = true;
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "a body with Needles")
                        .id("b-body")
                        .header("tenant", "acme"));
        healthy = false;
        queue.time.advance(Duration.ofSeconds(1));
        for (String text : List.of("needles", "ACME", "b-bod", "customer b-body")) {
            Job found = await(admin.start(JobRequest.search(TOPIC, text)).id());
            assertThat(found.matches()).as(text).singleElement().satisfies(death -> assertThat(death.id())
                    .isEqualTo("b-body"));
        }
        assertThat(await(admin.start(JobRequest.search(TOPIC, "order")).id()).matches())
                .hasSize(50);
        assertThat(await(admin.start(JobRequest.search(TOPIC, "o")).id()).matches())
                .hasSize(Job.MOST_MATCHES);
    }

    @Test
    void runsJobsThatMoveOneAfterTheOther() {
        healthy = true;
        Job first = admin.redriveAll(TOPIC, 20);
        queue.time.advance(Duration.ofMillis(1));
        Job second = admin.start(JobRequest.purge(TOPIC));
        Job look = admin.start(JobRequest.group(TOPIC));
        queue.time.advance(Duration.ofSeconds(3));

        assertThat(admin.job(look.id()).orElseThrow().state()).isEqualTo(Job.State.DONE);
        assertThat(admin.job(second.id()).orElseThrow().node()).isNull();
        await(first.id());
        await(second.id());

        assertThat(admin.job(first.id()).orElseThrow().done()).isEqualTo(DEAD);
        assertThat(admin.job(second.id()).orElseThrow().done()).isZero();
        assertThat(admin.jobs()).extracting(Job::id).contains(first.id(), second.id(), look.id());
    }

    @Test
    void leavesOutAShardThatIsRefusedAndDoesItWhenResumed() {
        healthy = true;
        ShardKey damaged = new ShardKey(TOPIC, 1);
        long inDamaged = queue.engine.stats(TOPIC).shards().get(1).dead();
        queue.line.planByShard(shard -> shard.equals(damaged) ? Fault.REFUSED : Fault.NONE);

        Job job = await(admin.redriveAll(TOPIC, Integer.MAX_VALUE).id());
        assertThat(job.state()).isEqualTo(Job.State.FAILED);
        assertThat(job.problem()).contains("refused");
        assertThat(job.done()).isEqualTo(DEAD - inDamaged);

        queue.line.planByShard(shard -> Fault.NONE);
        assertThat(admin.resumeJob(job.id())).isTrue();
        Job done = await(job.id());
        assertThat(done.state()).isEqualTo(Job.State.DONE);
        assertThat(done.done()).isEqualTo(DEAD);
    }

    /** The scan has left the shard when its last move is refused. */
    @Test
    void readsTheOtherShardsAlthoughAMoveIsRefused() {
        healthy = true;
        ShardKey damaged = new ShardKey(TOPIC, 0);
        long inDamaged = queue.engine.stats(TOPIC).shards().get(0).dead();
        queue.line.planCall(
                (method, shard) -> method.equals("redrive") && damaged.equals(shard) ? Fault.REFUSED : Fault.NONE);

        Job job = await(admin.redriveAll(TOPIC, Integer.MAX_VALUE).id());
        assertThat(job.state()).isEqualTo(Job.State.FAILED);
        assertThat(job.problem()).contains("refused redrive");
        assertThat(dead()).isEqualTo(inDamaged);

        queue.line.planCall((method, shard) -> Fault.NONE);
        assertThat(admin.resumeJob(job.id())).isTrue();
        assertThat(await(job.id()).state()).isEqualTo(Job.State.DONE);
        assertThat(dead()).isZero();
    }

    /** Neither a count of the dead letters nor a move of them is possible. */
    @Test
    void failsWithTheReasonIfTheStoreRefusesMoreThanAShard() {
        queue.line.plan(method -> method.equals("stats") ? Fault.REFUSED : Fault.NONE);
        Job job = await(admin.redriveAll(TOPIC, 10).id());

        assertThat(job.state()).isEqualTo(Job.State.FAILED);
        assertThat(job.problem()).contains("refused stats");
        assertThat(queue.memory.jobs().find(job.id()).orElseThrow().taken()).isFalse();
        queue.line.heal();
        healthy = true;
        assertThat(admin.resumeJob(job.id())).isTrue();
        assertThat(await(job.id()).done()).isEqualTo(DEAD);
    }

    /** Another node may run it, when the lock has expired. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void endsOnANodeWhoseProgressIsRefused(int seconds) {
        healthy = true;
        Job job = admin.redriveAll(TOPIC, 20);
        queue.time.advance(Duration.ofSeconds(seconds));
        queue.line.plan(method -> method.equals("save") || method.equals("take") ? Fault.REFUSED : Fault.NONE);
        queue.time.advance(Duration.ofSeconds(2));
        queue.line.takeCalls();
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(queue.line.takeCalls()).doesNotContain("save", "redrive");

        queue.time.advance(Duration.ofSeconds(100));
        Job done = other.admin().job(job.id()).orElseThrow();
        assertThat(done.state()).isEqualTo(Job.State.DONE);
        assertThat(done.done()).isEqualTo(DEAD);
        assertThat(queue.runIds()).hasSize(DEAD).doesNotHaveDuplicates();
    }

    /** The reason is stored when the store answers again. */
    @Test
    void storesWhyItFailedAlsoAfterAnOutage() {
        boolean[] refused = new boolean[1];
        queue.line.plan(method -> {
            refused[0] |= method.equals("stats");
            return method.equals("stats") ? Fault.REFUSED : refused[0] ? Fault.LOST_REQUEST : Fault.NONE;
        });
        Job job = admin.redriveAll(TOPIC, 10);
        queue.time.advance(Duration.ofSeconds(5));
        queue.line.heal();

        assertThat(await(job.id()).problem()).contains("refused stats");
    }

    /** Of a later version, with a field that cannot be read, and of a topic that had more shards. */
    @Test
    void runsAndListsTheOthersAlthoughSomeJobsCannotRunHere() {
        healthy = true;
        List<Map<String, String>> unfit = List.of(
                Map.of("action", "archive"),
                Map.of("action", "purge", "format", "2"),
                Map.of("action", "purge", "olderThan", "99999999999999999999"),
                Map.of("action", "purge", "perSecond", "4294967297"),
                Map.of("action", "purge", "pending", "b1 1", "pendingShard", "3"),
                Map.of("action", "purge", "pending", "b1"),
                Map.of("action", "purge", "shard", "4"));
        for (int i = 0; i < unfit.size(); i++) {
            Map<String, String> fields = new HashMap<>(unfit.get(i));
            fields.putIfAbsent("topic", TOPIC);
            queue.memory.jobs().create(String.valueOf(i).repeat(32), TOPIC, fields);
            queue.time.advance(Duration.ofMillis(1));
        }

        Job job = await(admin.start(JobRequest.redrive(TOPIC).containing("b12")).id());
        assertThat(job.done()).isEqualTo(9);
        assertThat(admin.jobs()).extracting(Job::id).contains(job.id()).doesNotContain("0".repeat(32));
        assertThat(admin.job("0".repeat(32))).isEmpty();
        queue.time.advance(Duration.ofMinutes(3));
        assertThat(dead()).isEqualTo(DEAD - 9);

        assertThat(admin.stopJob("0".repeat(32))).isTrue();
        for (int hour = 0; hour < 25; hour++) {
            queue.time.pass(Duration.ofMinutes(59));
            queue.time.advance(Duration.ofMinutes(1));
        }
        assertThat(queue.memory.jobs().list()).as("nobody keeps them").isEmpty();
    }

    @Test
    void runsAJobThatHasWaitedBehindManyOthers() {
        healthy = true;
        Job first = admin.start(JobRequest.redrive(TOPIC).perSecond(1).containing("b1"));
        queue.time.advance(Duration.ofSeconds(1));
        queue.memory.jobs().create("f".repeat(32), TOPIC, JobText.encode(JobRequest.purge(TOPIC)));
        for (int i = 0; i < 120; i++) {
            Job look = admin.start(JobRequest.search(TOPIC, "b12"));
            queue.time.advance(Duration.ofMillis(100));
            assertThat(admin.job(look.id())).isPresent();
        }
        assertThat(await(first.id()).state()).isEqualTo(Job.State.DONE);
        assertThat(await("f".repeat(32)).state()).isEqualTo(Job.State.DONE);
        assertThat(dead()).isZero();
    }

    /** The count of shards of an unused topic is read, which fails while the part of the store with that topic is away. */
    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"LOST_REQUEST", "REJECTED"})
    void runsJobsBehindOthersWhoseTopicsDoNotAnswer(Fault fault) {
        for (FaultyStore line : List.of(queue.line, otherLine)) {
            line.plan(method -> {
                if (method.equals("declared") && fault == Fault.LOST_REQUEST) {
                    queue.time.advance(Duration.ofMillis(500));
                }
                return method.equals("declared") ? fault : Fault.NONE;
            });
        }
        for (char id : "abc".toCharArray()) {
            queue.memory
                    .jobs()
                    .create(
                            String.valueOf(id).repeat(32),
                            "topic-" + id,
                            JobText.encode(JobRequest.purge("topic-" + id)));
            queue.time.advance(Duration.ofMillis(1));
        }

        Job job = admin.start(JobRequest.purge(TOPIC));
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(admin.job(job.id()).orElseThrow().state()).isEqualTo(Job.State.DONE);
        assertThat(dead()).isZero();

        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(20));
        assertThat(admin.jobs()).hasSize(4).allMatch(one -> one.state() == Job.State.DONE);
    }

    @Test
    void returnsAJobThatWasStoredAlthoughItCannotBeReadAgain() {
        queue.line.plan(method -> method.equals("find") ? Fault.REJECTED : Fault.NONE);

        Job job = admin.start(JobRequest.purge(TOPIC).by("ops", "ticket 7"));

        queue.line.heal();
        assertThat(admin.job(job.id())).get().usingRecursiveComparison().isEqualTo(job);
    }

    @Test
    void findsATextInHeadersThatCrossTheLimitOfASearch() {
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "body")
                        .id("b-headers")
                        .header("hidden", "Needle 7")
                        .header("long", "x".repeat(4_000) + "é needle 8" + "x".repeat(6_000) + "needle 9")
                        .header("last", "needle 10"));
        queue.time.advance(Duration.ofSeconds(1));

        for (String text : List.of("needle 7", "é needle 8")) {
            assertThat(await(admin.start(JobRequest.search(TOPIC, text)).id()).matches())
                    .as(text)
                    .extracting(DeadLetterRef::id)
                    .containsExactly("b-headers");
        }
        for (String text : List.of("needle 9", "needle 10", "hidden")) {
            assertThat(await(admin.start(JobRequest.search(TOPIC, text)).id()).matches())
                    .as(text)
                    .isEmpty();
        }
        assertThat(await(admin.start(JobRequest.purge(TOPIC).containing("NEEDLE 7"))
                                .id())
                        .done())
                .isEqualTo(1);
    }

    /** A node that looks for jobs reads only a few numbers while there are none. */
    @Test
    void looksForJobsAtLittleCost() {
        await(admin.start(JobRequest.group(TOPIC)).id());
        queue.line.takeCalls();
        queue.time.advance(Duration.ofMinutes(10));

        assertThat(queue.line.takeCalls()).contains("running").doesNotContain("list", "take");
    }

    @Test
    void movesNothingAfterAStopAlthoughItsNodeDied() {
        Job job = admin.start(JobRequest.purge(TOPIC).perSecond(20));
        queue.time.advance(Duration.ofSeconds(2));
        queue.line.once("purge", Fault.KILLED_BEFORE);
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.node.isAlive()).isFalse();
        long left = dead();
        assertThat(other.admin().stopJob(job.id())).isTrue();

        queue.time.advance(Duration.ofSeconds(90));
        assertThat(other.admin().job(job.id()).orElseThrow().state()).isEqualTo(Job.State.STOPPED);
        assertThat(dead()).isEqualTo(left).isBetween(150L, 240L);
    }

    /** Dead letters that the stopped job has announced are purged by others before it continues. */
    @Test
    void countsWhatItHasDoneAlsoAfterAStop() {
        healthy = true;
        Job job = admin.redriveAll(TOPIC, 50);
        queue.time.advance(Duration.ofSeconds(2));
        other.admin().stopJob(job.id());
        queue.time.advance(Duration.ofSeconds(1));
        String announced =
                queue.memory.jobs().find(job.id()).orElseThrow().fields().get("pending");
        List<DeadLetterRef> pending = JobText.deaths(announced);
        assertThat(admin.purge(TOPIC, pending)).isNotEmpty().doesNotContain(false);

        admin.resumeJob(job.id());
        Job done = await(job.id());
        assertThat(done.missed()).isEqualTo(pending.size());
        assertThat(done.done()).isEqualTo(DEAD - pending.size());
    }

    @Test
    void goesOnAfterAnOutageOfTheStore() {
        healthy = true;
        Job job = admin.redriveAll(TOPIC, 50);
        queue.time.advance(Duration.ofSeconds(1));
        queue.line.away();
        queue.time.advance(Duration.ofSeconds(10));
        queue.line.heal();

        Job done = await(job.id());
        assertThat(done.done()).isEqualTo(DEAD);
        assertThat(queue.runIds()).doesNotHaveDuplicates();
    }

    @Test
    void aRedriveHasARateAndAPurgeHasNone() {
        int none = Integer.MAX_VALUE;

        assertThat(JobRequest.redrive(TOPIC).perSecond()).isEqualTo(50);
        assertThat(JobRequest.redrive(TOPIC).withoutLimit().perSecond()).isEqualTo(none);
        assertThat(JobRequest.purge(TOPIC).perSecond()).isEqualTo(none);
        Job job = admin.start(JobRequest.redrive(TOPIC).withoutLimit());
        assertThat(admin.job(job.id()).orElseThrow().request().perSecond()).isEqualTo(none);
    }

    @Test
    void keepsWhoStartedItAndRefusesWhatCannotBe() {
        Job job = admin.start(JobRequest.purge(TOPIC).perSecond(7).stopAt(3).by("ops", "ticket 7"));

        JobRequest request = admin.job(job.id()).orElseThrow().request();
        assertThat(request.by()).isEqualTo("ops");
        assertThat(request.note()).isEqualTo("ticket 7");
        assertThat(request.perSecond()).isEqualTo(7);
        assertThat(request.stopAt()).isEqualTo(3);
        assertThat(request.action()).isEqualTo(JobRequest.Action.PURGE);
        assertThat(admin.job("unknown")).isEmpty();
        assertThat(admin.stopJob("unknown")).isFalse();
        assertThat(admin.resumeJob("*")).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> admin.redriveAll(TOPIC, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JobRequest.purge(TOPIC).stopAt(0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JobRequest.purge(TOPIC).inGroup("x"));
        assertThatIllegalArgumentException().isThrownBy(() -> JobRequest.search(TOPIC, " "));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JobRequest.purge(TOPIC).olderThan(Duration.ofMillis(-1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JobRequest.purge(TOPIC).olderThan(Duration.ofMillis(Long.MAX_VALUE)))
                .withMessageContaining("zero to 3650 days");
        assertThat(ErrorGroup.NONE.key()).hasSize(16);
    }
}
