package io.easykit.test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Picks ports for servers.
 *
 * <p>They are below the range of outgoing connections, so that a restarted server finds its port free, and leave room
 * for the cluster bus, which listens 10,000 higher. Another process may still take a port first: callers must be ready
 * to try another one.
 */
final class Ports {
    private static final int FIRST = 10_000;
    private static final int COUNT = 10_000;
    private static final int BUS_OFFSET = 10_000;

    private Ports() {}

    static int free() {
        for (int attempt = 0; attempt < 1_000; attempt++) {
            int port = FIRST + ThreadLocalRandom.current().nextInt(COUNT);
            if (isFree(port) && isFree(port + BUS_OFFSET)) {
                return port;
            }
        }
        throw new IllegalStateException("No free port between " + FIRST + " and " + (FIRST + COUNT + BUS_OFFSET)
                + ". End servers left behind by earlier test runs.");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
