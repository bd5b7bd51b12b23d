package io.easykit.trial;

/**
 * A fault that has been done to a Redis.
 *
 * @param struckAt nano time just before
 * @param servesAgainAt nano time at which another server was seen to serve in place of the failed one; that of the end of the
 *     fault if none was promoted; {@link #NEVER} if none serves
 * @param meanwhile what happens while the load goes on, such as the return of the former master
 * @param heal makes everything healthy for the next round
 */
record Outage(long struckAt, long servesAgainAt, Runnable meanwhile, Runnable heal) {

    static final long NEVER = Long.MIN_VALUE;

    boolean isServedAgain() {
        return servesAgainAt != NEVER;
    }
}
