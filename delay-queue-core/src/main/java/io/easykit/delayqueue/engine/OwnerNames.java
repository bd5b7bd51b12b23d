package io.easykit.delayqueue.engine;

import java.security.SecureRandom;

/** Names of the owners of leases. */
final class OwnerNames {

    private static final int MAX_NAME = 90;

    /** Processes that are restored from one image share the state of any other generator. */
    private static final SecureRandom RANDOM = new SecureRandom();

    private OwnerNames() {}

    /** A name that no other start of this or another process has. */
    static String next(String node, String listener) {
        String random = Long.toString(RANDOM.nextLong(Long.MAX_VALUE), 36);
        return plain(node) + "/" + plain(listener) + "/" + random;
    }

    private static String plain(String name) {
        String plain = name.replaceAll("[^A-Za-z0-9._@-]", "-");
        return plain.substring(0, Math.min(MAX_NAME, plain.length()));
    }
}
