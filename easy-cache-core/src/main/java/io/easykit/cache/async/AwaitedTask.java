package io.easykit.cache.async;

import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * A task for whose end something waits, such as a caller, or a key that is reserved for it. If the context of the task cannot be set
 * on its thread, it is told so, and does not run.
 */
public interface AwaitedTask extends Runnable {

    /** Called on the thread of the task instead of {@link #run}. */
    void cannotRun(RejectedExecutionException why);

    /**
     * Returns such a task.
     *
     * @param otherwise what to do if the task cannot run
     */
    static AwaitedTask of(Runnable task, Consumer<? super RejectedExecutionException> otherwise) {
        return new AwaitedTask() {

            @Override
            public void run() {
                task.run();
            }

            @Override
            public void cannotRun(RejectedExecutionException why) {
                otherwise.accept(why);
            }
        };
    }

    /**
     * Returns why a task could not run.
     *
     * @param cause what the propagation of the context has thrown
     */
    static RejectedExecutionException withoutContext(Throwable cause) {
        return new RejectedExecutionException(
                "The context of the caller could not be set on a thread of the cache, so the call ended there. Correct the"
                        + " TaskDecorator, or the other propagation of the context, that throws the cause.",
                cause);
    }
}
