package io.easykit.benchmarks.cache.contender;

import java.time.Duration;

/**
 * The environment of a contender.
 *
 * @param loadLease time for which one loader has the exclusive right to load, for contenders that have such a setting
 */
public record Setup(String host, int port, Products database, Duration loadLease) {

    static final Duration TTL = Duration.ofMinutes(10);
}
