package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.time.LoopExecutor;

/** Real threads and the real clock; a test overrides what it changes. */
class ThreadLoops implements LoopExecutor {

    @Override
    public long nanos() {
        return THREADS.nanos();
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
        THREADS.sleep(nanos);
    }

    @Override
    public Loop create(String name, Step step) {
        return THREADS.create(name, step);
    }

    @Override
    public Thread startThread(String name, Runnable task) {
        return THREADS.startThread(name, task);
    }
}
