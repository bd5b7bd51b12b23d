package io.easykit.benchmarks.measure;

import java.time.Duration;

/**
 * The cost of operations.
 *
 * @param operations number of operations
 * @param shares shares of the calls that come from clients
 * @param client CPU time of the calling process, on all cores
 */
public record Measured(long operations, RedisCost redis, ClientShares shares, Duration client) {

    /** CPU of Redis per operation, see {@link RedisCost#cpu}. */
    public double redisCpu() {
        return redis.cpu() / operations;
    }

    /** Round trips per operation; less than one if several operations share one. */
    public double calls() {
        return redis.clientCalls(shares) / operations;
    }

    /** Commands per operation, including those called by scripts. */
    public double commands() {
        return (double) redis.allCalls() / operations;
    }

    /** CPU microseconds of the client per operation. */
    public double clientMicros() {
        return client.toNanos() / 1e3 / operations;
    }
}
