package io.easykit.delayqueue.store;

/**
 * A lease that expired before its message was settled.
 *
 * @param owner     consumer that held the lease
 * @param leaseExpirations lease expirations of the message, this one included
 * @param dead      whether the message is a dead letter now
 */
public record LostLease(Lease lease, String owner, int leaseExpirations, boolean dead) {}
