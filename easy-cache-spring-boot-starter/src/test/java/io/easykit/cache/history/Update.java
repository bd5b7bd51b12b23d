package io.easykit.cache.history;

/**
 * An update that committed, or may have committed. The database numbers the updates of a key: the first one makes version 1.
 *
 * @param node process that updated
 * @param began time before the call, as {@link System#nanoTime()}
 * @param ended time after it returned; {@link #UNKNOWN} if the process died, or the call threw after its commit had begun
 * @param version the version that it wrote
 */
record Update(String key, String node, long began, long ended, int version) {

    static final long UNKNOWN = Long.MAX_VALUE;

    boolean isAcknowledged() {
        return ended != UNKNOWN;
    }
}
