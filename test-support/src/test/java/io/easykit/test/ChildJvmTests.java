package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ChildJvmTests {
    private static final Duration PATIENT = Duration.ofSeconds(30);
    private static final Duration IMPATIENT = Duration.ofMillis(200);

    @Test
    void showsWhatTheChildPrintsAndHowItEnds() {
        try (ChildJvm child = ChildJvm.start(Chatter.class, "exit", "3")) {
            assertThat(child.awaitLine(line -> line.endsWith("3"), PATIENT)).isEqualTo("argument 3");
            assertThat(child.waitFor(PATIENT)).isEqualTo(3);
            assertThat(child.lines()).containsExactly("argument exit", "argument 3");
        }
    }

    @Test
    void killLeavesNoTimeForShutdownHooks() {
        try (ChildJvm child = ChildJvm.start(Chatter.class)) {
            portOf(child);

            child.kill();

            assertThat(child.isAlive()).isFalse();
            assertThat(child.waitFor(PATIENT)).isEqualTo(128 + 9);
            assertThatIllegalStateException()
                    .isThrownBy(() -> child.awaitLine("bye"::equals, PATIENT))
                    .withMessageContaining("ended without the expected line");
        }
    }

    @Test
    void terminateRunsShutdownHooks() {
        try (ChildJvm child = ChildJvm.start(Chatter.class)) {
            portOf(child);

            child.terminate();

            child.awaitLine("bye"::equals, PATIENT);
            assertThat(child.waitFor(PATIENT)).isEqualTo(128 + 15);
        }
    }

    @Test
    void pausedChildAnswersNothingUntilItIsResumed() throws IOException {
        try (ChildJvm child = ChildJvm.start(Chatter.class)) {
            int port = portOf(child);
            child.pause();
            assertThat(child.isAlive()).isTrue();
            assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> ask(port, IMPATIENT));

            child.resume();

            assertThat(ask(port, PATIENT)).isEqualTo(42);
        }
    }

    @Test
    void waitingForALineEndsInTimeAndShowsWhatWasPrinted() {
        try (ChildJvm child = ChildJvm.start(Chatter.class)) {
            portOf(child);

            assertThatIllegalStateException()
                    .isThrownBy(() -> child.awaitLine("never"::equals, IMPATIENT))
                    .withMessageContaining("without the expected line")
                    .withMessageContaining("port ");
        }
    }

    private static int portOf(ChildJvm child) {
        return Integer.parseInt(
                child.awaitLine(line -> line.startsWith("port "), PATIENT).substring("port ".length()));
    }

    private static int ask(int port, Duration timeout) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) timeout.toMillis());
            return socket.getInputStream().read();
        }
    }
}
