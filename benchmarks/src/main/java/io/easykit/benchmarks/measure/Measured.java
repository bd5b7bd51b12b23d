package io.easykit.benchmarks.measure;

import java.time.Duration;

/**
 * What operations cost.
 *
 * @param operations how many there were
 * @param shares     of the calls, which are the clients' own
 * @param client     time on the CPU of the process that made them, on all cores
 */
public record Measured(long operations, RedisCost redis, ClientShares shares, Duration client) {

    /** Of Redis, an operation. */
    public double redisMicros() {
        return (double) redis.cpuMicros() / operations;
    }

    /** Round trips an operation, or less where several go in one. */
    public double calls() {
        return redis.clientCalls(shares) / operations;
    }

    /** Commands an operation, those that scripts call included. */
    public double commands() {
        return (double) redis.allCalls() / operations;
    }

    /** Of the client, an operation. */
    public double clientMicros() {
        return client.toNanos() / 1e3 / operations;
    }
}
