package io.easykit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs a redis-server program of this machine, each server in a separate temporary directory. */
final class ProcessBackend implements RedisBackend {
    private static final String LOOPBACK = "127.0.0.1";

    private final Path program;

    ProcessBackend(Path program) {
        this.program = program;
    }

    @Override
    public Instance prepare(List<String> arguments) {
        return new ProcessInstance(program, Ports.reserve(), arguments);
    }

    @Override
    public Instance prepareSentinel(List<String> arguments) {
        return new SentinelInstance(program, Ports.reserve(), arguments);
    }

    /** A sentinel requires a configuration file to which it can write its state. */
    private static final class SentinelInstance extends ProcessInstance {
        private static final String CONFIGURATION = "sentinel.conf";

        SentinelInstance(Path program, int port, List<String> arguments) {
            super(
                    program,
                    port,
                    List.of(CONFIGURATION),
                    Stream.concat(Stream.of("--sentinel", "--protected-mode", "no"), arguments.stream())
                            .toList());
            try {
                Files.createFile(directory().resolve(CONFIGURATION));
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot create the configuration of a sentinel", e);
            }
        }
    }

    private static class ProcessInstance implements Instance {
        private final Path directory;
        private final int port;
        private final List<String> command;
        private @Nullable OwnedProcess process;

        ProcessInstance(Path program, int port, List<String> arguments) {
            this(program, port, List.of(), arguments);
        }

        /** @param first arguments before all options: the name of a configuration file, or nothing */
        ProcessInstance(Path program, int port, List<String> first, List<String> arguments) {
            this.port = port;
            this.command = new ArrayList<>(under());
            command.add(program.toString());
            command.addAll(first);
            command.addAll(List.of("--bind", LOOPBACK));
            command.addAll(
                    TlsCertificate.isUsedBy(arguments)
                            ? List.of("--port", "0", "--tls-port", String.valueOf(port))
                            : List.of("--port", String.valueOf(port)));
            command.addAll(arguments);
            try {
                this.directory = Files.createTempDirectory("easykit-redis-");
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot create a directory for Redis", e);
            }
        }

        private static List<String> under() {
            String command = System.getProperty(RedisServer.UNDER, "").strip();
            return command.isEmpty() ? List.of() : List.of(command.split(" +"));
        }

        @Override
        public String host() {
            return LOOPBACK;
        }

        @Override
        public int port() {
            return port;
        }

        @Override
        public void start() {
            process = OwnedProcess.startIn(
                    directory,
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(logFile().toFile()));
        }

        @Override
        public void kill() {
            process().kill();
        }

        @Override
        public void pause() {
            process().pause();
        }

        @Override
        public void resume() {
            process().resume();
        }

        @Override
        public boolean isRunning() {
            return process != null && process.isAlive();
        }

        @Override
        public boolean owns(Map<String, String> serverInfo) {
            return String.valueOf(process().pid()).equals(serverInfo.get("process_id"));
        }

        @Override
        public String log() {
            try {
                return Files.exists(logFile()) ? Files.readString(logFile()) : "";
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot read the output of Redis", e);
            }
        }

        @Override
        public void close() {
            if (process != null) {
                process.kill();
            }
            if (!Files.exists(directory)) {
                return;
            }
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot delete " + directory, e);
            }
        }

        final Path directory() {
            return directory;
        }

        private Path logFile() {
            return directory.resolve("redis.log");
        }

        private OwnedProcess process() {
            if (process == null) {
                throw new IllegalStateException("Redis on port " + port + " was never started");
            }
            return process;
        }
    }
}
