package io.easykit.sample.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis process that lives as long as the shop and writes everything to its append-only file.
 *
 * <p>It runs as a daemon, out of reach of the terminal's Ctrl-C, so that the shop can stop first. A shop that was killed
 * leaves its Redis behind. The next one finds it by the file with its process id and ends it, or two of them would write
 * one file. A lock keeps a second shop from doing this to a living one.
 */
final class EmbeddedRedis implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(EmbeddedRedis.class);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final ProcessHandle process;
    private final FileChannel lock;
    private final int port;

    private EmbeddedRedis(ProcessHandle process, FileChannel lock, int port) {
        this.process = process;
        this.lock = lock;
        this.port = port;
    }

    /**
     * @throws IllegalStateException if another shop uses the directory, or the binary does not run on this machine
     */
    static EmbeddedRedis start(Path directory) throws IOException, InterruptedException {
        Path home = Files.createDirectories(directory).toAbsolutePath().normalize();
        FileChannel lock = lock(home);
        Path pidFile = home.resolve("redis.pid");
        running(pidFile).ifPresent(process -> {
            log.info("Ending the Redis (process {}) that a killed shop left behind", process.pid());
            end(process);
        });
        Files.deleteIfExists(pidFile);
        int port = freePort();
        Process launcher = new ProcessBuilder(command(home, pidFile, port))
                .redirectErrorStream(true)
                .redirectOutput(home.resolve("redis.out").toFile())
                .start();
        if (launcher.waitFor() != 0 || !answersInTime(port)) {
            lock.close();
            throw new IllegalStateException("The embedded Redis does not run on this machine (see "
                    + home.resolve("redis.log")
                    + " and redis.out beside it). Start a Redis of your own and name it with"
                    + " --spring.data.redis.host and --spring.data.redis.port.");
        }
        log.info("Embedded Redis on port {}, data in {}", port, home);
        return new EmbeddedRedis(running(pidFile).orElseThrow(), lock, port);
    }

    int port() {
        return port;
    }

    @Override
    public void close() throws IOException {
        end(process);
        lock.close();
    }

    private static List<String> command(Path home, Path pidFile, int port) throws IOException {
        String program = ExecutableProvider.newJarResourceProvider().get().getPath();
        Map<String, String> settings = Map.of(
                "port", Integer.toString(port),
                "bind", "127.0.0.1",
                "daemonize", "yes",
                "dir", home.toString(),
                "pidfile", pidFile.toString(),
                "logfile", home.resolve("redis.log").toString(),
                "save", "",
                "appendonly", "yes",
                "appendfsync", "always",
                "maxmemory-policy", "noeviction");
        List<String> command = new ArrayList<>(List.of(program));
        settings.forEach((name, value) -> command.addAll(List.of("--" + name, value)));
        return command;
    }

    private static FileChannel lock(Path home) throws IOException {
        FileChannel channel =
                FileChannel.open(home.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock();
        if (lock == null) {
            channel.close();
            throw new IllegalStateException(
                    "Another shop runs on " + home + ". Stop it, or choose another --shop.data-dir.");
        }
        return channel;
    }

    private static Optional<ProcessHandle> running(Path pidFile) throws IOException {
        if (!Files.exists(pidFile)) {
            return Optional.empty();
        }
        long pid = Long.parseLong(Files.readString(pidFile).trim());
        return ProcessHandle.of(pid)
                .filter(process -> process.info().command().orElse("").contains("redis-server"));
    }

    private static void end(ProcessHandle process) {
        process.destroy();
        process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static boolean answersInTime(int port) throws InterruptedException {
        for (Instant end = Instant.now().plus(PATIENCE); Instant.now().isBefore(end); ) {
            if (answers(port)) {
                return true;
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return false;
    }

    /** While it reads its file, Redis answers with an error. */
    private static boolean answers(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(1000);
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
            return socket.getInputStream().read() == '+';
        } catch (IOException notYet) {
            return false;
        }
    }
}
