package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.memory.StoreState;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DeadLetterTests {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final ShardKey SHARD = new ShardKey(TOPIC, 0);
    private static final ShardKey NOTICES = new ShardKey(TOPIC + ".dead-letters", 0);

    private final Map<String, Integer> shards = new HashMap<>();
    private final ReplicaWait replicas = ReplicaWait.of(1);
    private final TestQueue queue = new TestQueue(builder -> builder.shards(topic -> shards.getOrDefault(topic, 0)));
    private final List<DeadLetter<String>> seen = new ArrayList<>();

    private ListenerContainer listen() {
        return listen(queue);
    }

    private ListenerContainer listen(TestQueue on) {
        ListenerContainer container = on.engine.container(
                ListenerEndpoint.deadLetters("dead", TOPIC, String.class).build(),
                (DelayMessage<DeadLetter<String>> message) -> seen.add(message.payload()));
        container.start();
        return container;
    }

    private void die(TestQueue on, String... ids) {
        ListenerContainer container =
                on.start(listener().errorHandler((message, error) -> ErrorAction.dead()), message -> {
                    throw new IllegalStateException("no stock");
                });
        for (String id : ids) {
            on.engine
                    .template()
                    .send(OutgoingMessage.of(TOPIC, "payload of " + id).id(id).header("tenant", "t"));
        }
        on.time.advance(SECOND);
        on.stop(container);
    }

    private List<String> seenIds() {
        return seen.stream().map(DeadLetter::id).toList();
    }

    @Test
    void bringsPayloadHeadersAndErrors() {
        listen();
        queue.start(listener().retry(RetryPolicy.fixed(2, SECOND)), message -> {
            throw new IllegalStateException("attempt " + message.attempt());
        });
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "payload").id("a").header("tenant", "t"));
        queue.time.advance(MINUTE);

        assertThat(seen).singleElement().satisfies(dead -> {
            assertThat(dead.topic()).isEqualTo(TOPIC);
            assertThat(dead.id()).isEqualTo("a");
            assertThat(dead.payload()).isEqualTo("payload");
            assertThat(dead.headers()).containsExactly(Map.entry("tenant", "t"));
            assertThat(dead.diedAt()).isEqualTo(queue.find("a").at());
            assertThat(dead.failures()).isEqualTo(2);
            assertThat(dead.leaseExpirations()).isZero();
            assertThat(dead.firstError()).startsWith("java.lang.IllegalStateException: attempt 1");
            assertThat(dead.lastError()).startsWith("java.lang.IllegalStateException: attempt 2");
        });
        assertThat(queue.find("a").state()).as("it stays").isEqualTo(State.DEAD);
        assertThat(queue.memory.stats(NOTICES).counters().acknowledged()).isEqualTo(1);
    }

    /** Users who may not see header values see the error. */
    @Test
    void refusesAnOwnMessageToItsTopicWithoutQuotingAHeader() {
        listen();
        OutgoingMessage own = OutgoingMessage.of(NOTICES.topic(), "x").id("own");
        for (String header : List.of("topic", "id", "died-at", "failures", "lease-expirations")) {
            own = own.header("dead-letter." + header, "4711-secret");
        }
        queue.engine.template().send(own);
        queue.time.advance(MINUTE);

        assertThat(seen).isEmpty();
        assertThat(queue.memory.find(NOTICES, "own")).hasValueSatisfying(message -> {
            assertThat(message.state()).isEqualTo(State.DEAD);
            assertThat(String.valueOf(message.firstError()))
                    .contains("does not announce a dead letter")
                    .doesNotContain("4711");
        });
    }

    /** As if a body were too large for the ACL of this node. */
    @Test
    void aDeadLetterThatRedisRefusesToReadDoesNotKeepTheOthersBack() {
        die(queue, "a", "b");
        listen();
        queue.line.once("find", Fault.REFUSED);
        queue.time.advance(Duration.ofSeconds(9));
        assertThat(seenIds()).containsExactly("b");

        queue.time.advance(MINUTE);
        assertThat(seenIds()).containsExactly("b", "a");
    }

    /** Over several pages. The others are not kept back later either, as by a page that is never passed. */
    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"LOST_REQUEST", "REJECTED", "REFUSED", "FULL"})
    void aShardOfTheAnnouncementsThatFailsDoesNotKeepTheOthersBack(Fault fault) {
        shards.put(NOTICES.topic(), 2);
        String[] ids = IntStream.range(0, 450).mapToObj(i -> "m" + i).toArray(String[]::new);
        die(queue, ids);
        queue.line.planCall((method, shard) -> method.equals("send") && shard.equals(NOTICES) ? fault : Fault.NONE);
        listen();
        queue.time.advance(MINUTE);
        assertThat(seenIds()).isNotEmpty().doesNotHaveDuplicates().hasSizeLessThan(450);
        assertThat(unannounced()).hasSize(450 - seen.size()).allMatch(dead -> TopicShards.of(NOTICES.topic(), 2)
                .shardOf(DeadLetterNotice.id(queue.memory.find(SHARD, dead).orElseThrow()))
                .equals(NOTICES));

        queue.time.pass(Duration.ofMinutes(14));
        queue.time.advance(MINUTE);
        queue.line.planCall((method, shard) -> Fault.NONE);
        queue.time.advance(MINUTE);
        assertThat(seenIds()).containsExactlyInAnyOrder(ids);
        assertThat(unannounced()).isEmpty();
    }

    /** The call to that shard waits for its whole timeout. */
    @Test
    void aShardOfTheAnnouncementsThatIsSilentHoldsUpNoShardOfTheTopic() {
        shards.put(TOPIC, 4);
        shards.put(NOTICES.topic(), 3);
        String[] ids = IntStream.range(0, 40).mapToObj(i -> "m" + i).toArray(String[]::new);
        die(queue, ids);
        queue.line.planCall((method, shard) -> {
            if (!method.equals("send") || !shard.equals(NOTICES)) {
                return Fault.NONE;
            }
            queue.time.advance(Duration.ofMillis(250));
            return Fault.LOST_REQUEST;
        });
        listen();

        queue.time.advance(MINUTE);

        assertThat(seenIds())
                .containsExactlyInAnyOrder(
                        Stream.of(ids).filter(id -> !isAnnouncedIn(NOTICES, id)).toArray(String[]::new));
    }

    /** A line of 100 Mbit/s takes 84 ms for a megabyte, and a call may take 250 ms. */
    @Test
    void announcesNoMoreThanAMegabyteTogether() {
        String payload = "x".repeat(400_000);
        ListenerContainer container =
                queue.start(listener().errorHandler((message, error) -> ErrorAction.dead()), message -> {
                    throw new IllegalStateException("no stock");
                });
        IntStream.range(0, 3).forEach(i -> queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, payload).id("m" + i)));
        queue.time.advance(SECOND);
        queue.stop(container);
        queue.line.takeCalls();

        listen();
        queue.time.advance(SECOND);

        assertThat(queue.line.takeCalls()).filteredOn("send"::equals).hasSize(2);
        assertThat(seenIds()).hasSize(3);
    }

    private boolean isAnnouncedIn(ShardKey target, String id) {
        ShardKey shard = new ShardKey(TOPIC, MessageIds.shardOf(id, 4, 4));
        return TopicShards.of(target.topic(), 3)
                .shardOf(DeadLetterNotice.id(queue.memory.find(shard, id).orElseThrow()))
                .equals(target);
    }

    private List<String> unannounced() {
        List<String> found = new ArrayList<>();
        Position after = null;
        List<DeadLetterErrors.Entry> page;
        do {
            page = queue.memory.errors(SHARD, after, 100).entries();
            for (DeadLetterErrors.Entry entry : page) {
                after = entry.position();
                if (entry.isUnannounced()) {
                    found.add(after.id());
                }
            }
        } while (!page.isEmpty());
        return found;
    }

    /** Each shard has a master of its own, and the notices of a shard may be for any of the target. */
    @Test
    void aFullShardOfTheAnnouncementsDoesNotKeepOtherShardsBack() {
        shards.put(TOPIC, 3);
        shards.put(NOTICES.topic(), 2);
        String[] ids = IntStream.range(0, 60).mapToObj(i -> "m" + i).toArray(String[]::new);
        die(queue, ids);
        queue.line.planCall(
                (method, shard) -> method.equals("send") && shard.equals(NOTICES) ? Fault.FULL : Fault.NONE);
        listen();
        queue.time.advance(MINUTE);

        assertThat(queue.memory
                        .stats(new ShardKey(NOTICES.topic(), 1))
                        .counters()
                        .acknowledged())
                .isEqualTo(seen.size());
        for (int i = 0; i < 3; i++) {
            assertThat(queue.memory.errors(new ShardKey(TOPIC, i), null, 100).entries())
                    .anyMatch(entry -> !entry.isUnannounced());
        }
    }

    /** The message has died of that, too. */
    @Test
    void aPayloadWhoseClassCannotBeLoadedIsAnnouncedAsNull() {
        listen();
        queue.start(listener().retry(RetryPolicy.fixed(2, SECOND)), message -> {});
        queue.engine.template().send(OutgoingMessage.of(TOPIC, "linkage").id("a"));
        queue.time.advance(MINUTE);

        assertThat(seen).singleElement().satisfies(dead -> {
            assertThat(dead.payload()).isNull();
            assertThat(dead.lastError()).contains("NoClassDefFoundError");
        });
    }

    @Test
    void aStopEndsTheReadingOfPages() {
        die(queue, IntStream.range(0, 250).mapToObj(i -> "m" + i).toArray(String[]::new));
        ListenerContainer container = listen();
        queue.line.takeCalls();
        queue.line.plan(method -> {
            if (method.equals("find")) {
                container.beginStop();
            }
            return Fault.NONE;
        });

        queue.time.advance(MINUTE);

        assertThat(queue.line.takeCalls()).filteredOn("errors"::equals).hasSize(1);
    }

    @Test
    void refusesTopicsThatCannotBeAnnounced() {
        for (String topic : new String[] {"", "no such topic!", "x".repeat(116)}) {
            assertThatThrownBy(() -> ListenerEndpoint.deadLetters("dead", topic, String.class)
                            .build())
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(ListenerEndpoint.deadLetters("dead", "x".repeat(115), String.class)
                        .build()
                        .topic())
                .hasSize(128);
    }

    @Test
    void announcesEachDeathOnceWhileNothingFails() {
        listen();
        die(queue, "a", "b");
        queue.time.advance(Duration.ofHours(3));

        assertThat(seenIds()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void announcesThoseThatDiedWithoutAListenerOfDeadLetters() {
        die(queue, "a");
        assertThat(queue.memory.stats(NOTICES).counters().sent()).isZero();

        listen();
        queue.time.advance(MINUTE);
        assertThat(seenIds()).containsExactly("a");
    }

    @Test
    void announcesEveryWayToDie() {
        listen();
        queue.memory.send(
                SHARD,
                List.of(new NewMessage("garbage", DueTime.after(Duration.ZERO), Bytes.of("no frame".getBytes(UTF_8)))));
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "broken").id("undecodable").header("tenant", "t"));
        queue.send("empty", Duration.ZERO);
        StoreState.deleteBody(queue.memory, SHARD, "empty");
        queue.start(listener().retry(RetryPolicy.fixed(1, SECOND)), message -> {});
        queue.time.advance(MINUTE);

        assertThat(seenIds()).containsExactlyInAnyOrder("garbage", "undecodable", "empty");
        assertThat(seen).extracting(DeadLetter::payload).containsOnlyNulls();
        assertThat(seen)
                .filteredOn(dead -> dead.id().equals("undecodable"))
                .singleElement()
                .satisfies(dead -> assertThat(dead.headers()).containsEntry("tenant", "t"));
        assertThat(seen)
                .filteredOn(dead -> dead.id().equals("empty"))
                .extracting(DeadLetter::lastError)
                .containsExactly("BODY_MISSING");
    }

    @Test
    void announcesMessagesThatLoseTheirLeases() {
        queue.send("a", Duration.ZERO);
        queue.time.advance(SECOND);
        var claimed = queue.memory.claim(SHARD, new Claim("gone", 1, 1, 1, SECOND, List.of()));
        assertThat(claimed.deliveries()).hasSize(1);
        queue.start(listener().maxLeaseExpirations(1), message -> {});
        listen();
        queue.time.advance(MINUTE);

        assertThat(seen).singleElement().satisfies(dead -> {
            assertThat(dead.lastError()).isEqualTo("LEASE_LOST");
            assertThat(dead.leaseExpirations()).isEqualTo(1);
            assertThat(dead.payload()).isEqualTo("payload of a");
        });
    }

    /** During a rolling deploy: this node would announce it without payload and headers. */
    @Test
    void leavesADeadLetterThatALaterVersionHasSentToTheNodesOfThatVersion() {
        byte[] frame = new Envelope(7, Map.of("tenant", "t"), null, Bytes.of("new".getBytes(UTF_8)))
                .encode()
                .array();
        frame[Long.BYTES] = 2;
        queue.memory.send(SHARD, List.of(new NewMessage("new", DueTime.after(Duration.ZERO), Bytes.of(frame))));
        queue.time.advance(SECOND);
        queue.memory.claim(SHARD, new Claim("gone", 1, 1, 1, SECOND, List.of()));
        queue.start(listener().maxLeaseExpirations(1), message -> {});
        listen();
        queue.time.advance(MINUTE);

        assertThat(queue.find("new").state()).isEqualTo(State.DEAD);
        assertThat(seen).isEmpty();
        assertThat(queue.memory.stats(NOTICES).counters().sent()).isZero();
        assertThatThrownBy(() -> queue.engine
                        .admin()
                        .replace(
                                TOPIC,
                                new DeadLetterRef("new", queue.find("new").at()),
                                null,
                                Map.of(),
                                Bytes.NONE))
                .isInstanceOf(NewerFrameException.class);
    }

    @Test
    void announcesALaterDeathAgainAndNoneThatWasRedrivenBefore() {
        die(queue, "a", "b");
        queue.engine.admin().redrive(TOPIC, "b", queue.find("b").at());
        listen();
        queue.time.advance(MINUTE);
        assertThat(seenIds()).containsExactly("a");

        queue.engine.admin().redrive(TOPIC, "a", queue.find("a").at());
        die(queue);
        queue.time.advance(MINUTE);
        assertThat(seenIds()).containsExactlyInAnyOrder("a", "a", "b");
    }

    /** Faults at each call of the relay, before and after it was carried out. */
    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"LOST_REQUEST", "LOST_REPLY"})
    void announcesAtLeastOnceWhateverCallIsLost(Fault fault) {
        for (String method : List.of("errors", "find", "send", "announced")) {
            TestQueue faulty = new TestQueue();
            seen.clear();
            die(faulty, "a");
            listen(faulty);
            faulty.line.once(method, fault);
            faulty.time.advance(Duration.ofMinutes(2));

            assertThat(seenIds()).as(method).isNotEmpty().containsOnly("a");
        }
    }

    @Test
    void isADuplicateIfTheMarkWasLostAndTheNoticeIsStillLive() {
        die(queue, "a");
        queue.memory.pause(NOTICES, "ops");
        queue.line.once("announced", Fault.LOST_REQUEST);
        listen();
        queue.time.advance(MINUTE);
        queue.memory.resume(NOTICES);
        queue.time.advance(MINUTE);

        assertThat(seenIds()).containsExactly("a");
    }

    @Test
    void announcesAfterACrashOfTheNodeThatRead() {
        die(queue, "a");
        queue.line.plan(method -> method.equals("announced") ? Fault.LOST_REQUEST : Fault.NONE);
        ListenerContainer first = listen();
        queue.time.advance(SECOND);
        queue.stop(first);
        queue.line.plan(method -> Fault.NONE);
        assertThat(seenIds()).containsOnly("a");

        listen();
        queue.time.advance(MINUTE);
        assertThat(seenIds()).containsExactly("a", "a");
    }

    @Test
    void repeatsANoticeUnderTheSameUniqueId() {
        List<String> uniqueIds = new ArrayList<>();
        die(queue, "a");
        queue.line.plan(method -> method.equals("announced") ? Fault.LOST_REQUEST : Fault.NONE);
        ListenerContainer container = queue.engine.container(
                ListenerEndpoint.deadLetters("dead", TOPIC, String.class).build(),
                (DelayMessage<DeadLetter<String>> message) -> uniqueIds.add(message.uniqueId()));
        container.start();
        queue.time.advance(MINUTE);
        queue.line.heal();
        queue.time.advance(MINUTE);
        assertThat(uniqueIds).hasSizeGreaterThan(1).containsOnly(uniqueIds.get(0));

        die(queue, "b");
        queue.time.advance(MINUTE);
        assertThat(Set.copyOf(uniqueIds)).hasSize(2);
    }

    @Test
    void announcesManyAndLaterOnesBehindThem() {
        die(queue, IntStream.range(0, 234).mapToObj(i -> "m" + i).toArray(String[]::new));
        listen();
        queue.time.advance(Duration.ofMinutes(2));
        assertThat(seen).hasSize(234);

        die(queue, "late");
        queue.time.advance(MINUTE);
        assertThat(seenIds()).hasSize(235).doesNotHaveDuplicates().contains("late");
    }

    /** As at a fail-over to a server whose clock is slow. */
    @Test
    void announcesDeathsBehindAClockThatWentBack() {
        die(queue, IntStream.range(0, 300).mapToObj(i -> "m" + i).toArray(String[]::new));
        listen();
        queue.time.advance(Duration.ofMinutes(2));
        assertThat(seen).hasSize(300);

        queue.storeClockOffset.set(-TimeUnit.MINUTES.toMicros(5));
        die(queue, "five minutes");
        queue.time.advance(Duration.ofMinutes(8));
        assertThat(seenIds()).hasSize(301).contains("five minutes");

        queue.storeClockOffset.set(-TimeUnit.HOURS.toMicros(5));
        die(queue, "five hours");
        queue.time.pass(Duration.ofMinutes(65));
        queue.time.advance(MINUTE);
        assertThat(seenIds()).hasSize(302).contains("five hours");
    }

    @Test
    void announcesAtMostAThousandInTenSeconds() {
        die(queue, IntStream.range(0, 1_100).mapToObj(i -> "m" + i).toArray(String[]::new));
        listen();
        for (int second = 0; second < 20 && seen.isEmpty(); second++) {
            queue.time.advance(SECOND);
        }

        queue.time.advance(Duration.ofSeconds(5));
        assertThat(seen).hasSize(1_000);
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(seen).hasSize(1_100);
    }

    @Test
    void readsOnlyTheLatestPagesOnceAllAreAnnounced() {
        die(queue, IntStream.range(0, 400).mapToObj(i -> "m" + i).toArray(String[]::new));
        queue.time.advance(Duration.ofMinutes(20));
        die(queue, IntStream.range(0, 150).mapToObj(i -> "n" + i).toArray(String[]::new));
        listen();
        queue.time.advance(Duration.ofMinutes(2));
        assertThat(seen).hasSize(550);

        List<String> calls = new ArrayList<>();
        queue.line.plan(method -> {
            calls.add(method);
            return Fault.NONE;
        });
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(calls).filteredOn("errors"::equals).hasSizeBetween(1, 3);
    }

    /** A burst is read again while the clock of the store may go back behind it, and no longer. */
    @Test
    void readsTheLastPageOnlyAfterTenMinutesWithoutDeaths() {
        die(queue, IntStream.range(0, 600).mapToObj(i -> "m" + i).toArray(String[]::new));
        listen();
        queue.time.advance(Duration.ofMinutes(2));
        assertThat(seen).hasSize(600);
        assertThat(pagesOfARound()).isEqualTo(7);

        queue.time.advance(Duration.ofMinutes(9));
        assertThat(pagesOfARound()).as("the last 100, and an empty page").isEqualTo(2);

        queue.time.pass(Duration.ofMinutes(65)); // with the round that reads all
        queue.time.advance(MINUTE);
        assertThat(pagesOfARound()).isEqualTo(2);

        die(queue, "late");
        queue.time.advance(Duration.ofSeconds(20));
        assertThat(seenIds()).hasSize(601).contains("late");
    }

    private int pagesOfARound() {
        queue.line.takeCalls();
        queue.time.advance(Duration.ofSeconds(10));
        return Collections.frequency(queue.line.takeCalls(), "errors");
    }

    @Test
    void announcesFromAndToTopicsOfSeveralShards() {
        shards.put(TOPIC, 3);
        shards.put(TOPIC + ".dead-letters", 2);
        listen();
        die(queue, IntStream.range(0, 20).mapToObj(i -> "m" + i).toArray(String[]::new));
        queue.time.advance(MINUTE);

        assertThat(seen).hasSize(20);
        assertThat(queue.memory.stats(new ShardKey(TOPIC, 2)).dead()).isPositive();
        assertThat(queue.memory
                        .stats(new ShardKey(TOPIC + ".dead-letters", 1))
                        .counters()
                        .acknowledged())
                .isPositive();
    }

    @Test
    void repeatsANoticeThatTooFewReplicasHave() {
        TestQueue replicated = new TestQueue(builder -> builder.replicaWaits(topic -> replicas));
        die(replicated, "a");
        replicated.memory.pause(NOTICES, "ops");
        listen(replicated);
        replicated.time.advance(MINUTE);
        assertThat(replicated.memory.errors(SHARD, null, 1).entries().get(0).isUnannounced())
                .isTrue();

        replicated.memory.replicas(1);
        replicated.time.advance(MINUTE);
        assertThat(replicated.memory.errors(SHARD, null, 1).entries().get(0).isUnannounced())
                .isFalse();
    }

    @Test
    void failsAMessageThatIsNoNotice() {
        listen();
        queue.engine
                .template()
                .send(OutgoingMessage.of(NOTICES.topic(), "by hand").id("x"));
        queue.time.advance(Duration.ofMinutes(5));

        assertThat(seen).isEmpty();
        assertThat(queue.memory.find(NOTICES, "x").orElseThrow().state()).isEqualTo(State.DEAD);
    }

    @Test
    void costsATopicWithoutSuchAListenerNoCall() {
        List<String> calls = new ArrayList<>();
        queue.line.plan(method -> {
            calls.add(method);
            return Fault.NONE;
        });
        die(queue, "a");
        queue.time.advance(MINUTE);

        assertThat(calls).doesNotContain("errors", "announced", "find");
    }

    @Test
    void refusesDeadLettersOfAnnouncements() {
        assertThatThrownBy(() -> ListenerEndpoint.deadLetters("dead", TOPIC + ".dead-letters", String.class)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("dead letters of it are not announced");
    }
}
