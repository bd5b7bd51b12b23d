package io.easykit.delayqueue.store;

/**
 * A lease that ended before its message was settled.
 *
 * @param owner     whose lease ended
 * @param lostSoFar leases of the message that were lost, this one included
 * @param dead      whether the message died of it
 */
public record LostLease(Lease lease, String owner, int lostSoFar, boolean dead) {}
