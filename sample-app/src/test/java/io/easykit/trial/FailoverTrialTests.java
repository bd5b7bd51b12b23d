package io.easykit.trial;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.trial.Trial.Pace;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A small version of {@link TopologyTrialTests}. Both topologies run at the same time, because they mostly wait. */
class FailoverTrialTests {

    /** Allows for a busy machine. */
    private static final long AGAIN_WITHIN_MILLIS = 8_000;

    @Test
    void keepsItsPromisesWithSentinelAndWithACluster() {
        CompletableFuture<List<String>> cluster =
                CompletableFuture.supplyAsync(() -> faults(ClusterTopology::new, Fault.KILL));
        List<String> sentinel = faults(SentinelTopology::new, Fault.KILL, Fault.PAUSE);

        assertThat(sentinel).isEmpty();
        assertThat(cluster.join()).isEmpty();
    }

    private static List<String> faults(Supplier<Topology> start, Fault... faults) {
        List<String> wrong = new ArrayList<>();
        try (Trial trial = new Trial(start.get(), Pace.SHORT)) {
            for (Fault fault : faults) {
                Report report = new Report(trial.topology().toString(), fault, trial.run(fault, 1));
                report.faults(Report.lossByLag(trial.topology(), fault, 1), AGAIN_WITHIN_MILLIS)
                        .forEach(one -> wrong.add(fault + ": " + one + " " + report));
            }
        }
        return wrong;
    }
}
