package io.easykit.test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Tells whether a machine may have a Docker engine. Testcontainers loads much code to find out that there is none, in each
 * JVM of a build; the places where it looks are known without it.
 */
final class DockerTraces {

    private static final String SOCKET = "docker.sock";

    private final Map<String, String> environment;
    private final Path home;
    private final Path root;

    /**
     * @param home directory of the user
     * @param root of the file system
     */
    DockerTraces(Map<String, String> environment, Path home, Path root) {
        this.environment = environment;
        this.home = home;
        this.root = root;
    }

    static DockerTraces ofThisMachine() {
        return new DockerTraces(System.getenv(), Path.of(System.getProperty("user.home")), Path.of("/"));
    }

    /** Always true where the engine listens elsewhere than on a socket of Unix. */
    boolean any() {
        return !Files.isDirectory(root.resolve("proc"))
                || environment.keySet().stream().anyMatch(DockerTraces::isOfDocker)
                || Files.exists(home.resolve(".testcontainers.properties"))
                || sockets().anyMatch(Files::exists);
    }

    private static boolean isOfDocker(String variable) {
        return variable.startsWith("DOCKER_") || variable.startsWith("TESTCONTAINERS_");
    }

    private Stream<Path> sockets() {
        Path ofUser = Path.of(environment.getOrDefault("XDG_RUNTIME_DIR", home.toString()));
        return Stream.of(
                        root.resolve("var/run"),
                        root.resolve("run"),
                        home.resolve(".docker/run"),
                        home.resolve(".docker/desktop"),
                        ofUser)
                .map(directory -> directory.resolve(SOCKET));
    }
}
