package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.cluster.RedisClusterClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClusterClientTests {

    private final RedisClusterClient lettuces = RedisClusterClient.create("redis://localhost:1");

    @AfterEach
    void close() {
        lettuces.shutdown();
    }

    @Test
    void replacesTheClientOfLettuce() {
        assertThat(ClusterClient.like(lettuces, ClusterClient.ADDRESSES)).isInstanceOf(ClusterClient.class);
    }

    /** Another version of Lettuce may keep its addresses elsewhere. Connections must be possible nevertheless. */
    @Test
    void keepsTheClientOfLettuceIfItsAddressesCannotBeRead() {
        assertThat(ClusterClient.like(lettuces, "addresses")).isSameAs(lettuces);
        assertThat(ClusterClient.like(lettuces, "partitions")).isSameAs(lettuces);
    }
}
