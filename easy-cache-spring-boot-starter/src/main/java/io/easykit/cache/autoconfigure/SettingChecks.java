package io.easykit.cache.autoconfigure;

import io.easykit.cache.InvalidCacheOptionsException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Collects what is wrong with several settings. */
final class SettingChecks {

    private final String prefix;
    private final List<Problem> problems = new ArrayList<>();

    /** @param prefix of their names, with a dot at its end */
    SettingChecks(String prefix) {
        this.prefix = prefix;
    }

    SettingChecks that(boolean holds, String name, Object value, String remedy) {
        if (!holds) {
            problems.add(new Problem("The setting " + prefix + name + " is " + value + ".", remedy));
        }
        return this;
    }

    /** Tries one setting, which the engine may refuse. */
    SettingChecks option(Runnable attempt) {
        return options("", () -> List.of(attempt));
    }

    /**
     * Tries several.
     *
     * @param below what their names begin with, after the prefix
     */
    SettingChecks options(String below, Supplier<List<Runnable>> attempts) {
        for (Runnable attempt : attempts.get()) {
            try {
                attempt.run();
            } catch (InvalidCacheOptionsException invalid) {
                problems.add(new Problem(
                        "The setting " + prefix + below + invalid.option() + " " + invalid.problem() + ".",
                        invalid.remedy()));
            }
        }
        return this;
    }

    /** @throws InvalidSettingException if anything was wrong */
    void complete() {
        if (!problems.isEmpty()) {
            throw new InvalidSettingException(problems);
        }
    }
}
