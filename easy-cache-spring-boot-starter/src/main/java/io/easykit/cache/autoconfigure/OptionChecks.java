package io.easykit.cache.autoconfigure;

import io.easykit.boot.Problem;
import io.easykit.cache.InvalidCacheOptionsException;
import java.util.ArrayList;
import java.util.List;

/** Runs checks of settings against the engine. */
final class OptionChecks {

    private OptionChecks() {}

    /**
     * Runs each check separately.
     *
     * @param prefix prefix of the setting names, with a dot at its end
     */
    static List<Problem> problems(String prefix, List<Runnable> attempts) {
        List<Problem> problems = new ArrayList<>();
        for (Runnable attempt : attempts) {
            try {
                attempt.run();
            } catch (InvalidCacheOptionsException invalid) {
                problems.add(new Problem(
                        "The setting " + prefix + invalid.option() + " " + invalid.problem() + ".", invalid.remedy()));
            }
        }
        return problems;
    }
}
