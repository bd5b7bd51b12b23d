package io.easykit.cache.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rounds of a minute, each with its own seed, printed. {@code -Deasykit.history.minutes} changes the duration of each
 * topology (10), {@code -Deasykit.history.seed} the first seed, {@code -Deasykit.history.only} the topology, and
 * {@code -Deasykit.history.faults} the faults (part of a name).
 */
@Tag("heavy")
class LongHistoryTests {

    static final String SEED = "easykit.history.seed";

    private static final int MINUTES = Integer.getInteger("easykit.history.minutes", 10);
    private static final String ONLY = System.getProperty("easykit.history.only", "");
    private static final String FAULTS = System.getProperty("easykit.history.faults", "");
    private static final int NODES = 3;

    @TempDir
    Path directory;

    enum Topology {
        SINGLE,
        SENTINEL;

        Servers start() {
            return this == SINGLE ? new SingleServer(NODES) : new SentinelServers();
        }
    }

    @ParameterizedTest
    @EnumSource
    void severalProcessesKeepThePromisesThroughRandomFaults(Topology topology) throws IOException {
        List<String> violations = new ArrayList<>();
        long first = Long.getLong(SEED, System.currentTimeMillis() / 1_000);
        for (int i = 0; i < MINUTES && topology.name().contains(ONLY); i++) {
            violations.addAll(round(topology, first + i));
        }
        assertThat(violations).isEmpty();
    }

    private List<String> round(Topology topology, long seed) throws IOException {
        Path ours = Files.createDirectory(directory.resolve(topology + "-" + seed));
        try (HistoryRun run = new HistoryRun(ours, NODES, topology.start(), Weakening.NONE, seed)) {
            run.suffer(Duration.ofSeconds(50), FAULTS);
            Verdict verdict = run.finish();
            System.out.println(topology + ", seed " + seed + ": " + verdict.summary() + "; " + run.faults());
            verdict.findings().admitted().stream().limit(3).forEach(one -> System.out.println("  admitted: " + one));
            if (!verdict.findings().violations().isEmpty()) {
                verdict.findings().violations().stream().limit(20).forEach(System.out::println);
                System.out.println(run.log());
            }
            return verdict.findings().violations();
        }
    }
}
