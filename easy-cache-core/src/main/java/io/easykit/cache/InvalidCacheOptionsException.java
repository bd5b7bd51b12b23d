package io.easykit.cache;

import static io.easykit.cache.CacheOptions.text;

import java.time.Duration;

/** A setting with a value that is not possible. The message names the setting and the remedy. */
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

    /** Checks what makes no sense, alone or beside other options. */
    static void check(CacheOptions options) {
        if (!(options.ttlJitter() >= 0 && options.ttlJitter() <= 0.5)) {
            throw new InvalidCacheOptionsException(
                    "ttl-jitter", "is " + options.ttlJitter(), "Choose a part of the ttl between 0 and 0.5.");
        }
        if (options.consistency() == Consistency.CP) {
            checkStrong(options);
        } else if (options.staleWindow().compareTo(options.ttl()) >= 0) {
            throw new InvalidCacheOptionsException(
                    "stale-window",
                    "of " + text(options.staleWindow()) + " is not shorter than the ttl of " + text(options.ttl()),
                    "Lengthen the ttl or shorten the stale window: 0s for none.");
        }
    }

    private static void checkStrong(CacheOptions options) {
        if (!options.nearTtl().isZero()) {
            throw new InvalidCacheOptionsException(
                    "near-ttl",
                    "of " + text(options.nearTtl())
                            + " cannot be used with consistency CP: other nodes' updates would be missed",
                    "Set it to 0s for this cache, or choose consistency AP.");
        }
        StaleOnErrorOptions staleOnError = options.staleOnError();
        if (staleOnError != null) {
            throw new InvalidCacheOptionsException(
                    "stale-on-error",
                    "of " + text(staleOnError.keptFor())
                            + " cannot be used with consistency CP: an expired value need not be the present one",
                    "Set it to 0s for this cache, or choose consistency AP.");
        }
    }
}
