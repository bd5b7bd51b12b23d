package io.easykit.trial;

import java.util.List;

/**
 * A figure over time. It grows if the median of the last quarter of the samples is higher than that of the second quarter by
 * more than half, and by more than the allowance. The first quarter is the warm-up.
 */
record Growth(String name, long allowance, List<Long> samples) {

    boolean isTooMuch() {
        return latter() > former() * 1.5 && latter() > former() + allowance;
    }

    private long former() {
        return median(samples.subList(samples.size() / 4, samples.size() / 2));
    }

    private long latter() {
        return median(samples.subList(samples.size() * 3 / 4, samples.size()));
    }

    private static long median(List<Long> some) {
        return some.stream().sorted().skip(some.size() / 2).findFirst().orElse(0L);
    }

    @Override
    public String toString() {
        return name + ": median " + former() + ", then " + latter() + "; all samples: " + samples;
    }
}
