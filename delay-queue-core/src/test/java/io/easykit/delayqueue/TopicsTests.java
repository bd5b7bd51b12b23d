package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TopicsTests {

    private final InMemoryQueueStore store = new InMemoryQueueStore(() -> 0);

    @Test
    void followsTheStoreWhereTheSettingsSayNothing() {
        store.declare("orders", 4);
        Topics topics = new Topics(store, topic -> Topics.UNSET);

        assertThat(topics.shardsToLookAt("orders")).isEqualTo(4);
        assertThat(topics.shards("orders")).isEqualTo(4);
    }

    @Test
    void givesANewTopicOneShardWhereTheSettingsSayNothing() {
        Topics topics = new Topics(store, topic -> Topics.UNSET);

        assertThat(topics.shardsToLookAt("orders")).isEqualTo(1);
        assertThat(store.declared("orders")).isZero();
        assertThat(topics.shards("orders")).isEqualTo(1);
        assertThat(store.declared("orders")).isEqualTo(1);
    }

    @Test
    void refusesAnotherCountThanTheStoreHasKept() {
        store.declare("orders", 4);
        Topics topics = new Topics(store, topic -> 1);

        assertThatThrownBy(() -> topics.shards("orders"))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has 4 shards in the store, and the settings say 1")
                .hasMessageContaining("Set 4, or nothing");
        assertThatThrownBy(() -> topics.shardsToLookAt("orders")).isInstanceOf(TopicConflictException.class);
    }

    @Test
    void refusesImpossibleCounts() {
        assertThatThrownBy(() -> new Topics(store, topic -> -1).shards("orders"))
                .hasMessageContaining("1 to 1024");
        assertThatThrownBy(() -> new Topics(store, topic -> 1025).shards("orders"))
                .hasMessageContaining("1 to 1024");
    }
}
