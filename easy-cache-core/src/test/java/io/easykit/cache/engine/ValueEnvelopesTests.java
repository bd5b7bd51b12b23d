package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheOptions;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ValueEnvelopesTests {

    @Test
    void shortensALifeByItsJitterAndThatOfNothingToItsOwn() {
        CacheOptions options = CacheOptions.builder()
                .ttl(Duration.ofSeconds(100))
                .nullTtl(Duration.ofSeconds(10))
                .ttlJitter(0.5)
                .build();
        for (int i = 0; i < 1000; i++) {
            assertThat(ValueEnvelopes.ttl("value", options)).isBetween(Duration.ofSeconds(50), Duration.ofSeconds(100));
            assertThat(ValueEnvelopes.ttl(null, options)).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
            assertThat(ValueEnvelopes.ttl(java.util.Optional.empty(), options))
                    .isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
        }
        assertThat(Stream.generate(() -> ValueEnvelopes.ttl("value", options))
                        .limit(100)
                        .distinct())
                .hasSizeGreaterThan(10);
        assertThat(ValueEnvelopes.ttl("value", options.toBuilder().ttlJitter(0).build()))
                .isEqualTo(Duration.ofSeconds(100));
    }
}
