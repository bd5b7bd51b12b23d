package io.easykit.redis;

import java.util.BitSet;

/**
 * A master of a Redis cluster.
 *
 * @param address host and port
 * @param slots that it serves; not to be changed
 */
public record ClusterMaster(String address, BitSet slots) {}
