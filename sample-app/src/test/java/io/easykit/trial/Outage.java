package io.easykit.trial;

/**
 * A fault caused on a Redis.
 *
 * @param struckAt nano time just before the fault
 * @param servesAgainAt nano time at which another server replaced the failed one; end of the fault if none was
 *     promoted; {@link #NEVER} if none serves
 * @param promotedAgainAt nano time at which that server was replaced, too, by a fail-over that is not part of the fault;
 *     {@link #NEVER} if it was not
 * @param meanwhile events during the load, such as the return of the former master
 * @param heal restores the topology for the next round
 */
record Outage(long struckAt, long servesAgainAt, long promotedAgainAt, Runnable meanwhile, Runnable heal) {

    static final long NEVER = Long.MIN_VALUE;

    Outage(long struckAt, long servesAgainAt, Runnable meanwhile, Runnable heal) {
        this(struckAt, servesAgainAt, NEVER, meanwhile, heal);
    }

    /** @param at nano time, or {@link #NEVER} */
    Outage withLastPromotion(long at) {
        boolean again = at != NEVER && isServedAgain() && at - servesAgainAt > 0;
        return new Outage(struckAt, servesAgainAt, again ? at : NEVER, meanwhile, heal);
    }

    boolean isPromotedAgain() {
        return promotedAgainAt != NEVER;
    }

    boolean isServedAgain() {
        return servesAgainAt != NEVER;
    }
}
