package io.easykit.redis;

import java.net.InetSocketAddress;
import java.util.BitSet;

/**
 * A master of a Redis cluster.
 *
 * @param address host and port
 * @param slots slots that it serves; must not be modified
 */
public record ClusterMaster(String address, BitSet slots) {

    /** Not resolved. */
    InetSocketAddress socketAddress() {
        int colon = address.lastIndexOf(':');
        return InetSocketAddress.createUnresolved(
                address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    }
}
