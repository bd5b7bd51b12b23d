package io.easykit.sample.redis;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import redis.embedded.core.ExecutableProvider;

/**
 * The files of the embedded Redis, readable by their owner only.
 *
 * @param directory absolute path, to compare with the path that Redis reports
 */
record RedisFiles(Path directory) {

    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private static final FileAttribute<?>[] FOR_OWNER_ONLY = POSIX
            ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
            }
            : new FileAttribute<?>[0];

    private static final List<String> FORBIDDEN =
            List.of("CONFIG", "DEBUG", "MODULE", "REPLICAOF", "SLAVEOF", "MIGRATE", "SHUTDOWN");

    /**
     * A start of Redis.
     *
     * @param password a new one for each start
     */
    record Start(Path configuration, int port, String password) {}

    static RedisFiles in(Path directory) throws IOException {
        Path absolute = Files.createDirectories(directory).toRealPath();
        restrict(absolute);
        return new RedisFiles(absolute);
    }

    FileChannel openLock() throws IOException {
        return FileChannel.open(
                directory.resolve("lock"), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), FOR_OWNER_ONLY);
    }

    Path log() {
        return directory.resolve("redis.log");
    }

    /** Output of the program before it opens its log file. */
    Path output() {
        return directory.resolve("redis.out");
    }

    /** Unpacks the binary into the data directory: a temporary directory would keep 9 MB for each killed shop. */
    Path unpackProgram() throws IOException {
        Path program = ExecutableProvider.newJarResourceProvider(directory.toFile())
                .get()
                .toPath();
        restrict(program);
        return program;
    }

    /** Returns the last start in this directory, if its configuration can be read. */
    Optional<Start> lastStart() throws IOException {
        if (!Files.exists(configuration())) {
            return Optional.empty();
        }
        List<String> lines = Files.readAllLines(configuration());
        Optional<Integer> port =
                setting(lines, "port").filter(text -> text.matches("\\d{1,5}")).map(Integer::valueOf);
        Optional<String> password = setting(lines, "requirepass");
        return port.isPresent() && password.isPresent()
                ? Optional.of(new Start(configuration(), port.get(), password.get()))
                : Optional.empty();
    }

    /** Writes the configuration of the next start. The password is in it, because a command line is visible in {@code ps}. */
    Start prepare(int port, String password) throws IOException {
        StringBuilder text = new StringBuilder();
        setting(text, "port", Integer.toString(port));
        setting(text, "requirepass", password);
        setting(text, "bind", "127.0.0.1");
        setting(text, "daemonize", "yes");
        setting(text, "dir", directory.toString());
        setting(text, "pidfile", directory.resolve("redis.pid").toString());
        setting(text, "logfile", log().toString());
        setting(text, "save", "");
        setting(text, "appendonly", "yes");
        setting(text, "appendfsync", "always");
        setting(text, "maxmemory-policy", "noeviction");
        FORBIDDEN.forEach(
                command -> text.append("rename-command ").append(command).append(" \"\"\n"));
        for (Path file : List.of(configuration(), log(), output())) {
            Files.deleteIfExists(file);
            Files.createFile(file, FOR_OWNER_ONLY);
        }
        Files.writeString(configuration(), text);
        return new Start(configuration(), port, password);
    }

    private Path configuration() {
        return directory.resolve("redis.conf");
    }

    private static void restrict(Path path) throws IOException {
        if (POSIX) {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        }
    }

    private static void setting(StringBuilder text, String name, String value) {
        text.append(name)
                .append(" \"")
                .append(value.replace("\\", "\\\\").replace("\"", "\\\""))
                .append("\"\n");
    }

    private static Optional<String> setting(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name + " \"") && line.endsWith("\""))
                .map(line -> line.substring(name.length() + 2, line.length() - 1))
                .findFirst();
    }
}
