package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DockerTracesTests {

    @TempDir
    Path root;

    @BeforeEach
    void likeLinux() throws IOException {
        Files.createDirectory(root.resolve("proc"));
    }

    @Test
    void aMachineWithoutAnyHasNoEngine() {
        assertThat(traces(Map.of("PATH", "/usr/bin")).any()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "var/run/docker.sock",
                "run/docker.sock",
                "home/.docker/run/docker.sock",
                "home/.docker/desktop/docker.sock",
                "home/.testcontainers.properties",
                "run/user/1000/docker.sock"
            })
    void aSocketOrASettingIsOne(String file) throws IOException {
        Path trace = root.resolve(file);
        Files.createDirectories(trace.getParent());
        Files.createFile(trace);

        assertThat(traces(Map.of(
                                "XDG_RUNTIME_DIR", root.resolve("run/user/1000").toString()))
                        .any())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"DOCKER_HOST", "DOCKER_CONTEXT", "TESTCONTAINERS_HOST_OVERRIDE"})
    void aVariableIsOne(String variable) {
        assertThat(traces(Map.of(variable, "any")).any()).isTrue();
    }

    @Test
    void anotherSystemMayHaveOne() throws IOException {
        Files.delete(root.resolve("proc"));
        assertThat(traces(Map.of()).any()).isTrue();
    }

    private DockerTraces traces(Map<String, String> environment) {
        return new DockerTraces(environment, root.resolve("home"), root);
    }
}
