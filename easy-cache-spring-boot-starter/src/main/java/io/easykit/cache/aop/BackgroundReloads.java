package io.easykit.cache.aop;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether the calls of one method can be repeated on another thread. Set to false when a key differs there. */
final class BackgroundReloads {

    private static final Logger log = LoggerFactory.getLogger(BackgroundReloads.class);

    private final CachedMethod where;
    private volatile boolean impossible;

    BackgroundReloads(CachedMethod where) {
        this.where = where;
    }

    CachedMethod where() {
        return where;
    }

    boolean arePossible() {
        return !impossible;
    }

    /** The key differs on another thread: it depends on state of the calling thread. */
    void giveUp() {
        boolean first = !impossible;
        impossible = true;
        if (first) {
            log.warn(
                    "easy-cache: {} has a different key on a background thread than on its caller's. From now"
                            + " on one caller at a time reloads a value and waits for it. Set reload = CALLER,"
                            + " or propagate the state that the key depends on with a TaskDecorator or"
                            + " Micrometer's context propagation.",
                    where.shortName());
        }
    }
}
