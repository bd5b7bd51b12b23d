package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;

/**
 * Updates whose work may be committed after they have ended. They stay prepared until then, so that no reader stores the old
 * value meanwhile.
 *
 * <p>An update in {@code afterCommit} or {@code afterCompletion} may work on the connection of the transaction that has just
 * ended. That work is committed when the transaction manager gives the connection back, which nothing reports.
 */
final class LateCommits {

    /** A connection that is not given back for so long is not waited for, so that nothing stays for ever. */
    private static final Duration LONGEST = Duration.ofMinutes(10);

    private final Queue<Late> waiting = new ConcurrentLinkedQueue<>();
    private final Ticker ticker;

    LateCommits(Ticker ticker) {
        this.ticker = ticker;
    }

    /**
     * @param token of the updates, which are prepared
     * @param open whether the work may still have to be committed; called on another thread
     */
    void add(Collection<? extends CacheKey<?>> keys, String token, BooleanSupplier open) {
        waiting.add(new Late(List.copyOf(keys), token, open, ticker.nanoTime()));
    }

    /** Removes and returns those whose work is committed or gone. */
    List<Late> ended() {
        List<Late> ended = new ArrayList<>();
        for (Iterator<Late> all = waiting.iterator(); all.hasNext(); ) {
            Late late = all.next();
            if (!late.open.getAsBoolean() || ticker.nanoTime() - late.since > LONGEST.toNanos()) {
                all.remove();
                ended.add(late);
            }
        }
        return ended;
    }

    /** The updates of one thread. */
    record Late(List<CacheKey<?>> keys, String token, BooleanSupplier open, long since) {}
}
