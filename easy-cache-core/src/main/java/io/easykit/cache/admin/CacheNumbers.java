package io.easykit.cache.admin;

import io.easykit.cache.CacheListener.Load;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Reads and loads of one cache on this node since its start.
 *
 * @param over   how long they have been counted
 * @param hits   reads that got a valid value from Redis
 * @param near   reads that got a value of the near level
 * @param stale  reads that got an invalidated value inside the stale window
 * @param local  reads that got a value of the local level, while Redis was away
 * @param expired reads that got a value whose TTL was over, because their load failed or took too long
 * @param misses reads that loaded, or waited for a load
 * @param loads  loads by their result; all kinds are present
 */
public record CacheNumbers(
        Duration over, long hits, long near, long stale, long local, long expired, long misses, Map<Load, Long> loads) {

    public CacheNumbers {
        loads = Map.copyOf(loads);
    }

    /** The numbers of a cache that was not used. */
    public static CacheNumbers none(Duration over) {
        return new CacheNumbers(
                over,
                0,
                0,
                0,
                0,
                0,
                0,
                Arrays.stream(Load.values()).collect(Collectors.toMap(load -> load, load -> 0L)));
    }
}
