package io.easykit.delayqueue.engine;

/** The call of a handler, as its messages and the loop of their consumer see it. */
interface HandlerCall {

    /** Releases its messages if the handler has not started; it never will. */
    void cancelIfNotStarted();

    /** Interrupts the handler if all its messages are settled or lost, and one of them is lost. */
    void interruptIfLost();

    /** Whether the handler and the error handler have returned. Then it settles what they have left open, once. */
    boolean hasEnded();

    /** One of its messages was settled or lost. */
    void onAllSettled();
}
