package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.Collection;

/**
 * An end of an update: it invalidates the keys, and removes their marks unless they are still needed. Further ends may follow:
 * after a clearing ({@link SecondEnd}), or when late work is over ({@link LateCommits}).
 *
 * @param token of the update; empty if it was not prepared, or its work is not over
 * @param update all its keys, in all clusters
 * @param endsAgain whether a {@link SecondEnd} follows
 */
record UpdateEnd(String token, Collection<? extends CacheKey<?>> update, boolean endsAgain) {

    private static final String NO_TOKEN = "";

    /** The only end, or the last one. */
    static UpdateEnd last(String token, Collection<? extends CacheKey<?>> update) {
        return new UpdateEnd(token, update, false);
    }

    /** The end of an update that was not prepared. */
    static UpdateEnd unprepared(Collection<? extends CacheKey<?>> update) {
        return last(NO_TOKEN, update);
    }

    /** Token of the marks that this end removes; empty if it removes none. The first of two ends leaves them to the second one. */
    String mark() {
        return endsAgain ? NO_TOKEN : token;
    }
}
