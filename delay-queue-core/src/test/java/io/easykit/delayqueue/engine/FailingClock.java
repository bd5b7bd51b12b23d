package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.time.LoopExecutor;

/** Loops of a node whose clock fails on demand, in place of an allocation that does. */
final class FailingClock implements LoopExecutor {

    static final String ERROR = "too little memory";

    private final LoopExecutor loops;
    private boolean fails;

    FailingClock(LoopExecutor loops) {
        this.loops = loops;
    }

    /** The next look at the clock throws. */
    void failOnce() {
        fails = true;
    }

    @Override
    public long nanos() {
        if (fails) {
            fails = false;
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
