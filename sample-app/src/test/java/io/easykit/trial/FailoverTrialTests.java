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
    private static final long AGAIN_WITHIN_MILLIS = 20_000;

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
                List<String> found = violations(trial, fault);
                // A replica that gets no CPU has not read all that its master sent, and loses the rest if that is
                // killed; calls to healthy masters end at the command timeout. Both happen on a busy machine, and
                // hardly twice.
                wrong.addAll(found.isEmpty() ? found : violations(trial, fault));
            }
        }
        return wrong;
    }

    private static List<String> violations(Trial trial, Fault fault) {
        Report report = new Report(trial.topology().toString(), fault, trial.run(fault, 1));
        return report.faults(Report.lossByLag(trial.topology().shares(), fault, 1), AGAIN_WITHIN_MILLIS).stream()
                .map(one -> fault + ": " + one + " " + report)
                .toList();
    }
}
