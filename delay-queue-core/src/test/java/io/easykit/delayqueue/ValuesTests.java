package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ValuesTests {

    @Test
    void roundsDueTimesUp() {
        assertThat(DueTime.after(Duration.ofNanos(1))).isEqualTo(new DueTime(true, 1));
        assertThat(DueTime.after(Duration.ofMillis(5))).isEqualTo(new DueTime(true, 5));
        assertThat(DueTime.at(Instant.ofEpochMilli(5).plusNanos(1))).isEqualTo(new DueTime(false, 6));
        assertThat(DueTime.at(Instant.ofEpochMilli(5))).isEqualTo(new DueTime(false, 5));
    }

    @Test
    void refusesDueTimesThatCannotBe() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DueTime.after(Duration.ofMillis(-1)))
                .withMessageContaining("delay of -1 ms");
        assertThatIllegalArgumentException().isThrownBy(() -> DueTime.after(Duration.ofSeconds(Long.MAX_VALUE)));
        assertThatIllegalArgumentException().isThrownBy(() -> DueTime.at(Instant.MAX));
    }

    @Test
    void takesAnInstantBeforeTheEpochForDueAtOnce() {
        assertThat(DueTime.at(Instant.MIN)).isEqualTo(new DueTime(false, 0));
        assertThat(DueTime.at(Instant.EPOCH.minusNanos(1))).isEqualTo(new DueTime(false, 0));
    }

    @Test
    void waitsTheSameTimeOrLongerAndLonger() {
        assertThat(delays(RetryPolicy.fixed(4, Duration.ofMillis(70)))).containsExactly(70L, 70L, 70L);
        assertThat(delays(new RetryPolicy(6, Duration.ofSeconds(1), 2, Duration.ofSeconds(5), 0)))
                .containsExactly(1000L, 2000L, 4000L, 5000L, 5000L);
    }

    @Test
    void roundsWaitsUpToMilliseconds() {
        assertThat(delays(new RetryPolicy(4, Duration.ofNanos(1), 2, Duration.ofNanos(2_500_001), 0)))
                .containsExactly(1L, 2L, 3L);
    }

    @Test
    void takesNoMoreThanTheJitterOff() {
        RetryPolicy policy = new RetryPolicy(2, Duration.ofSeconds(1), 1, Duration.ofSeconds(1), 0.2);
        Random random = new Random(1);
        for (int i = 0; i < 1000; i++) {
            assertThat(policy.delayAfter(1, random).orElseThrow().toMillis()).isBetween(800L, 1000L);
        }
    }

    @Test
    void refusesPoliciesThatMakeNoSense() {
        Duration second = Duration.ofSeconds(1);
        assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(0, second, 1, second, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(1, second.negated(), 1, second, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(1, second, 0.5, second, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(1, second, 1, Duration.ZERO, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(1, second, 1, second, 1.1));
        assertThatIllegalArgumentException().isThrownBy(() -> new RetryPolicy(1, second, Double.NaN, second, 0));
    }

    private static List<Long> delays(RetryPolicy policy) {
        return IntStream.rangeClosed(1, policy.maxAttempts())
                .mapToObj(failures -> policy.delayAfter(failures, new Random(1)))
                .flatMap(Optional::stream)
                .map(Duration::toMillis)
                .toList();
    }

    @Test
    void theLongestSumOfWaitsIsThatOfAllWaitsWithoutJitter() {
        List<RetryPolicy> policies = List.of(
                RetryPolicy.fixed(1, Duration.ofMinutes(1)),
                RetryPolicy.fixed(4, Duration.ofMinutes(1)),
                RetryPolicy.fixed(9, Duration.ZERO),
                new RetryPolicy(9, Duration.ZERO, 3, Duration.ofMinutes(1), 0),
                new RetryPolicy(12, Duration.ofSeconds(1), 2, Duration.ofMinutes(5), 0),
                new RetryPolicy(3, Duration.ofSeconds(7), 1.5, Duration.ofMinutes(5), 0),
                new RetryPolicy(9, Duration.ofSeconds(7), 1, Duration.ofMinutes(5), 0));
        for (RetryPolicy policy : policies) {
            Duration sum = Duration.ZERO;
            for (int failures = 1; failures < policy.maxAttempts(); failures++) {
                sum = sum.plus(policy.delayAfter(failures, new Random(1)).orElseThrow());
            }
            assertThat(policy.longestSum()).isBetween(sum, sum.plusMillis(2));
        }
        assertThat(new RetryPolicy(Integer.MAX_VALUE, Duration.ofDays(1), 1.01, RetryPolicy.LONGEST, 0.5).longestSum())
                .isPositive();
    }
}
