package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class DelayQueueAdminTests {

    private final TestQueue queue = new TestQueue(builder -> builder.shards(topic -> 2));
    private final DelayQueueAdmin dead = queue.engine.admin();
    private boolean healthy;

    @BeforeEach
    void die() {
        queue.start(listener().concurrency(20).retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
            if (!healthy) {
                throw new IllegalStateException();
            }
        });
        IntStream.range(0, 250).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(queue.engine.stats(TOPIC).dead()).isEqualTo(250);
        queue.runs.clear();
    }

    @ParameterizedTest
    @CsvSource({"2, 30", "2, 100", "2, 1", "16, 7", "17, 30"})
    void pagesThroughAllShards(int shards, int size) {
        TestQueue spread = withDeadLetters(shards, 120);
        for (boolean newestFirst : List.of(false, true)) {
            List<MessageSummary> all = new ArrayList<>();
            MessageQuery query = newestFirst
                    ? MessageQuery.dead().newestFirst().size(size)
                    : MessageQuery.dead().size(size);
            MessagePage page;
            do {
                page = spread.engine.admin().messages(TOPIC, query);
                if (shards <= 16) {
                    assertThat(page.total()).isEqualTo(120);
                    assertThat(page.rank()).isEqualTo(all.size());
                }
                all.addAll(page.messages());
                query = query.after(page.next());
            } while (page.next() != null);

            assertThat(all).extracting(MessageSummary::id).hasSize(120).doesNotHaveDuplicates();
            assertThat(all).allMatch(message -> message.shard() == MessageIds.shardOf(message.id(), shards, shards));
            if (shards <= 16) {
                Comparator<MessageSummary> inOrder =
                        Comparator.comparing(MessageSummary::at).thenComparing(MessageSummary::id);
                assertThat(all).isSortedAccordingTo(newestFirst ? inOrder.reversed() : inOrder);
            }
        }
    }

    private static TestQueue withDeadLetters(int shards, int count) {
        TestQueue queue = new TestQueue(builder -> builder.shards(topic -> shards));
        queue.start(listener().concurrency(20).retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
            throw new IllegalStateException("order " + message.id() + " is closed");
        });
        IntStream.range(0, count).forEach(i -> queue.send("m" + i, Duration.ofMillis(i / 3)));
        queue.time.advance(Duration.ofSeconds(2));
        queue.runs.clear();
        return queue;
    }

    @Test
    void pagesThroughOneShardOnly() {
        MessageQuery one = MessageQuery.dead().shard(1).size(100);
        MessagePage first = dead.messages(TOPIC, one);
        MessagePage second = dead.messages(TOPIC, one.after(first.next()));

        assertThat(first.shard()).isEqualTo(1);
        assertThat(first.total())
                .isEqualTo(queue.engine.stats(TOPIC).shards().get(1).dead());
        assertThat(second.rank()).isEqualTo(100);
        assertThat(first.messages().size() + second.messages().size()).isEqualTo((int) first.total());
        assertThat(second.next()).isNull();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dead.messages(TOPIC, one.shard(2)))
                .withMessageContaining("no shard 2");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dead.messages(TOPIC, MessageQuery.dead().after(first.next())))
                .withMessageContaining("other shards");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dead.messages(TOPIC, MessageQuery.dead().after("nonsense")))
                .withMessageContaining("cursor");
    }

    @Test
    void findsAMessageInAllTopics() {
        queue.memory.fleet().addTopics(Map.of(TOPIC, 2, "mails", 2, "unused", 1));
        queue.engine.template().send(OutgoingMessage.of("mails", "x").id("m7").after(Duration.ofHours(1)));

        assertThat(dead.find("m7"))
                .extracting(detail -> detail.message().topic(), detail -> detail.message()
                        .state())
                .containsExactlyInAnyOrder(
                        tuple("mails", MessageInfo.State.WAITING), tuple(TOPIC, MessageInfo.State.DEAD));
        assertThat(dead.find("unknown")).isEmpty();
        queue.line.plan(method -> method.equals("find") ? Fault.REFUSED : Fault.NONE);
        assertThatThrownBy(() -> dead.find("m7")).isInstanceOf(StoreRefusedException.class);
    }

    /** Each attempt waits for two timeouts at most. The next one begins with the other topics. */
    @ParameterizedTest
    @CsvSource({"REJECTED, 1", "LOST_REQUEST, 4"})
    void findsAMessageAlthoughOtherTopicsDoNotAnswer(Fault fault, int attempts) {
        Map<String, Integer> topics = IntStream.range(0, 6).boxed().collect(toMap(i -> "silent" + i, i -> 1));
        queue.memory.fleet().addTopics(topics);
        queue.memory.fleet().addTopics(Map.of(TOPIC, 2));
        queue.line.planCall(
                (method, shard) -> shard != null && shard.topic().startsWith("silent") ? fault : Fault.NONE);

        List<MessageDetail> found = new ArrayList<>();
        for (int i = 0; i < attempts && found.isEmpty(); i++) {
            try {
                found.addAll(dead.find("m7"));
            } catch (StoreUnavailableException again) {
                assertThat(fault).isEqualTo(Fault.LOST_REQUEST);
            }
        }

        assertThat(found).extracting(detail -> detail.message().topic()).containsExactly(TOPIC);
        assertThatThrownBy(() -> dead.find("unknown"))
                .as("it may be in a topic that does not answer")
                .isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void groupsDeadLettersByTheirErrors() {
        TestQueue mixed = new TestQueue(builder -> builder.shards(topic -> 3));
        mixed.start(listener().concurrency(20).retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
            if (message.id().startsWith("a")) {
                throw new IllegalStateException("order " + message.id() + " is closed");
            }
            throw new IllegalArgumentException("no customer '" + message.id() + "'");
        });
        IntStream.range(0, 30).forEach(i -> mixed.send("a" + i, Duration.ZERO));
        IntStream.range(0, 12).forEach(i -> mixed.send("b" + i, Duration.ofMillis(5)));
        mixed.time.advance(Duration.ofSeconds(2));

        ErrorGroups groups = mixed.engine.admin().groups(TOPIC);

        assertThat(groups.total()).isEqualTo(42);
        assertThat(groups.scanned()).isEqualTo(42);
        assertThat(groups.isComplete()).isTrue();
        assertThat(groups.groups()).extracting(ErrorGroups.Count::count).containsExactly(30L, 12L);
        assertThat(groups.groups())
                .extracting(count -> count.group().title())
                .containsExactly(
                        "IllegalStateException: order a# is closed", "IllegalArgumentException: no customer '#'");
        ErrorGroups.Count largest = groups.groups().get(0);
        assertThat(largest.first()).isBeforeOrEqualTo(largest.last());
        assertThat(mixed.engine.admin().redrive(TOPIC, List.of(largest.sample())))
                .containsExactly(true);
    }

    @Test
    void actsOnManyMessagesOfSeveralShards() {
        List<MessageSummary> page = dead.messages(TOPIC, MessageQuery.dead()).messages();
        List<DeadLetterRef> deaths = new ArrayList<>(
                page.stream().limit(10).map(MessageSummary::death).toList());
        deaths.add(3, new DeadLetterRef("never", queue.time.now()));
        healthy = true;

        assertThat(dead.redrive(TOPIC, deaths)).hasSize(11).element(3).isEqualTo(false);
        assertThat(queue.engine.stats(TOPIC).dead()).isEqualTo(240);
        assertThat(dead.purge(TOPIC, deaths)).hasSize(11).containsOnly(false);
        assertThat(dead.purge(
                        TOPIC, page.stream().skip(10).map(MessageSummary::death).toList()))
                .hasSize(40)
                .containsOnly(true);
        assertThat(queue.engine.stats(TOPIC).dead()).isEqualTo(200);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dead.purge(TOPIC, Collections.nCopies(101, deaths.get(0))))
                .withMessageContaining("at most 100");
    }

    @Test
    void changesAWaitingMessageOnlyIfItIsTheOneThatIsMeant() {
        queue.send("later", Duration.ofHours(1));
        MessageRef first = dead.messages(TOPIC, MessageQuery.of(MessageInfo.State.WAITING))
                .messages()
                .get(0)
                .ref();
        assertThat(dead.cancel(TOPIC, List.of(first))).containsExactly(ChangeOutcome.APPLIED);
        queue.send("later", Duration.ofHours(2));

        assertThat(dead.cancel(TOPIC, List.of(first))).containsExactly(ChangeOutcome.OTHER_INCARNATION);
        assertThat(dead.reschedule(TOPIC, List.of(first), DueTime.after(Duration.ZERO)))
                .containsExactly(ChangeOutcome.OTHER_INCARNATION);
        assertThat(dead.body(TOPIC, first)).isEmpty();
        MessageDetail second = dead.find(TOPIC, "later").orElseThrow();
        MessageRef other = new MessageRef("later", second.incarnation());
        MessageRef part = new MessageRef(
                "later", Objects.requireNonNull(other.incarnation()).substring(0, 2));
        assertThat(dead.cancel(TOPIC, List.of(part))).containsExactly(ChangeOutcome.OTHER_INCARNATION);
        assertThat(dead.body(TOPIC, part)).isEmpty();
        assertThat(dead.body(TOPIC, other))
                .isEqualTo(Optional.ofNullable(second.message().body()));
        assertThat(dead.reschedule(
                        TOPIC, List.of(other, new MessageRef("m1", null)), DueTime.after(Duration.ofHours(3))))
                .containsExactly(ChangeOutcome.APPLIED, ChangeOutcome.DEAD);
        assertThat(dead.find(TOPIC, "later").orElseThrow().due())
                .isAfter(queue.time.now().plus(Duration.ofHours(2)));
    }

    @Test
    void refusesPagesThatCannotBe() {
        for (int count : List.of(0, 101)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> MessageQuery.dead().size(count))
                    .withMessageContaining("1 to 100");
        }
    }

    @Test
    void showsAndMovesTheOthersWhereAShardIsRefused() {
        ShardKey damaged = new ShardKey(TOPIC, 0);
        long ofTheOther = queue.engine.stats(TOPIC).shards().get(1).dead();
        queue.line.planByShard(shard -> shard.equals(damaged) ? Fault.REFUSED : Fault.NONE);

        MessagePage page = dead.messages(TOPIC, MessageQuery.dead().size(100));
        assertThat(page.total()).isEqualTo(ofTheOther);
        assertThat(page.messages()).hasSize(100);
        assertThat(page.refused()).containsExactly("refused browse");
        TopicStats stats = queue.engine.stats(TOPIC);
        assertThat(stats.dead()).isEqualTo(ofTheOther);
        assertThat(stats.refused()).containsExactly("refused stats");
        assertThat(stats.byNumber()).containsOnlyKeys(1);
        assertThatThrownBy(() -> dead.purgeOlderThan(TOPIC, Duration.ZERO)).isInstanceOf(StoreRefusedException.class);
        queue.line.planByShard(shard -> Fault.NONE);
        assertThat(queue.engine.stats(TOPIC).dead()).isEqualTo(250 - ofTheOther);
    }

    /** Callers take a failure whose outcome is known for one that has changed nothing. */
    @Test
    void saysThatTheOutcomeIsUnknownIfALaterShardFails() {
        for (Runnable change : changesOfSeveralShards()) {
            queue.line.disconnect();
            assertThatThrownBy(change::run)
                    .satisfies(e -> assertThat(((StoreUnavailableException) e).isOutcomeUnknown())
                            .isFalse());
            failAllButTheFirst(Fault.REJECTED);
            assertThatThrownBy(change::run)
                    .hasMessageContaining("Currently not connected")
                    .satisfies(e -> assertThat(((StoreUnavailableException) e).isOutcomeUnknown())
                            .isTrue());
            queue.line.planCall((method, shard) -> Fault.NONE);
        }
    }

    @ParameterizedTest
    @CsvSource({"REFUSED, refused ", "FULL, full: "})
    void saysThatAPartMayBeMadeIfALaterShardIsRefused(Fault fault, String text) {
        for (Runnable change : changesOfSeveralShards()) {
            failAllButTheFirst(fault);
            assertThatThrownBy(change::run)
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageStartingWith("A part of the change may have been made: " + text);
            queue.line.planCall((method, shard) -> Fault.NONE);
        }
        assertThat(queue.engine.stats(TOPIC).dead()).isBetween(1L, 249L);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"REFUSED", "FULL"})
    void changesTheShardsBehindOneThatIsRefused(Fault fault) {
        TestQueue spread = new TestQueue(builder -> builder.shards(topic -> 4));
        IntStream.range(0, 40).forEach(i -> spread.send("m" + i, Duration.ofHours(1)));
        List<MessageRef> all = IntStream.range(0, 40)
                .mapToObj(i -> new MessageRef("m" + i, null))
                .toList();
        AtomicReference<ShardKey> first = new AtomicReference<>();
        spread.line.planByShard(shard -> {
            first.compareAndSet(null, shard);
            return shard.equals(first.get()) ? fault : Fault.NONE;
        });

        assertThatThrownBy(() -> spread.engine.admin().reschedule(TOPIC, all, DueTime.after(Duration.ZERO)))
                .hasMessageStartingWith("A part of the change may have been made: ");

        spread.time.advance(Duration.ofMillis(1));
        for (int i = 0; i < 4; i++) {
            ShardKey shard = new ShardKey(TOPIC, i);
            assertThat(spread.memory.stats(shard).due() > 0).isEqualTo(!shard.equals(first.get()));
        }
    }

    /** An operator pauses a topic whose messages die while one master of several is away. */
    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"LOST_REQUEST", "LOST_REPLY", "REJECTED"})
    void pausesAllShardsThatAnswer(Fault fault) {
        TestQueue spread = new TestQueue(builder -> builder.shards(topic -> 8));
        spread.send("m", Duration.ofHours(1));
        spread.line.planByShard(shard -> shard.shard() < 3 ? fault : Fault.NONE);

        assertThatThrownBy(() -> spread.engine.fleet().pause(TOPIC, "ops"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageStartingWith("A part of the change may have been made: ");

        for (int i = 3; i < 8; i++) {
            assertThat(spread.memory.stats(new ShardKey(TOPIC, i)).paused())
                    .as("shard " + i)
                    .isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"LOST_REQUEST, true", "REJECTED, false"})
    void saysWhetherTheOutcomeIsUnknownIfNoShardIsPaused(Fault fault, boolean isUnknown) {
        queue.line.planByShard(shard -> shard.shard() == 0 ? Fault.REJECTED : fault);

        assertThatThrownBy(() -> queue.engine.fleet().pause(TOPIC, "ops"))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.isOutcomeUnknown())
                        .isEqualTo(isUnknown));
    }

    private List<Runnable> changesOfSeveralShards() {
        queue.send("later", Duration.ofHours(1));
        List<DeadLetterRef> deaths = dead.messages(TOPIC, MessageQuery.dead().size(100)).messages().stream()
                .map(MessageSummary::death)
                .toList();
        List<MessageRef> waiting =
                deaths.stream().map(death -> new MessageRef(death.id(), null)).toList();
        return List.of(
                () -> dead.redrive(TOPIC, deaths),
                () -> dead.purge(TOPIC, deaths),
                () -> dead.cancel(TOPIC, waiting),
                () -> dead.reschedule(TOPIC, waiting, DueTime.after(Duration.ZERO)),
                () -> queue.engine.fleet().pause(TOPIC, "ops"),
                () -> queue.engine.fleet().resume(TOPIC),
                () -> dead.purgeOlderThan(TOPIC, Duration.ZERO));
    }

    /** One shard answers: the first that is called. */
    private void failAllButTheFirst(Fault fault) {
        queue.line.heal();
        AtomicReference<ShardKey> first = new AtomicReference<>();
        queue.line.planByShard(shard -> {
            first.compareAndSet(null, shard);
            return shard.equals(first.get()) ? Fault.NONE : fault;
        });
    }

    @Test
    void saysThatNothingCanBeReadWhereAllShardsAreRefused() {
        queue.line.plan(method -> Fault.REFUSED);

        assertThatThrownBy(() -> dead.messages(TOPIC, MessageQuery.dead().size(100)))
                .isInstanceOf(StoreRefusedException.class);
        assertThatThrownBy(() -> queue.engine.stats(TOPIC)).isInstanceOf(StoreRefusedException.class);
    }

    @Test
    void showsWhatWasSentAndWhyItDied() {
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "body").id("shown").header("tenant", "7"));
        queue.time.advance(Duration.ofSeconds(2));

        MessageSummary row = dead
                .messages(TOPIC, MessageQuery.dead().newestFirst().size(1))
                .messages()
                .stream()
                .findFirst()
                .orElseThrow();
        MessageDetail detail = dead.find(TOPIC, "shown").orElseThrow();
        MessageInfo shown = detail.message();

        assertThat(row.id()).isEqualTo("shown");
        assertThat(row.headers()).containsExactly("tenant");
        assertThat(row.preview()).isEqualTo(shown.body());
        assertThat(row.size()).isGreaterThan(4);
        assertThat(row.incarnation()).isEqualTo(detail.incarnation()).hasSize(16);
        assertThat(row.group()).isNotNull().isEqualTo(detail.group());
        assertThat(row.death()).isEqualTo(new DeadLetterRef("shown", shown.diedAt()));
        assertThat(row.claimedAt()).isNotNull().isBeforeOrEqualTo(row.at());
        assertThat(row.toString()).doesNotContain("body");
        assertThat(detail.bodySize()).isEqualTo(4);
        assertThat(detail.isCut()).isFalse();
        assertThat(shown.topic()).isEqualTo(TOPIC);
        assertThat(shown.state()).isEqualTo(MessageInfo.State.DEAD);
        assertThat(shown.headers()).containsExactly(Map.entry("tenant", "7"));
        assertThat(shown.failures()).isEqualTo(1);
        assertThat(shown.lastError()).isNotNull().satisfies(error -> assertThat(error.text())
                .startsWith("java.lang.IllegalStateException"));
        assertThat(shown.body()).isNotNull().satisfies(body -> assertThat(new String(body.array(), UTF_8))
                .contains("body"));
        assertThat(shown.damage()).isNull();
        assertThat(shown.toString()).doesNotContain("7]");
    }

    @Test
    void showsAMessageWhoseFrameCannotBeDecoded() {
        ShardKey shard = new ShardKey(TOPIC, MessageIds.shardOf("garbled", 2, 2));
        queue.memory.send(
                shard, List.of(new NewMessage("garbled", DueTime.after(Duration.ZERO), Bytes.of(new byte[9]))));

        MessageInfo shown = queue.engine.template().find(TOPIC, "garbled").orElseThrow();

        assertThat(shown.body()).isNull();
        assertThat(shown.headers()).isEmpty();
        assertThat(shown.damage()).contains("not an envelope");
    }

    @Test
    void replacesADeadLetterAndSendsItBack() {
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "wrong")
                        .id("edited")
                        .header("tenant", "7")
                        .retry(RetryPolicy.fixed(1, Duration.ofSeconds(9))));
        queue.time.advance(Duration.ofSeconds(2));
        MessageDetail before = dead.find(TOPIC, "edited").orElseThrow();
        DeadLetterRef death = new DeadLetterRef("edited", before.message().diedAt());
        Bytes body = Bytes.of("right".getBytes(UTF_8));
        healthy = true;

        assertThat(dead.replace(TOPIC, death, "00", Map.of(), body).outcome())
                .isEqualTo(Replacement.Outcome.OTHER_INCARNATION);
        assertThat(dead.replace(TOPIC, new DeadLetterRef("edited", Instant.EPOCH), null, Map.of(), body)
                        .outcome())
                .isEqualTo(Replacement.Outcome.NOT_DEAD);
        Replacement replaced = dead.replace(TOPIC, death, before.incarnation(), Map.of("tenant", "8"), body);

        assertThat(replaced.outcome()).isEqualTo(Replacement.Outcome.REPLACED);
        assertThat(replaced.oldBody()).isEqualTo(Bytes.of("wrong".getBytes(UTF_8)));
        assertThat(replaced.oldHeaders()).containsExactly(Map.entry("tenant", "7"));
        assertThat(replaced.oldSha256()).hasSize(64);
        MessageDetail waiting = dead.find(TOPIC, "edited").orElseThrow();
        assertThat(waiting.message().headers()).containsExactly(Map.entry("tenant", "8"));
        assertThat(waiting.retry()).isEqualTo(before.retry()).isNotNull();
        assertThat(waiting.incarnation()).isNotEqualTo(before.incarnation());
        queue.runs.clear();
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.runs).extracting(TestQueue.Run::payload).containsExactly("right");
        assertThat(dead.replace(TOPIC, death, null, Map.of(), body).outcome()).isEqualTo(Replacement.Outcome.NOT_DEAD);
    }

    @Test
    void returnsOnlyTheHashOfALargeMessageThatIsReplaced() {
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "x".repeat(20_000)).id("large"));
        queue.time.advance(Duration.ofSeconds(2));
        DeadLetterRef death = new DeadLetterRef(
                "large", dead.find(TOPIC, "large").orElseThrow().message().diedAt());

        Replacement replaced = dead.replace(TOPIC, death, null, Map.of(), Bytes.of("y".getBytes(UTF_8)));

        assertThat(replaced.outcome()).isEqualTo(Replacement.Outcome.REPLACED);
        assertThat(replaced.oldBody()).isNull();
        assertThat(replaced.oldSize()).isEqualTo(20_000);
        assertThat(replaced.oldSha256())
                .isEqualTo(HexFormat.of().formatHex(sha256("x".repeat(20_000).getBytes(UTF_8))));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dead.replace(TOPIC, death, null, Map.of("a\ud800", "x"), Bytes.NONE));
        assertThatThrownBy(() -> dead.replace(TOPIC, death, null, Map.of(), Bytes.of(new byte[9 << 20])))
                .isInstanceOf(MessageTooLargeException.class);
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void cutsALargeBodyAndReadsItWholeOnRequest() {
        String large = "x".repeat(MessageDetail.MOST_BYTES + 1000);
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, large).id("large").after(Duration.ofHours(1)));

        MessageDetail detail = dead.find(TOPIC, "large").orElseThrow();

        assertThat(detail.bodySize()).isEqualTo(large.length());
        assertThat(detail.isCut()).isTrue();
        assertThat(detail.message().body()).isNotNull().satisfies(body -> assertThat(body.length())
                .isBetween(MessageDetail.MOST_BYTES - 100, MessageDetail.MOST_BYTES));
        assertThat(dead.body(TOPIC, new MessageRef("large", detail.incarnation())))
                .contains(Bytes.of(large.getBytes(UTF_8)));
    }

    @Test
    void showsAPageOfMessagesWithLongHeadersAndWithGarbledFrames() {
        ShardKey shard = new ShardKey(TOPIC, MessageIds.shardOf("garbled", 2, 2));
        queue.memory.send(
                shard, List.of(new NewMessage("garbled", DueTime.after(Duration.ofHours(1)), Bytes.of(new byte[9]))));
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "x")
                        .id("headers")
                        .header("long", "y".repeat(600))
                        .after(Duration.ofHours(2)));

        List<MessageSummary> rows =
                dead.messages(TOPIC, MessageQuery.of(MessageInfo.State.WAITING)).messages();

        assertThat(rows).extracting(MessageSummary::id).containsExactly("garbled", "headers");
        assertThat(rows.get(0).damage()).contains("not an envelope");
        assertThat(rows.get(1).damage()).isNull();
        assertThat(rows.get(1).preview()).isNull();
        assertThat(rows.get(1).size()).isGreaterThan(600);
        assertThat(dead.find(TOPIC, "headers").orElseThrow().message().headers())
                .containsOnlyKeys("long");
    }

    @Test
    void purgesOneAndTheOld() {
        DeadLetterRef first = dead.messages(TOPIC, MessageQuery.dead().size(1))
                .messages()
                .get(0)
                .death();

        assertThat(dead.purge(TOPIC, first.id(), first.diedAt().plusMillis(1))).isFalse();
        assertThat(dead.purge(TOPIC, first.id(), first.diedAt())).isTrue();
        assertThat(dead.purgeOlderThan(TOPIC, Duration.ofHours(1))).isZero();
        queue.time.advance(Duration.ofHours(2));
        assertThat(dead.purgeOlderThan(TOPIC, Duration.ofHours(1))).isEqualTo(249);
    }
}
