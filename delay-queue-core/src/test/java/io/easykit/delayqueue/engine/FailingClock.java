package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.time.LoopExecutor;

/** Loops of a node whose clock fails on demand, in place of an allocation that does. */
final class FailingClock implements LoopExecutor {

    static final String ERROR = "too little memory";

    private final LoopExecutor loops;
    private int failures;

    FailingClock(LoopExecutor loops) {
        this.loops = loops;
    }

    /** The next look at the clock throws. */
    void failOnce() {
        fail(1);
    }

    /** The next looks at the clock throw. */
    void fail(int times) {
        failures = times;
    }

    @Override
    public long nanos() {
        if (failures > 0) {
            failures--;
            throw new InternalError(ERROR);
        }
        return loops.nanos();
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
        loops.sleep(nanos);
    }

    @Override
    public Loop create(String name, Step step) {
        return loops.create(name, step);
    }
}
