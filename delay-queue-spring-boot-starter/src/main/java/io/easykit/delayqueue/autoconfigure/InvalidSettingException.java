package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueException;
import java.util.List;

/** Settings that cannot work. */
final class InvalidSettingException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final transient List<Problem> problems;

    InvalidSettingException(String name, Object value, String remedy) {
        this("The setting " + name + " is " + value + ".", remedy);
    }

    InvalidSettingException(String problem, String remedy) {
        this(List.of(new Problem(problem, remedy)));
    }

    InvalidSettingException(List<Problem> problems) {
        super(Problem.list(problems, problem -> problem.description() + " " + problem.remedy()), null);
        this.problems = List.copyOf(problems);
    }

    List<Problem> problems() {
        return problems;
    }
}
