package io.easykit.cache.engine;

import java.util.concurrent.CompletableFuture;

/** The time of a test without threads: the workers do nothing until the test calls their rounds. */
class RoundsByHand implements Ticker {

    private final ManualClock clock;

    RoundsByHand(ManualClock clock) {
        this.clock = clock;
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public void pause(long nanos) throws InterruptedException {
        clock.pause(nanos);
    }

    @Override
    public CompletableFuture<Void> later(long nanos) {
        return clock.later(nanos);
    }

    @Override
    public Scheduler newScheduler(String threadName) {
        return new Idle();
    }

    static class Idle implements Scheduler {

        @Override
        public void execute(Runnable task) {}

        @Override
        public void schedule(Runnable task, long delayNanos) {}

        @Override
        public void repeat(Runnable task, long delayNanos) {}

        @Override
        public void stop() {}

        @Override
        public void stopNow() {}

        @Override
        public boolean awaitStop(long nanos) {
            return true;
        }
    }
}
