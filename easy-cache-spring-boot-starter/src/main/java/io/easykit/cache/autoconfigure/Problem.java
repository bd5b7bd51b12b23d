package io.easykit.cache.autoconfigure;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Something that keeps the application from starting.
 *
 * @param description what is wrong, and where
 * @param remedy what to do about it
 */
record Problem(String description, String remedy) {

    /** One analysis of all of them, numbered if there are several. */
    static FailureAnalysis analysis(List<Problem> problems, Throwable cause) {
        return new FailureAnalysis(list(problems, Problem::description), list(problems, Problem::remedy), cause);
    }

    static String list(List<Problem> problems, Function<Problem, String> text) {
        if (problems.size() == 1) {
            return text.apply(problems.get(0));
        }
        return IntStream.range(0, problems.size())
                .mapToObj(i -> (i + 1) + ". " + text.apply(problems.get(i)))
                .collect(Collectors.joining(System.lineSeparator()));
    }
}
