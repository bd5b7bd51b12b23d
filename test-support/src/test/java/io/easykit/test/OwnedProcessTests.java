package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnedProcessTests {
    private static final Duration PATIENT = Duration.ofSeconds(30);

    @Test
    void processAndItsDirectoryGoWithAJvmThatIsKilled(@TempDir Path parent) throws IOException {
        Path directory = Files.createDirectory(parent.resolve("of the process"));
        try (ChildJvm child = ChildJvm.start(Owner.class, directory.toString())) {
            child.awaitLine("started"::equals, PATIENT);

            child.kill();

            // The process has inherited the output, so the output ends when both have ended.
            assertThatIllegalStateException()
                    .isThrownBy(() -> child.awaitLine("never"::equals, PATIENT))
                    .withMessageContaining("ended without");
            await().untilAsserted(() -> assertThat(directory).doesNotExist());
        }
    }

    @Test
    void refusesSignalsToAProcessThatIsGone() {
        OwnedProcess process = OwnedProcess.start(endless());
        process.kill();

        assertThat(process.isAlive()).isFalse();
        assertThatIllegalStateException().isThrownBy(process::pause).withMessageContaining("SIGSTOP");
    }

    @Test
    void saysThatAProcessStillRuns() {
        OwnedProcess process = OwnedProcess.start(endless());
        try {
            assertThatIllegalStateException()
                    .isThrownBy(() -> process.waitFor(Duration.ofMillis(1)))
                    .withMessageContaining("is still running");
        } finally {
            process.kill();
        }
    }

    private static ProcessBuilder endless() {
        return new ProcessBuilder("tail", "-f", "/dev/null");
    }

    /** A JVM with a child process that never ends. */
    static final class Owner {
        private Owner() {}

        public static void main(String[] arguments) {
            OwnedProcess process = OwnedProcess.startIn(
                    Path.of(arguments[0]), endless().redirectOutput(ProcessBuilder.Redirect.INHERIT));
            System.out.println("started");
            process.waitFor(Duration.ofHours(1));
        }
    }
}
