package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheOptions;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ValuesTests {

    @Test
    void shortensALifeByItsJitterAndThatOfNothingToItsOwn() {
        CacheOptions options = CacheOptions.defaults()
                .withTtl(Duration.ofSeconds(100))
                .withNullTtl(Duration.ofSeconds(10))
                .withTtlJitter(0.5);
        for (int i = 0; i < 1000; i++) {
            assertThat(Values.life("value", options)).isBetween(Duration.ofSeconds(50), Duration.ofSeconds(100));
            assertThat(Values.life(null, options)).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
            assertThat(Values.life(java.util.Optional.empty(), options))
                    .isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
        }
        assertThat(Stream.generate(() -> Values.life("value", options))
                        .limit(100)
                        .distinct())
                .hasSizeGreaterThan(10);
        assertThat(Values.life("value", options.withTtlJitter(0))).isEqualTo(Duration.ofSeconds(100));
    }
}
