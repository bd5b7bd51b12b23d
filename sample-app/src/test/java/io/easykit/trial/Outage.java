package io.easykit.trial;

/**
 * A fault caused on a Redis.
 *
 * @param struckAt nano time just before the fault
 * @param servesAgainAt nano time at which another server replaced the failed one; end of the fault if none was
 *     promoted; {@link #NEVER} if none serves
 * @param meanwhile events during the load, such as the return of the former master
 * @param heal restores the topology for the next round
 */
record Outage(long struckAt, long servesAgainAt, Runnable meanwhile, Runnable heal) {

    static final long NEVER = Long.MIN_VALUE;

    boolean isServedAgain() {
        return servesAgainAt != NEVER;
    }
}
