package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Envelope.Kind;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ValueEnvelopesTests {

    private static final Envelope VALUE = Envelope.of(Kind.VALUE, new byte[] {1});

    @Test
    void shortensALifeByItsJitterAndThatOfNothingToItsOwn() {
        CacheOptions options = CacheOptions.builder()
                .ttl(Duration.ofSeconds(100))
                .nullTtl(Duration.ofSeconds(10))
                .ttlJitter(0.5)
                .build();
        for (int i = 0; i < 1000; i++) {
            assertThat(ValueTtls.ttl(VALUE, options)).isBetween(Duration.ofSeconds(50), Duration.ofSeconds(100));
            for (Kind nothing : List.of(Kind.NULL, Kind.EMPTY_OPTIONAL)) {
                assertThat(ValueTtls.ttl(Envelope.of(nothing, new byte[0]), options))
                        .isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
            }
        }
        assertThat(Stream.generate(() -> ValueTtls.ttl(VALUE, options))
                        .limit(100)
                        .distinct())
                .hasSizeGreaterThan(10);
        assertThat(ValueTtls.ttl(VALUE, options.toBuilder().ttlJitter(0).build()))
                .isEqualTo(Duration.ofSeconds(100));
    }

    @Test
    void carriesATtlBesideTheValueUpToTheLongestOne() {
        Duration longest = Duration.ofDays(3650).plusMillis(7);

        Envelope own = VALUE.withTtl(longest);

        assertThat(VALUE.ttl()).isNull();
        assertThat(own.ttl()).isEqualTo(longest);
        assertThat(own.kind()).isEqualTo(Kind.VALUE);
        assertThat(own.payload()).containsExactly(1);
        byte[] stored = new byte[own.toBytes().length + 3];
        System.arraycopy(own.toBytes(), 0, stored, 3, own.toBytes().length);
        assertThat(Envelope.wrap(stored, 3).ttl()).isEqualTo(longest);
        assertThat(Envelope.wrap(stored, 3).payload()).containsExactly(1);
    }

    @Test
    void cannotReadAValueWhoseTtlIsCutOff() {
        Envelope cut = Envelope.wrap(new byte[] {Envelope.VERSION_WITH_TTL, 0, 0, 0, 0, 0, 1}, 0);

        assertThat(cut.kind()).isNull();
        assertThat(cut.ttl()).isNull();
    }
}
