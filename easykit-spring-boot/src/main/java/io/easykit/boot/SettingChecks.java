package io.easykit.boot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Collects what is wrong with several settings. */
public final class SettingChecks {

    private static final Duration LEAST_TIMEOUT = Duration.ofMillis(1);
    private static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);

    private final String prefix;
    private final List<Problem> problems = new ArrayList<>();

    /** @param prefix of their names, with a dot at its end */
    public SettingChecks(String prefix) {
        this.prefix = prefix;
    }

    /** The path of an element of a map, as a properties file has it: with brackets if the key needs them. */
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
     * @param range text of both limits, with an example
     */
    public SettingChecks duration(String name, Duration value, Duration least, Duration most, String range) {
        return that(value.compareTo(least) >= 0 && value.compareTo(most) <= 0, name, value, "Choose " + range + ".");
    }

    /** Checks the setting {@code command-timeout}: the maximum time to wait for a reply from Redis. */
    public SettingChecks commandTimeout(Duration value) {
        return duration("command-timeout", value, LEAST_TIMEOUT, LONGEST_TIMEOUT, "1ms to 1h, for example 250ms");
    }

    /**
     * Checks the start of all keys.
     *
     * @param usable whether the product takes the prefix
     * @param example for the remedy
     */
    public SettingChecks keyPrefix(boolean usable, String value, String example) {
        return that(
                usable,
                "key-prefix",
                "'" + value + "', which cannot start a key",
                "Use 1 to 64 letters, digits and characters of . _ : / - (no braces: they would change the hash tag of"
                        + " Redis Cluster), for example " + example);
    }

    public SettingChecks add(List<Problem> more) {
        problems.addAll(more);
        return this;
    }

    public List<Problem> problems() {
        return List.copyOf(problems);
    }

    /**
     * Ends the checks.
     *
     * @throws InvalidConfigurationException if anything is wrong
     */
    public void complete() {
        if (!problems.isEmpty()) {
            throw new InvalidConfigurationException(problems);
        }
    }
}
