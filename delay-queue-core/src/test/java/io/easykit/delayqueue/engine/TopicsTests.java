package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.memory.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicsTests {

    private final InMemoryQueueStore store = new InMemoryQueueStore(() -> 0);
    private final AtomicLong now = new AtomicLong();

    @Test
    void followsTheStoreWhereTheSettingsSayNothing() {
        store.declare("orders", 4);
        Topics topics = new Topics(store, topic -> Topics.UNSET, now::get);

        assertThat(topics.shardsToLookAt("orders").all()).isEqualTo(4);
        assertThat(topics.shards("orders").all()).isEqualTo(4);
    }

    @Test
    void givesANewTopicOneShardWhereTheSettingsSayNothing() {
        Topics topics = new Topics(store, topic -> Topics.UNSET, now::get);

        assertThat(topics.shardsToLookAt("orders").all()).isEqualTo(1);
        assertThat(store.declared("orders").all()).isZero();
        assertThat(topics.shards("orders").all()).isEqualTo(1);
        assertThat(store.declared("orders").all()).isEqualTo(1);
    }

    @Test
    void refusesAnotherCountThanTheStoreHasKept() {
        store.declare("orders", 4);
        Topics topics = new Topics(store, topic -> 1, now::get);

        assertThatThrownBy(() -> topics.shards("orders"))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has 4 shards in the store, and the settings say 1")
                .hasMessageContaining("Set 4 or more, or nothing");
        assertThat(topics.shardsToLookAt("orders").all())
                .as("for administration, which sends nothing")
                .isEqualTo(4);
        assertThatThrownBy(() -> topics.shards("orders")).isInstanceOf(TopicConflictException.class);
    }

    @Test
    void refusesImpossibleCounts() {
        assertThatThrownBy(() -> new Topics(store, topic -> -1, now::get).shards("orders"))
                .hasMessageContaining("1 to 1024");
        assertThatThrownBy(() -> new Topics(store, topic -> 1025, now::get).shards("orders"))
                .hasMessageContaining("1 to 1024");
    }

    @Test
    void declaresAgainWhatTheStoreHasLost() {
        Topics topics = new Topics(store, topic -> Topics.UNSET, now::get);
        store.declare("orders", 3);
        topics.shards("orders");
        StoreState.redeclare(store, "orders", 0);
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));

        assertThat(topics.shards("orders").all()).isEqualTo(3);
        assertThat(store.declared("orders").all()).isEqualTo(3);
    }

    @Test
    void sendsNoLongerToShardsThatTheListenersOfANewerCountDoNotKnow() {
        Topics following = new Topics(store, topic -> Topics.UNSET, now::get);
        Topics insisting = new Topics(store, topic -> 3, now::get);
        store.declare("orders", 3);
        following.shards("orders");
        insisting.shards("orders");
        StoreState.redeclare(store, "orders", 1);
        assertThat(following.shards("orders").all()).isEqualTo(3);
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));

        assertThat(following.shards("orders").all()).isEqualTo(1);
        assertThatThrownBy(() -> insisting.shards("orders")).isInstanceOf(TopicConflictException.class);
        assertThat(insisting.keysToLookAt("orders")).hasSize(1);
        assertThat(insisting.keysToLookAt("orders")).hasSize(1);
        assertThatThrownBy(() -> insisting.shards("orders")).isInstanceOf(TopicConflictException.class);
    }

    @Test
    void goesOnWithTheCountThatItKnowsWhileTheStoreIsAway() {
        FaultyStore line = new FaultyStore(store);
        Topics topics = new Topics(line.asStore(), topic -> 3, now::get);
        topics.shards("orders");
        line.away();
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));

        assertThat(topics.shards("orders").all()).isEqualTo(3);
    }

    @Test
    void aGreaterCountInTheSettingsAddsShards() {
        store.declare("orders", 2);
        Topics before = new Topics(store, topic -> 2, now::get);
        before.shards("orders");
        Topics after = new Topics(store, topic -> 5, now::get);

        assertThat(after.shards("orders")).isEqualTo(new TopicShards("orders", 2, 2, 5));
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));
        assertThat(before.shards("orders")).isEqualTo(new TopicShards("orders", 2, 2, 5));
        assertThat(new Topics(store, topic -> 3, now::get).shards("orders").all())
                .isEqualTo(5);
        assertThatThrownBy(() -> new Topics(store, topic -> 1, now::get).shards("orders"))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has 5 shards in the store, and the settings say 1");
    }

    @Test
    void sendsToNewShardsOnlyWhenTheListenersMustKnowThem() {
        store.declare("orders", 2);
        Topics topics = new Topics(store, topic -> Topics.UNSET, now::get);
        topics.shards("orders");
        topics.grow("orders", 5);

        now.addAndGet(KnownCount.OPENING.toNanos() - 1);
        assertThat(topics.shards("orders").open()).isEqualTo(2);
        now.addAndGet(1);
        assertThat(topics.shards("orders")).isEqualTo(new TopicShards("orders", 2, 5, 5));

        topics.grow("orders", 7);
        assertThat(topics.shards("orders").open())
                .as("those of the first growth stay open")
                .isEqualTo(5);
    }

    @Test
    void aNodeThatStartsLongAfterAGrowthSendsToAllShards() {
        AtomicLong micros = new AtomicLong();
        InMemoryQueueStore later = new InMemoryQueueStore(micros::get);
        later.declare("orders", 2);
        later.grow("orders", 5);
        micros.set(TimeUnit.SECONDS.toMicros(90));
        Topics topics = new Topics(later, topic -> Topics.UNSET, now::get);
        assertThat(topics.shards("orders").open()).isEqualTo(2);
        now.addAndGet(TimeUnit.SECONDS.toNanos(30));
        assertThat(topics.shards("orders").open()).isEqualTo(5);

        micros.set(TimeUnit.MINUTES.toMicros(2));
        assertThat(new Topics(later, topic -> Topics.UNSET, now::get)
                        .shards("orders")
                        .open())
                .isEqualTo(5);
    }

    @Test
    void addsAgainTheShardsThatTheStoreHasLost() {
        Topics topics = grownAndLost();

        assertThat(topics.shards("orders").all()).isEqualTo(5);
        assertThat(store.declared("orders").all()).isEqualTo(5);
    }

    /** It only reads, so it does not restore the growth, and the next declaration does. */
    @Test
    void administrationDoesNotForgetAGrowthThatTheStoreHasLost() {
        Topics topics = grownAndLost();

        assertThat(topics.shardsToLookAt("orders").all()).isEqualTo(5);
        assertThat(topics.presentKeys("orders")).hasSize(5);
        assertThat(topics.shardsToLookAt("orders", List.of(MessageIds.generate(6)))
                        .all())
                .isEqualTo(5);
        assertThat(topics.shards("orders").all()).isEqualTo(5);
        assertThat(store.declared("orders").all()).isEqualTo(5);
    }

    @Test
    void aGrowthRestoresTheOneThatTheStoreHasLost() {
        Topics topics = grownAndLost();

        assertThatThrownBy(() -> topics.grow("orders", 3))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has 5 shards in the store");
        assertThat(store.declared("orders").all()).isEqualTo(5);

        StoreState.redeclare(store, "orders", 2);
        assertThat(topics.grow("orders", 6)).isEqualTo(5);
        assertThat(store.declared("orders").all()).isEqualTo(6);
    }

    private Topics grownAndLost() {
        store.declare("orders", 2);
        store.grow("orders", 5);
        Topics topics = new Topics(store, topic -> Topics.UNSET, now::get);
        topics.shards("orders");
        StoreState.redeclare(store, "orders", 2);
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));
        return topics;
    }

    @Test
    void addsShardsLaterIfTheStoreDoesNotAnswer() {
        store.declare("orders", 2);
        FaultyStore line = new FaultyStore(store);
        line.once("grow", FaultyStore.Fault.LOST_REQUEST);
        Topics topics = new Topics(line.asStore(), topic -> 5, now::get);

        assertThat(topics.shards("orders").all()).isEqualTo(2);
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));
        assertThat(topics.shards("orders").all()).isEqualTo(5);
    }

    @Test
    void readsTheCountAgainForAnUnknownShardAndForMadeUpIdsOnceASecond() {
        store.declare("orders", 2);
        FaultyStore line = new FaultyStore(store);
        Topics topics = new Topics(line.asStore(), topic -> Topics.UNSET, now::get);
        topics.shards("orders");
        store.grow("orders", 5);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        line.takeCalls();

        assertThat(topics.shardsToLookAt("orders", List.of("a", MessageIds.generate(4)))
                        .all())
                .isEqualTo(5);
        topics.shardsToLookAt("orders", List.of("~zz~"));
        topics.shardsToLookAt("orders", List.of("~zz~", "~rs~"));
        assertThat(line.takeCalls()).containsExactly("declared");
    }

    /** The reply to the first call was on its way when the topic grew. */
    @ParameterizedTest
    @MethodSource
    void eachOfTwoCallersAtTheSameTimeLearnsOfAnUnknownShard(Duration after, Function<Topics, TopicShards> reading) {
        store.declare("orders", 2);
        FaultyStore line = new FaultyStore(store);
        Topics topics = new Topics(line.asStore(), topic -> Topics.UNSET, now::get);
        topics.shards("orders");
        now.addAndGet(after.toNanos());
        List<TopicShards> second = new ArrayList<>();
        line.changeReplies(reply -> {
            line.changeReplies(UnaryOperator.identity());
            store.grow("orders", 5);
            second.add(CompletableFuture.supplyAsync(() -> toLookAt(topics))
                    .orTimeout(20, TimeUnit.SECONDS)
                    .join());
            return reply;
        });
        TopicShards first = reading.apply(topics);

        assertThat(second).singleElement().extracting(TopicShards::all).isEqualTo(5);
        assertThat(first.all()).isEqualTo(5);
        assertThat(topics.shards("orders").all()).isEqualTo(5);
    }

    private static TopicShards toLookAt(Topics topics) {
        return topics.shardsToLookAt("orders", List.of(MessageIds.generate(4)));
    }

    static Stream<Arguments> eachOfTwoCallersAtTheSameTimeLearnsOfAnUnknownShard() {
        Function<Topics, TopicShards> forAnId = TopicsTests::toLookAt;
        Function<Topics, TopicShards> toLook = topics -> topics.shardsToLookAt("orders");
        Function<Topics, TopicShards> toSend = topics -> topics.shards("orders");
        return Stream.of(
                Arguments.of(Duration.ofSeconds(1), forAnId),
                Arguments.of(Duration.ofMinutes(1), forAnId),
                Arguments.of(Duration.ofMinutes(1), toLook),
                Arguments.of(Duration.ofMinutes(1), toSend));
    }

    /** After a minute it is read for any id. */
    @ParameterizedTest
    @ValueSource(ints = {1, 60})
    void readsOnceASecondForMadeUpIdsWhileTheStoreIsAway(int seconds) {
        store.declare("orders", 2);
        FaultyStore line = new FaultyStore(store);
        Topics topics = new Topics(line.asStore(), topic -> Topics.UNSET, now::get);
        topics.shards("orders");
        now.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
        line.takeCalls();
        line.away();

        assertThat(toLookAt(topics).all()).isEqualTo(2);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1) - 1);
        toLookAt(topics);
        assertThat(line.takeCalls()).containsExactly("declared");
        now.addAndGet(1);
        toLookAt(topics);
        assertThat(line.takeCalls()).containsExactly("declared");
    }

    /** A second call would wait for a timeout too. */
    @Test
    void readsOnceForASendWhileTheStoreIsAway() {
        store.declare("orders", 2);
        FaultyStore line = new FaultyStore(store);
        Topics topics = new Topics(line.asStore(), topic -> Topics.UNSET, now::get);
        topics.shards("orders");
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));
        line.takeCalls();
        line.away();

        assertThat(topics.shardsToStore("orders", MessageIds.generate(4)).all()).isEqualTo(2);

        assertThat(line.takeCalls()).containsExactly("declare");
    }

    /** Of another node whose message is in the outbox. */
    @Test
    void doesNotStoreInShardsThatTheSettingsContradict() {
        store.declare("orders", 3);
        Topics topics = new Topics(store, topic -> 3, now::get);
        topics.shards("orders");
        StoreState.redeclare(store, "orders", 5);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));

        assertThatThrownBy(() -> topics.shardsToStore("orders", MessageIds.generate(4)))
                .isInstanceOf(TopicConflictException.class);
    }

    @Test
    void administrationLearnsOfNewShardsWithinAMinute() {
        store.declare("orders", 2);
        Topics topics = new Topics(store, topic -> Topics.UNSET, now::get);
        assertThat(topics.keysToLookAt("orders")).hasSize(2);
        store.grow("orders", 5);
        assertThat(topics.keysToLookAt("orders")).hasSize(2);
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));

        assertThat(topics.keysToLookAt("orders")).hasSize(5);
    }
}
