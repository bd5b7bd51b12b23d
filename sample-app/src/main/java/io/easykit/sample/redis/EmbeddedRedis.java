package io.easykit.sample.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Redis process that lives as long as the shop and writes everything to its append-only file.
 *
 * <p>It runs as a daemon, which does not receive Ctrl-C from the terminal, so that the shop can stop first. A killed
 * shop leaves its Redis running. The next shop ends it, because two servers would write the same file. A lock keeps a
 * second shop from ending the Redis of a running one.
 *
 * <p>Process ids and ports are re-used, so they do not identify the process. A Redis left behind is identified by the
 * password of its last start and by its configuration file. See {@link OwnRedis}.
 */
final class EmbeddedRedis implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(EmbeddedRedis.class);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Files created by Redis follow its umask. */
    private static final List<String> FOR_OWNER_ONLY = List.of("/bin/sh", "-c", "umask 077; exec \"$0\" \"$@\"");

    private final RedisFiles files;
    private final RedisFiles.Start start;
    private final FileChannel lock;
    private ProcessHandle process;

    private EmbeddedRedis(RedisFiles files, RedisFiles.Start start, FileChannel lock, ProcessHandle process) {
        this.files = files;
        this.start = start;
        this.lock = lock;
        this.process = process;
    }

    /** @throws IllegalStateException if another shop uses the directory, or the binary does not run on this machine */
    static EmbeddedRedis start(Path directory) throws IOException, InterruptedException {
        RedisFiles files = RedisFiles.in(directory);
        FileChannel lock = lock(files);
        try {
            files.lastStart().flatMap(OwnRedis::find).ifPresent(process -> {
                log.info("Ending the Redis (process {}) left behind by a killed shop", process.pid());
                end(process);
            });
            RedisFiles.Start start = files.prepare(freePort(), newPassword());
            ProcessHandle process = launch(files, start);
            log.info("Embedded Redis on port {}, data in {}", start.port(), files.directory());
            return new EmbeddedRedis(files, start, lock, process);
        } catch (IOException | InterruptedException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    int port() {
        return start.port();
    }

    String password() {
        return start.password();
    }

    synchronized boolean isRunning() {
        return process.isAlive();
    }

    /** Ends the process. Its data stay. */
    synchronized void turnOff() {
        end(process);
    }

    /** Starts the process again, on the same port and with its data, unless it runs. */
    synchronized void turnOn() throws IOException, InterruptedException {
        if (!process.isAlive()) {
            process = launch(files, start);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        end(process);
        lock.close();
    }

    private static ProcessHandle launch(RedisFiles files, RedisFiles.Start start)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(FOR_OWNER_ONLY);
        command.addAll(
                List.of(files.unpackProgram().toString(), start.configuration().toString()));
        int result = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(files.output().toFile())
                .start()
                .waitFor();
        return Optional.of(start)
                .filter(any -> result == 0)
                .flatMap(EmbeddedRedis::awaitAnswer)
                .orElseThrow(() -> new IllegalStateException("The embedded Redis does not run on this machine (see "
                        + files.log() + " and " + files.output() + "). Start a Redis yourself, and set"
                        + " --spring.data.redis.host and --spring.data.redis.port."));
    }

    private static Optional<ProcessHandle> awaitAnswer(RedisFiles.Start start) {
        for (Instant end = Instant.now().plus(PATIENCE); Instant.now().isBefore(end); ) {
            Optional<ProcessHandle> found = OwnRedis.findReady(start);
            if (found.isPresent()) {
                return found;
            }
            pause();
        }
        return Optional.empty();
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(20);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while the embedded Redis starts", stop);
        }
    }

    private static FileChannel lock(RedisFiles files) throws IOException {
        FileChannel channel = files.openLock();
        FileLock lock = channel.tryLock();
        if (lock == null) {
            channel.close();
            throw new IllegalStateException("Another shop is running on " + files.directory()
                    + ". Stop it, or choose another" + " --shop.data-dir.");
        }
        return channel;
    }

    /** The handle includes the start time, so a later process with the same id is never ended. */
    private static void end(ProcessHandle process) {
        process.destroy();
        try {
            process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        } catch (CompletionException hangs) {
            log.warn("The embedded Redis (process {}) did not shut down in time and is killed", process.pid());
            process.destroyForcibly();
            process.onExit().join();
        }
    }

    private static String newPassword() {
        byte[] bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
