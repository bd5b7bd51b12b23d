package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueException;

/** A setting that cannot work. */
final class InvalidSettingException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    InvalidSettingException(String name, Object value, String remedy) {
        this("The setting " + name + " is " + value + ".", remedy);
    }

    InvalidSettingException(String problem, String remedy) {
        super(problem + " " + remedy, null);
        this.problem = problem;
        this.remedy = remedy;
    }

    String problem() {
        return problem;
    }

    String remedy() {
        return remedy;
    }
}
