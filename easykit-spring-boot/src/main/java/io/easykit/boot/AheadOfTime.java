package io.easykit.boot;

import org.springframework.aot.AotDetector;
import org.springframework.context.aot.AbstractAotProcessor;

/**
 * Ahead-of-time processing by Spring. It evaluates the conditions of auto-configurations at build time, so a setting of a condition
 * may have another value at the start.
 */
public final class AheadOfTime {

    private AheadOfTime() {}

    /** Whether a context is being processed now, in the environment of the build. */
    public static boolean isProcessing() {
        return Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING);
    }

    /**
     * Adds another cause to a problem of an application that was processed ahead of time.
     *
     * @param problem  a bean that a setting asks for does not exist
     * @param settings what decides at build time whether the bean exists
     */
    public static Problem explain(Problem problem, String settings) {
        if (!AotDetector.useGeneratedArtifacts()) {
            return problem;
        }
        return new Problem(
                problem.description() + " Or the application, which was processed ahead of time, was built without "
                        + settings + ".",
                problem.remedy() + " Set " + settings + " at the build, too.");
    }
}
