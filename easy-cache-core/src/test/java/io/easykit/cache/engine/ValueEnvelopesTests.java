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
        for (double random : new double[] {0, 0.5, 0.999}) {
            long cut = (long) (100_000 * 0.5 * random);
            assertThat(ValueTtls.ttl(VALUE, options, random)).isEqualTo(Duration.ofMillis(100_000 - cut));
            for (Kind nothing : List.of(Kind.NULL, Kind.EMPTY_OPTIONAL)) {
                assertThat(ValueTtls.ttl(Envelope.of(nothing, new byte[0]), options, random))
                        .isEqualTo(Duration.ofMillis(10_000 - cut / 10));
            }
        }
        assertThat(ValueTtls.ttl(VALUE, options.toBuilder().ttlJitter(0).build(), 0.9))
                .isEqualTo(Duration.ofSeconds(100));
    }

    @Test
    void spreadsLivesByChance() {
        assertThat(Stream.generate(Ticker.SYSTEM::random).limit(100).distinct()).hasSizeGreaterThan(10);
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
