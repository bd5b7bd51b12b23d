package io.easykit.cache.history;

/**
 * A time in which Redis lost data: a fail-over, or a start without its data. Reads that begin in it may miss updates that
 * began before Redis served again, because their marks or invalidations may be gone. A node never misses an update of its own
 * that has returned: it reads no such key from Redis before it has repeated the invalidation.
 *
 * @param from nano time at which the server was lost
 * @param served nano time at which one served again
 * @param until nano time at which each node has certainly repeated its invalidations
 */
record Loss(long from, long served, long until) {

    boolean admits(Read stale, Update missed) {
        boolean own = missed.isAcknowledged() && missed.node().equals(stale.node()) && missed.ended() < stale.began();
        return !own && stale.began() >= from && stale.began() <= until && missed.began() < served;
    }
}
