package io.easykit.benchmarks.cache.contender;

import java.time.Duration;

/**
 * What a contender works with.
 *
 * @param election how long one loader keeps others from loading, for contenders that have such a time
 */
public record Setup(String host, int port, Products database, Duration election) {

    static final Duration TTL = Duration.ofMinutes(10);
}
