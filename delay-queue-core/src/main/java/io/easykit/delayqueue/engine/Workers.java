package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.time.LoopExecutor;
import java.util.function.Consumer;

/** Runs the handlers of one container, from its start to its stop. */
interface Workers {

    /** Creates what runs the handlers of a container. */
    @FunctionalInterface
    interface Factory {

        Workers create(ListenerEndpoint endpoint, LoopExecutor loops);
    }

    /** Whether it runs no more than the listener's concurrency at a time, and the others in their order. */
    boolean queues();

    /**
     * Runs it later, on another thread. Does not block.
     *
     * @param onRefusal called if it never runs, such as for lack of threads; on any thread
     */
    void execute(Runnable run, Consumer<Throwable> onRefusal);

    /** Nothing is given to it any more; interrupts what runs if the threads are its own. */
    void stop();
}
