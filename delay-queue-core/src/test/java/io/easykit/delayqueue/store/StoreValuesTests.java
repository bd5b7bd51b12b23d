package io.easykit.delayqueue.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoreValuesTests {

    @Test
    void refusesTopicsThatWouldBreakTheKeys() {
        for (String topic : new String[] {"", "a{b", "a}b", "a b", "x".repeat(129)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new ShardKey(topic, 0))
                    .withMessageContaining("letters, digits");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ShardKey("t", ShardKey.MAX_SHARDS))
                .withMessageContaining("0 to 1023");
        assertThat(new ShardKey("order-close:v2", 3)).hasToString("order-close:v2:3");
    }

    /** The store could not note them. */
    @Test
    void deathsAtTimesThatNoClockHasAreNotAnnounced() {
        assertThat(deadAt((1L << 50) - 1).isUnannounced()).isTrue();
        assertThat(deadAt(1L << 50).isUnannounced()).isFalse();
    }

    private static DeadLetterErrors.Entry deadAt(long millis) {
        return new DeadLetterErrors.Entry(new Position(Long.toString(millis), "a"), Instant.ofEpochMilli(millis), null);
    }

    @Test
    void refusesClaimsThatAStoreCouldNotKeep() {
        assertThatIllegalArgumentException().isThrownBy(() -> claim("o:1", 1, 1, Duration.ofSeconds(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> claim("o", 0, 1, Duration.ofSeconds(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> claim("o", 1, 0, Duration.ofSeconds(1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> claim("o", 1, QueueStore.MAX_BATCH + 1, Duration.ofSeconds(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> claim("o", 1, 1, Duration.ZERO));
    }

    private static Claim claim(String owner, long request, int count, Duration lease) {
        return new Claim(owner, request, count, count, lease, List.of());
    }
}
