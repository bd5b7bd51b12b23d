package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.time.LoopExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Repeats the start of a container that fails, such as for lack of threads. Nobody else would. */
final class RepeatedStart {

    /** Between two attempts. Doubles up to the longest. */
    private static final long FIRST_PAUSE = TimeUnit.SECONDS.toNanos(1);

    private static final long LONGEST_PAUSE = TimeUnit.MINUTES.toNanos(1);

    private RepeatedStart() {}

    /** @param attempt false if it has failed */
    static void run(LoopExecutor loops, BooleanSupplier attempt) {
        try {
            for (long pause = FIRST_PAUSE; !attempt.getAsBoolean(); pause = Math.min(2 * pause, LONGEST_PAUSE)) {
                loops.rest(pause);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
