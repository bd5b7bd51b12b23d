package io.easykit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Reserves ports for servers, among the tests of all JVMs of a user.
 *
 * <p>They are below the range of outgoing connections, and leave room for the cluster bus, which listens 10,000 higher. A
 * server of another test on the port of one that was killed or closed would get the requests of clients that reconnect, so a
 * reservation ends with the JVM: it is a lock on one byte of a file. A program that is not a test may still take a port
 * first: callers must be ready to try another one.
 */
final class Ports {
    private static final int FIRST = 10_000;
    private static final int COUNT = 10_000;
    private static final int BUS_OFFSET = 10_000;

    /** Stays open: a process that closes a file loses all its locks on it. */
    private static final FileChannel FILE = open();

    /** A lock that is garbage no longer keeps this JVM from taking it again. */
    private static final Queue<FileLock> LOCKS = new ConcurrentLinkedQueue<>();

    private Ports() {}

    static int reserve() {
        for (int attempt = 0; attempt < 1_000; attempt++) {
            int port = FIRST + ThreadLocalRandom.current().nextInt(COUNT);
            if (lock(port) && isFree(port) && isFree(port + BUS_OFFSET)) {
                return port;
            }
        }
        throw new IllegalStateException("No free port between " + FIRST + " and " + (FIRST + COUNT + BUS_OFFSET)
                + ". End servers left behind by earlier test runs.");
    }

    private static boolean lock(int port) {
        try {
            FileLock lock = FILE.tryLock(port, 1, false);
            return lock != null && LOCKS.add(lock);
        } catch (OverlappingFileLockException reservedHere) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot reserve port " + port, e);
        }
    }

    private static FileChannel open() {
        Path file =
                Path.of(System.getProperty("java.io.tmpdir"), "easykit-test-ports-" + System.getProperty("user.name"));
        try {
            return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot open " + file + ", which reserves the ports of tests", e);
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
