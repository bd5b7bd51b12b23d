package io.easykit.cache.history;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file is read as the process left it that wrote it, whole or not. */
class RecorderTests {

    @TempDir
    Path directory;

    private Recorder recorder;

    @BeforeEach
    void open() {
        recorder = new Recorder(directory, "a");
    }

    @AfterEach
    void close() {
        recorder.close();
    }

    @Test
    void readsAreThereAtOnce() {
        recorder.read("k", false, 1, 2, 3);
        recorder.read("k", true, 4, 5, 6);

        assertThat(History.read(directory).reads())
                .containsExactly(new Read("k", "a", false, 1, 2, 3), new Read("k", "a", true, 4, 5, 6));
    }

    @Test
    void anUpdateThatReturnedHasAnEnd() {
        long call = recorder.updateBegins("k");
        recorder.updateCommits(call, 7);
        recorder.updateReturned(call);

        assertThat(History.read(directory).updates()).singleElement().satisfies(update -> {
            assertThat(update.isAcknowledged()).isTrue();
            assertThat(update.version()).isEqualTo(7);
            assertThat(update.began()).isLessThanOrEqualTo(update.ended());
        });
    }

    @Test
    void anUpdateThatMayHaveCommittedIsOfUnknownOutcome() {
        recorder.updateCommits(recorder.updateBegins("k"), 7);

        assertThat(History.read(directory).updates())
                .singleElement()
                .satisfies(update -> assertThat(update.isAcknowledged()).isFalse());
    }

    @Test
    void anUpdateThatNeverGotToItsCommitHasNoEffect() {
        recorder.updateBegins("k");

        assertThat(History.read(directory).updates()).isEmpty();
    }

    @Test
    void aLineThatWasNotFinishedIsLeftOut() throws IOException {
        recorder.read("k", false, 1, 2, 3);
        Files.writeString(directory.resolve("a" + Recorder.SUFFIX), "R k 4 5", US_ASCII, StandardOpenOption.APPEND);

        assertThat(History.read(directory).reads()).hasSize(1);
    }

    @Test
    void failedCallsToRedisAreAnOutageUntilTheNodeHasRecovered() {
        recorder.storeFailed(1_000, 2_000);

        Outages outages = History.read(directory).outages();

        assertThat(outages.touch(1, 999)).isFalse();
        assertThat(outages.touch(3_000_000_000L, 3_000_000_001L)).isTrue();
        assertThat(outages.touch(5_000_000_000L, 5_000_000_001L)).isFalse();
    }
}
