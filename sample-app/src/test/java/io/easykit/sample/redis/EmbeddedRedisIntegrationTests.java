package io.easykit.sample.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.redis.ServerCheck;
import io.easykit.test.RawRedis;
import io.easykit.test.RawRedis.RedisError;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class EmbeddedRedisIntegrationTests {

    @TempDir
    static Path running;

    private static EmbeddedRedis embedded;

    @TempDir
    Path directory;

    @BeforeAll
    static void start() throws Exception {
        embedded = EmbeddedRedis.start(running);
    }

    @AfterAll
    static void stop() throws IOException {
        embedded.close();
    }

    @Test
    void endsWithTheShopAlsoWhenItsDirectoryWasCleared() throws Exception {
        EmbeddedRedis redis = EmbeddedRedis.start(directory);
        new Socket(InetAddress.getLoopbackAddress(), redis.port()).close();
        assertThat(Files.deleteIfExists(directory.resolve("redis.pid"))).isTrue();
        assertThat(Files.deleteIfExists(directory.resolve("redis.conf"))).isTrue();

        redis.close();

        assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), redis.port()))
                .isInstanceOf(ConnectException.class);
    }

    /** The port and the process id of the last start now belong to another program, with a password or without. */
    @ParameterizedTest
    @ValueSource(strings = {"", "secret"})
    void neverEndsARedisOfSomebodyElse(String password) throws Exception {
        String[] arguments = password.isEmpty() ? new String[0] : new String[] {"--requirepass", password};
        try (RedisServer stranger = RedisServer.start(arguments)) {
            long pid = processOf(stranger);
            seedLastStart(stranger.port(), pid);

            EmbeddedRedis.start(directory).close();

            assertThat(ProcessHandle.of(pid)).isPresent();
            assertThat(stranger.isRunning()).isTrue();
        }
    }

    @Test
    void neverEndsAnotherProcessWithAStalePid() throws Exception {
        Process stranger = new ProcessBuilder("sleep", "600").start();
        try {
            seedLastStart(1, stranger.pid());

            EmbeddedRedis.start(directory).close();

            assertThat(stranger.isAlive()).isTrue();
        } finally {
            stranger.destroyForcibly();
        }
    }

    @Test
    void startsBesideAStrangerThatSpeaksAnotherProtocol() throws Exception {
        try (ServerSocket stranger = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            seedLastStart(stranger.getLocalPort(), 1);
            Thread answers = new Thread(() -> {
                try (Socket socket = stranger.accept()) {
                    socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            answers.start();

            EmbeddedRedis.start(directory).close();
            answers.join();
        }
    }

    @Test
    void asksForAPasswordAndForbidsWhatReachesBeyondItsData() throws Exception {
        try (RawRedis redis = RawRedis.connect("127.0.0.1", embedded.port(), Duration.ofSeconds(5))) {
            assertThatThrownBy(() -> redis.command("KEYS", "*")).hasMessageContaining("NOAUTH");
            redis.command("AUTH", embedded.password());
            for (String command : List.of("CONFIG", "DEBUG", "MODULE", "REPLICAOF", "SHUTDOWN")) {
                assertThatThrownBy(() -> redis.command(command, "HELP"))
                        .isInstanceOf(RedisError.class)
                        .hasMessageContaining("unknown command");
            }
        }
    }

    @Test
    void passesTheChecksOfTheQueueAllTheSame() {
        RedisStandaloneConfiguration place = new RedisStandaloneConfiguration("127.0.0.1", embedded.port());
        place.setPassword(embedded.password());
        LettuceConnectionFactory connections = new LettuceConnectionFactory(place);
        connections.afterPropertiesSet();
        connections.start();
        try {
            ServerCheck.Report report = ServerCheck.of(connections);
            assertThat(report.warnings()).isEmpty();
            assertThat(report.details()).containsEntry("persistence", "aof");
        } finally {
            connections.destroy();
        }
    }

    @Test
    void keepsItsFilesAndItsPasswordFromOthers() throws Exception {
        try (RawRedis redis = RawRedis.connect("127.0.0.1", embedded.port(), Duration.ofSeconds(5));
                Stream<Path> files = Files.walk(running)) {
            redis.command("AUTH", embedded.password());
            redis.command("SET", "a", "b");
            redis.command("BGREWRITEAOF");

            assertThat(files.filter(file -> !ownersOnly(file))).isEmpty();
            assertThat(ProcessHandle.allProcesses()
                            .map(process -> process.info().commandLine().orElse("")))
                    .noneMatch(line -> line.contains(embedded.password()));
        }
    }

    /** Otherwise each killed shop would leave a copy of 9 MB in the temporary directory. */
    @Test
    void unpacksItsBinaryBesideItsData() throws IOException {
        try (RawRedis redis = RawRedis.connect("127.0.0.1", embedded.port(), Duration.ofSeconds(5))) {
            redis.command("AUTH", embedded.password());

            assertThat(Path.of(redis.info("server").get("executable"))).hasParent(running.toRealPath());
        }
    }

    private static boolean ownersOnly(Path file) {
        try {
            return Set.of(
                            PosixFilePermission.OWNER_READ,
                            PosixFilePermission.OWNER_WRITE,
                            PosixFilePermission.OWNER_EXECUTE)
                    .containsAll(Files.getPosixFilePermissions(file));
        } catch (IOException gone) {
            return !Files.exists(file);
        }
    }

    private static long processOf(RedisServer server) {
        try (RawRedis redis = server.connect()) {
            return Long.parseLong(redis.info("server").get("process_id"));
        }
    }

    /** The files of a start of the past. */
    private void seedLastStart(int port, long pid) throws IOException {
        RedisFiles.in(directory).prepare(port, "the password of that start");
        Files.writeString(directory.resolve("redis.pid"), Long.toString(pid));
    }
}
