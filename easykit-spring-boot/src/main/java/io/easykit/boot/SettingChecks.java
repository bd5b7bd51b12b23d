package io.easykit.boot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Collects the problems of several settings. */
public final class SettingChecks {

    private static final Duration LEAST_TIMEOUT = Duration.ofMillis(1);
    private static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);

    private final String prefix;
    private final List<Problem> problems = new ArrayList<>();

    /** @param prefix prefix of their names, with a dot at its end */
    public SettingChecks(String prefix) {
        this.prefix = prefix;
    }

    /** Returns the property name of a map element, with brackets if the key needs them. */
    public static String element(String map, String key) {
        return map + (key.matches("[a-z0-9-]+") ? "." + key : "[" + key + "]");
    }

    public SettingChecks that(boolean holds, String name, Object value, String remedy) {
        if (!holds) {
            problems.add(Problem.setting(prefix + name, value, remedy));
        }
        return this;
    }

    /**
     * Checks the limits of a duration.
     *
     * @param range the limits as text, with an example
     */
    public SettingChecks duration(String name, Duration value, Duration least, Duration most, String range) {
        return that(value.compareTo(least) >= 0 && value.compareTo(most) <= 0, name, value, "Choose " + range + ".");
    }

    /** Checks the setting {@code command-timeout}: the maximum time to wait for a reply from Redis. */
    public SettingChecks commandTimeout(Duration value) {
        return duration("command-timeout", value, LEAST_TIMEOUT, LONGEST_TIMEOUT, "1ms to 1h, for example 250ms");
    }

    /**
     * Checks the prefix of all Redis keys.
     *
     * @param usable whether the product accepts the prefix
     * @param example a valid prefix, for the remedy
     */
    public SettingChecks keyPrefix(boolean usable, String value, String example) {
        return that(
                usable,
                "key-prefix",
                "'" + value + "', which cannot start a key",
                "Use 1 to 64 letters, digits and characters of . _ : / - (no braces: they would change the hash"
                        + " tag of Redis Cluster), for example " + example);
    }

    public SettingChecks add(List<Problem> more) {
        problems.addAll(more);
        return this;
    }

    public List<Problem> problems() {
        return List.copyOf(problems);
    }

    /**
     * Completes the checks.
     *
     * @throws InvalidConfigurationException if there is any problem
     */
    public void complete() {
        if (!problems.isEmpty()) {
            throw new InvalidConfigurationException(problems);
        }
    }
}
