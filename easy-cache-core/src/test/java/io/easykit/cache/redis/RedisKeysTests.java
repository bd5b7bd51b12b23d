package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisKeysTests {

    private final CacheKey<String> key = CacheSpec.of("user:v2", String.class).key(42, "größe");

    @ParameterizedTest
    @ValueSource(strings = {"ec:", "shop:ec:", "shop", "a", "eu-west_1/shop.v2:"})
    void startsEveryKeyWithThePrefix(String prefix) {
        RedisKeys keys = new RedisKeys(prefix);

        assertThat(keys.entry(key)).isEqualTo((prefix + "user:v2::42:größe").getBytes(UTF_8));
        assertThat(keys.epochs()).isEqualTo((prefix + "epochs").getBytes(UTF_8));
        assertThat(keys.probe()).isEqualTo((prefix + "probe").getBytes(UTF_8));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "{shop}:", "shop}", "shop{", "shop *", "shop?", "[a-z]:", "a\\b", "a b", "a\n", "größe:"})
    void refusesAPrefixThatWouldChangeSlotsOrAclRules(String prefix) {
        assertThatThrownBy(() -> new RedisKeys(prefix))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("key prefix '" + prefix + "'")
                .hasMessageContaining("for example 'shop:ec:'");
    }

    @Test
    void refusesALongPrefix() {
        assertThatThrownBy(() -> new RedisKeys("a".repeat(65))).hasMessageContaining("1 to 64");
    }
}
