package io.easykit.boot;

import java.util.List;

/** Settings or annotations that are invalid. Lists every problem found during this start. */
public final class InvalidConfigurationException extends RuntimeException implements Explained {

    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    public InvalidConfigurationException(List<Problem> problems) {
        super(Problem.lines(problems, problem -> problem.description() + " " + problem.remedy()));
        this.problems = List.copyOf(problems);
    }

    public InvalidConfigurationException(Problem problem) {
        this(List.of(problem));
    }

    @Override
    public List<Problem> problems() {
        return problems;
    }
}
