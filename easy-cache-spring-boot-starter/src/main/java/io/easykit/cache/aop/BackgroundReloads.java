package io.easykit.cache.aop;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether the calls of one method may be repeated on another thread, as far as experience tells. */
final class BackgroundReloads {

    private static final Logger log = LoggerFactory.getLogger(BackgroundReloads.class);

    private final CachedMethod where;
    private volatile boolean impossible;

    BackgroundReloads(CachedMethod where) {
        this.where = where;
    }

    boolean arePossible() {
        return !impossible;
    }

    /** The key was another one on the other thread: it depends on state of the calling thread. */
    void giveUp() {
        boolean first = !impossible;
        impossible = true;
        if (first) {
            log.warn(
                    "easy-cache: {} has another key on a thread of the cache than on its caller's, so from now on its"
                            + " values are reloaded by callers, of whom one waits. Set reload = CALLER, or propagate the"
                            + " state that the key depends on with a TaskDecorator or Micrometer's context propagation.",
                    where.shortName());
        }
    }
}
