package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RedisBackendsTests {
    private final Path directory;

    RedisBackendsTests(@TempDir Path directory) {
        this.directory = directory;
    }

    @Test
    void refusesAWordThatItDoesNotKnow() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisBackends.choose("podman", ""))
                .withMessageContaining("podman")
                .withMessageContaining("docker, path, embedded");
    }

    @Test
    void takesAnEmptySettingForNone() {
        assertThat(RedisBackends.setting("", " ")).isNull();
        assertThat(RedisBackends.setting(null, "")).isNull();
        assertThat(RedisBackends.setting("", "path")).isEqualTo("path");
        assertThat(RedisBackends.setting("docker", "path")).isEqualTo("docker");
    }

    @Test
    void namesReasonAndRemediesWhereNothingWorks() {
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisBackends.choose("path", directory.toString()))
                .withMessageContaining("path: no redis-server or valkey-server on the PATH")
                .withMessageContaining("install redis-server 6.2 or later")
                .withMessageContaining("start Docker")
                .withMessageContaining("OpenSSL 3");
    }

    @Test
    void refusesARedisThatIsTooOld() throws IOException {
        program("echo 'Redis server v=5.0.14 sha=00000000:0 bits=64'");

        assertThatIllegalStateException()
                .isThrownBy(() -> RedisBackends.choose("path", "/nowhere" + File.pathSeparator + directory))
                .withMessageContaining("is Redis 5.0, older than 6.2");
    }

    @Test
    void repeatsWhatAProgramSaysThatDoesNotRun() throws IOException {
        program("echo 'libssl.so.3: cannot open shared object file' >&2; exit 127");

        assertThatIllegalStateException()
                .isThrownBy(() -> RedisBackends.choose("path", directory.toString()))
                .withMessageContaining("does not run here: libssl.so.3: cannot open");
    }

    @Test
    void takesAValkeyFromThePathAndAnyProgramByItsName() throws IOException {
        Path program = program("valkey-server", "echo 'Valkey server v=8.1.1 sha=00000000:0 bits=64'");

        assertThat(RedisBackends.choose("path", directory.toString())).isInstanceOf(ProcessBackend.class);
        assertThat(RedisBackends.choose(program.toString(), "")).isInstanceOf(ProcessBackend.class);
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisBackends.choose(directory + "/none", ""))
                .withMessageContaining("EASYKIT_TEST_REDIS")
                .withMessageContaining("/none does not run here");
    }

    private void program(String script) throws IOException {
        program("redis-server", script);
    }

    private Path program(String name, String script) throws IOException {
        Path program = Files.writeString(directory.resolve(name), "#!/bin/sh\n" + script + "\n");
        if (!program.toFile().setExecutable(true)) {
            throw new IOException("Cannot make " + program + " executable");
        }
        return program;
    }
}
