package io.easykit.boot;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Prints the problems of an {@link Explained} exception. Runs before Spring Boot's own analyzers, which give no remedy.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ExplainedFailureAnalyzer implements FailureAnalyzer {

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof Explained explained) {
                List<Problem> problems = explained.problems();
                return new FailureAnalysis(
                        Problem.lines(problems, Problem::description), Problem.lines(problems, Problem::remedy), cause);
            }
        }
        return null;
    }
}
