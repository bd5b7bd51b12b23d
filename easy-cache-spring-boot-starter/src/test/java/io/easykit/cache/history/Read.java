package io.easykit.cache.history;

/**
 * A read that returned.
 *
 * @param node process that read
 * @param source whether it read the database directly, past the cache
 * @param began time before the call, as {@link System#nanoTime()}
 * @param ended time after it
 * @param version the value
 */
record Read(String key, String node, boolean source, long began, long ended, int version) {}
