package io.easykit.cache.engine;

/**
 * No load was made: one of the key has just failed, or takes too long, or there was no permit. {@link StaleOnError} returns an
 * expired value, or lets the reader load if there is none. Never leaves the engine.
 */
final class LoadPausedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    LoadPausedException() {
        super("The load is paused", null, false, false);
    }
}
