package io.easykit.boot;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A mistake that keeps the application from starting.
 *
 * @param description the mistake and its place
 * @param remedy action that corrects it
 */
public record Problem(String description, String remedy) {

    /** Returns the problem of an invalid setting. A duration is shown as a properties file has it. */
    public static Problem setting(String name, Object value, String remedy) {
        Object shown = value instanceof Duration duration ? DurationTexts.text(duration) : value;
        return new Problem("The setting " + name + " is " + shown + ".", remedy);
    }

    /** Returns one line for each problem, numbered if there are several. */
    static String lines(List<Problem> problems, Function<Problem, String> text) {
        if (problems.size() == 1) {
            return text.apply(problems.get(0));
        }
        return IntStream.range(0, problems.size())
                .mapToObj(i -> (i + 1) + ". " + text.apply(problems.get(i)))
                .collect(Collectors.joining(System.lineSeparator()));
    }
}
