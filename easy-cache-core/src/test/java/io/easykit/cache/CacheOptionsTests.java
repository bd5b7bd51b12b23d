package io.easykit.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class CacheOptionsTests {

    private static final CacheOptions DEFAULTS = CacheOptions.defaults();

    static Stream<Arguments> durations() {
        return Stream.of(
                duration("ttl", DEFAULTS::withTtl),
                duration("null-ttl", DEFAULTS::withNullTtl),
                duration("stale-window", DEFAULTS::withStaleWindow),
                duration("refresh-ahead", DEFAULTS::withRefreshAhead),
                duration("election", DEFAULTS::withElection),
                duration("waiting", DEFAULTS::withWaiting),
                duration("lease", DEFAULTS::withLease));
    }

    private static Arguments duration(String name, Function<Duration, CacheOptions> with) {
        return Arguments.of(name, with);
    }

    @ParameterizedTest
    @MethodSource("durations")
    void refusesNegativeAndEndlessDurations(String name, Function<Duration, CacheOptions> with) {
        assertThatThrownBy(() -> with.apply(Duration.ofMillis(-1500)))
                .isInstanceOf(InvalidCacheOptionsException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("is -1500ms")
                .hasMessageContaining("Choose ");
        assertThatThrownBy(() -> with.apply(ChronoUnit.FOREVER.getDuration()))
                .isInstanceOf(InvalidCacheOptionsException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("ten years");
    }

    @Test
    void refusesALifeThatIsOverAtOnce() {
        assertThatThrownBy(() -> DEFAULTS.withTtl(Duration.ofMillis(9)))
                .hasMessageContaining("ttl")
                .hasMessageContaining("is 9ms")
                .hasMessageContaining("Choose 10ms or more");
    }

    @Test
    void refusesAJitterThatIsNoPart() {
        for (double odd : new double[] {-0.1, 0.51, Double.NaN}) {
            assertThatThrownBy(() -> DEFAULTS.withTtlJitter(odd))
                    .isInstanceOf(InvalidCacheOptionsException.class)
                    .hasMessageContaining("ttl-jitter")
                    .hasMessageContaining("is " + odd)
                    .hasMessageContaining("between 0 and 0.5");
        }
    }

    @Test
    void refusesAWindowThatOutlivesTheValueUnlessNobodyUsesIt() {
        assertThatThrownBy(() -> DEFAULTS.withTtl(Duration.ofSeconds(1)))
                .hasMessageContaining("stale-window")
                .hasMessageContaining("of 1500ms is not shorter than the ttl of 1s")
                .hasMessageContaining("Lengthen the ttl or shorten the stale window");
        assertThatNoException()
                .isThrownBy(() -> DEFAULTS.withConsistency(Consistency.CP).withTtl(Duration.ofSeconds(1)));
    }

    @Test
    void givesAStrongCacheNoWindow() {
        CacheOptions strong = DEFAULTS.withConsistency(Consistency.CP);
        assertThat(strong.window()).isZero();
        assertThat(strong.takesOld()).isFalse();
        assertThat(DEFAULTS.window()).isEqualTo(DEFAULTS.staleWindow());
        assertThat(DEFAULTS.takesOld()).isTrue();
        assertThat(DEFAULTS.withStaleWindow(Duration.ZERO).takesOld()).isFalse();
    }

    @Test
    void refreshesInTheLastTenthOfALifeAtTheMost() {
        assertThat(DEFAULTS.ahead()).isEqualTo(Duration.ofSeconds(2));
        CacheOptions shorter = DEFAULTS.withTtl(Duration.ofSeconds(5)).withNullTtl(Duration.ofSeconds(2));
        assertThat(shorter.ahead()).isEqualTo(Duration.ofMillis(450));
        assertThat(shorter.aheadOfNothing()).isEqualTo(Duration.ofMillis(180));
        assertThat(shorter.withTtlJitter(0).ahead()).isEqualTo(Duration.ofMillis(500));
    }
}
