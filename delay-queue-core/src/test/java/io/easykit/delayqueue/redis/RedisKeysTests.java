package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.store.ShardKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisKeysTests {

    private static final ShardKey SHARD = new ShardKey("com.shop/orders", 3);

    @ParameterizedTest
    @ValueSource(strings = {"dq:", "shop:dq:", "shop", "a", "eu-west_1/shop.v2:"})
    void startsEveryKeyAndChannelWithThePrefix(String prefix) {
        RedisKeys keys = new RedisKeys(prefix);

        assertThat(keys.prefix(SHARD)).isEqualTo(prefix + "{com.shop/orders:3}:");
        assertThat(keys.settings(SHARD)).isEqualTo(prefix + "{com.shop/orders:3}:settings");
        assertThat(keys.wakeup(SHARD)).isEqualTo(prefix + "{com.shop/orders:3}:wakeup");
        assertThat(keys.allWakeups()).isEqualTo(prefix + "*");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "{shop}:", "shop}", "shop{", "shop *", "shop?", "[a-z]:", "a\\b", "a b", "a\n", "größe:"})
    void refusesAPrefixThatWouldChangeHashTagsOrAclRules(String prefix) {
        assertThatThrownBy(() -> new RedisKeys(prefix))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("key prefix '" + prefix + "'")
                .hasMessageContaining("for example 'shop:dq:'");
    }

    @Test
    void refusesALongPrefix() {
        assertThatThrownBy(() -> new RedisKeys("a".repeat(65))).hasMessageContaining("1 to 64");
    }
}
