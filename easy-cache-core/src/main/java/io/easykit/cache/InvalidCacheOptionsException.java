package io.easykit.cache;

import java.time.Duration;

/** A setting that cannot work. The message names it and the remedy. */
public final class InvalidCacheOptionsException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    static final Duration LONGEST_DURATION = Duration.ofDays(3650);

    private final String option;
    private final String problem;
    private final String remedy;

    InvalidCacheOptionsException(String option, String problem, String remedy) {
        super("The option '" + option + "' " + problem + ". " + remedy, null);
        this.option = option;
        this.problem = problem;
        this.remedy = remedy;
    }

    /** The option's name as in the settings, for example {@code null-ttl}. */
    public String option() {
        return option;
    }

    /** The mistake, for example {@code is 0}. */
    public String problem() {
        return problem;
    }

    public String remedy() {
        return remedy;
    }

    /** Returns the value, unless it is shorter than the least one, or longer than ten years. */
    static Duration atLeast(String name, Duration value, Duration least) {
        if (value.compareTo(LONGEST_DURATION) > 0) {
            throw new InvalidCacheOptionsException(
                    name, "is longer than ten years", "Choose a duration that means something, for example 10m.");
        }
        if (value.compareTo(least) < 0) {
            throw new InvalidCacheOptionsException(
                    name,
                    "is " + CacheOptions.text(value),
                    "Choose " + CacheOptions.text(least) + " or more, for example 10s or 5m.");
        }
        return value;
    }
}
