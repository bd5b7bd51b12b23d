package io.easykit.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class CacheOptionsTests {

    private static final CacheOptions DEFAULTS = CacheOptions.defaults();

    static Stream<Arguments> durations() {
        return Stream.of(
                duration("ttl", CacheOptions.Builder::ttl),
                duration("null-ttl", CacheOptions.Builder::nullTtl),
                duration("stale-window", CacheOptions.Builder::staleWindow),
                duration("refresh-ahead", CacheOptions.Builder::refreshAhead),
                duration("near-ttl", CacheOptions.Builder::nearTtl),
                duration("load-lease", CacheOptions.Builder::loadLease),
                duration("load-wait-timeout", CacheOptions.Builder::loadWaitTimeout),
                duration("update-lease", CacheOptions.Builder::updateLease));
    }

    private static Arguments duration(
            String name, BiFunction<CacheOptions.Builder, Duration, CacheOptions.Builder> set) {
        return Arguments.of(name, set);
    }

    @ParameterizedTest
    @MethodSource("durations")
    void refusesNegativeAndEndlessDurations(
            String name, BiFunction<CacheOptions.Builder, Duration, CacheOptions.Builder> set) {
        assertThatThrownBy(() -> set.apply(CacheOptions.builder(), Duration.ofMillis(-1500))
                        .build())
                .isInstanceOf(InvalidCacheOptionsException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("is -1500ms")
                .hasMessageContaining("Choose ");
        assertThatThrownBy(() -> set.apply(CacheOptions.builder(), ChronoUnit.FOREVER.getDuration())
                        .build())
                .isInstanceOf(InvalidCacheOptionsException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("ten years");
    }

    @Test
    void refusesALifeThatIsOverAtOnce() {
        assertThatThrownBy(() -> DEFAULTS.toBuilder().ttl(Duration.ofMillis(9)).build())
                .hasMessageContaining("ttl")
                .hasMessageContaining("is 9ms")
                .hasMessageContaining("Choose 10ms or more");
    }

    @Test
    void refusesAJitterThatIsNoPart() {
        for (double odd : new double[] {-0.1, 0.51, Double.NaN}) {
            assertThatThrownBy(() -> DEFAULTS.toBuilder().ttlJitter(odd).build())
                    .isInstanceOf(InvalidCacheOptionsException.class)
                    .hasMessageContaining("ttl-jitter")
                    .hasMessageContaining("is " + odd)
                    .hasMessageContaining("between 0 and 0.5");
        }
    }

    @Test
    void refusesAWindowThatOutlivesTheValueUnlessNobodyUsesIt() {
        assertThatThrownBy(() -> DEFAULTS.toBuilder().ttl(Duration.ofSeconds(1)).build())
                .hasMessageContaining("stale-window")
                .hasMessageContaining("of 1500ms is not shorter than the ttl of 1s")
                .hasMessageContaining("Lengthen the ttl or shorten the stale window");
        assertThatNoException().isThrownBy(() -> DEFAULTS.toBuilder()
                .consistency(Consistency.CP)
                .ttl(Duration.ofSeconds(1))
                .build());
    }

    @Test
    void givesAStrongCacheNoWindow() {
        CacheOptions strong = DEFAULTS.toBuilder().consistency(Consistency.CP).build();
        assertThat(strong.effectiveStaleWindow()).isZero();
        assertThat(strong.allowsStale()).isFalse();
        assertThat(DEFAULTS.effectiveStaleWindow()).isEqualTo(DEFAULTS.staleWindow());
        assertThat(DEFAULTS.allowsStale()).isTrue();
        assertThat(DEFAULTS.toBuilder().staleWindow(Duration.ZERO).build().allowsStale())
                .isFalse();
    }

    @Test
    void refusesANearLevelForAStrongCache() {
        assertThatThrownBy(() -> CacheOptions.builder()
                        .consistency(Consistency.CP)
                        .nearTtl(Duration.ofSeconds(1))
                        .build())
                .isInstanceOf(InvalidCacheOptionsException.class)
                .hasMessageContaining("near-ttl")
                .hasMessageContaining("of 1s cannot be used with consistency CP")
                .hasMessageContaining("Set it to 0s for this cache, or choose consistency AP");
    }

    @Test
    void isAsStaleAsTheLongerOneOfWindowAndNearTtl() {
        assertThat(DEFAULTS.worstStaleness()).isEqualTo(DEFAULTS.staleWindow());
        assertThat(DEFAULTS.toBuilder().nearTtl(Duration.ofSeconds(1)).build().worstStaleness())
                .isEqualTo(DEFAULTS.staleWindow());
        assertThat(DEFAULTS.toBuilder().nearTtl(Duration.ofSeconds(2)).build().worstStaleness())
                .isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void refreshesInTheLastTenthOfALifeAtTheMost() {
        assertThat(DEFAULTS.effectiveRefreshAhead()).isEqualTo(Duration.ofSeconds(2));
        CacheOptions shorter = DEFAULTS.toBuilder()
                .ttl(Duration.ofSeconds(5))
                .nullTtl(Duration.ofSeconds(2))
                .build();
        assertThat(shorter.effectiveRefreshAhead()).isEqualTo(Duration.ofMillis(450));
        assertThat(shorter.effectiveNullRefreshAhead()).isEqualTo(Duration.ofMillis(180));
        assertThat(shorter.toBuilder().ttlJitter(0).build().effectiveRefreshAhead())
                .isEqualTo(Duration.ofMillis(500));
    }
}
