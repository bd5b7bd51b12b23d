package io.easykit.trial;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTests {

    @TempDir
    Path directory;

    @Test
    void findsMessagesThatNoProcessReceived() {
        Ledger sender = new Ledger(directory, "a");
        sender.acknowledged("a-1");
        sender.acknowledged("a-2");
        new Ledger(directory, "b").delivered("a-2");

        assertThat(Ledger.read(directory).missing()).containsExactly("a-1");
    }

    @Test
    void countsMessagesThatTwoProcessesReceived() {
        new Ledger(directory, "a").delivered("a-1");
        new Ledger(directory, "b").delivered("a-1");
        new Ledger(directory, "b").delivered("a-2");

        Ledger.Totals totals = Ledger.read(directory);

        assertThat(totals.deliveredTwice()).isEqualTo(1);
        assertThat(totals.deliveries()).isEqualTo(3);
    }

    @Test
    void leavesOutALineThatWasNotFinished() throws IOException {
        new Ledger(directory, "a").acknowledged("a-1");
        Files.writeString(directory.resolve("a.ledger"), "Aa-", US_ASCII, StandardOpenOption.APPEND);

        assertThat(Ledger.read(directory).missing()).containsExactly("a-1");
    }
}
