package io.easykit.cache.redis;

import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the scripts into a Redis in the background. While it is away, it retries with growing pauses. Ends when that is done.
 *
 * <p>This is only a head start: a script that the server does not have is sent when it is called.
 */
public final class ScriptLoader {

    private static final Logger log = LoggerFactory.getLogger(ScriptLoader.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final RedisEntryStore store;
    private @Nullable Attempt attempt;

    public ScriptLoader(RedisEntryStore store) {
        this.store = store;
    }

    /** Begins to load, unless it does already. */
    public synchronized void start() {
        if (attempt == null || !attempt.isAlive()) {
            attempt = new Attempt();
            attempt.start();
        }
    }

    /** Gives up. */
    public synchronized void stop() {
        if (attempt != null) {
            attempt.stop.countDown();
            attempt = null;
        }
    }

    /** Whether it is still trying. */
    public synchronized boolean isLoading() {
        return attempt != null && attempt.isAlive();
    }

    private final class Attempt extends Thread {

        private final CountDownLatch stop = new CountDownLatch(1);

        Attempt() {
            super("easy-cache-scripts");
            setDaemon(true);
        }

        @Override
        public void run() {
            Duration pause = FIRST_PAUSE;
            try {
                while (stop.getCount() > 0 && !isLoaded()) {
                    if (stop.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                        return;
                    }
                    Duration twice = pause.multipliedBy(2);
                    pause = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
                }
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        }

        private boolean isLoaded() {
            try {
                store.loadScripts();
                return true;
            } catch (StoreUnavailableException away) {
                log.debug("The scripts could not be loaded yet", away);
                return false;
            }
        }
    }
}
