package io.easykit.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class GrowthTests {

    private static Growth of(LongStream samples) {
        return new Growth("bytes", 10, samples.boxed().toList());
    }

    @Test
    void findsAFigureThatGrowsAllTheTime() {
        assertThat(of(LongStream.range(0, 40).map(i -> 100 + 10 * i)).isTooMuch())
                .isTrue();
    }

    @Test
    void acceptsAWarmUpAndSinglePeaks() {
        LongStream samples = LongStream.range(0, 40).map(i -> i < 10 ? 10 * i : i % 7 == 0 ? 900 : 100);

        assertThat(of(samples).isTooMuch()).isFalse();
    }

    @Test
    void acceptsGrowthWithinTheAllowance() {
        assertThat(of(LongStream.range(0, 40).map(i -> i < 20 ? 4 : 14)).isTooMuch())
                .isFalse();
        assertThat(of(LongStream.range(0, 40).map(i -> i < 20 ? 4 : 15)).isTooMuch())
                .isTrue();
    }

    @Test
    void acceptsFewSamples() {
        assertThat(new Growth("bytes", 10, List.of(1L)).isTooMuch()).isFalse();
        assertThat(new Growth("bytes", 10, List.of()).isTooMuch()).isFalse();
    }
}
