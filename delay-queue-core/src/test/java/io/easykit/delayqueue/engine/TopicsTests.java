package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.memory.StoreState;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TopicsTests {

    private final InMemoryQueueStore store = new InMemoryQueueStore(() -> 0);
    private final AtomicLong now = new AtomicLong();

    @Test
    void followsTheStoreWhereTheSettingsSayNothing() {
        store.declare("orders", 4);
        Topics topics = new Topics(store, topic -> Topics.UNSET, now::get);

        assertThat(topics.shardsToLookAt("orders")).isEqualTo(4);
        assertThat(topics.shards("orders")).isEqualTo(4);
    }

    @Test
    void givesANewTopicOneShardWhereTheSettingsSayNothing() {
        Topics topics = new Topics(store, topic -> Topics.UNSET, now::get);

        assertThat(topics.shardsToLookAt("orders")).isEqualTo(1);
        assertThat(store.declared("orders")).isZero();
        assertThat(topics.shards("orders")).isEqualTo(1);
        assertThat(store.declared("orders")).isEqualTo(1);
    }

    @Test
    void refusesAnotherCountThanTheStoreHasKept() {
        store.declare("orders", 4);
        Topics topics = new Topics(store, topic -> 1, now::get);

        assertThatThrownBy(() -> topics.shards("orders"))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has 4 shards in the store, and the settings say 1")
                .hasMessageContaining("Set 4, or nothing");
        assertThatThrownBy(() -> topics.shardsToLookAt("orders")).isInstanceOf(TopicConflictException.class);
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

        assertThat(topics.shards("orders")).isEqualTo(3);
        assertThat(store.declared("orders")).isEqualTo(3);
    }

    @Test
    void sendsNoLongerToShardsThatTheListenersOfANewerCountDoNotKnow() {
        Topics following = new Topics(store, topic -> Topics.UNSET, now::get);
        Topics insisting = new Topics(store, topic -> 3, now::get);
        store.declare("orders", 3);
        following.shards("orders");
        insisting.shards("orders");
        StoreState.redeclare(store, "orders", 1);
        assertThat(following.shards("orders")).isEqualTo(3);
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));

        assertThat(following.shards("orders")).isEqualTo(1);
        assertThatThrownBy(() -> insisting.shards("orders")).isInstanceOf(TopicConflictException.class);
        assertThatThrownBy(() -> insisting.shards("orders")).isInstanceOf(TopicConflictException.class);
    }

    @Test
    void goesOnWithTheCountThatItKnowsWhileTheStoreIsAway() {
        FaultyStore line = new FaultyStore(store);
        Topics topics = new Topics(line.asStore(), topic -> 3, now::get);
        topics.shards("orders");
        line.away();
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));

        assertThat(topics.shards("orders")).isEqualTo(3);
    }
}
