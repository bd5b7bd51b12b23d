package io.easykit.trial;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.trial.Trial.Pace;
import io.easykit.trial.Trial.Sabotage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The trial fails if something is broken on purpose. */
@Tag("heavy")
class SabotagedTrialTests {

    @Test
    void noticesServersThatHaveLostTheirData() {
        Sabotage emptied = (ours, outage) -> {
            ours.topology().onEachServer("CONFIG", "SET", "replica-read-only", "no");
            ours.topology().onEachServer("FLUSHALL");
        };
        try (Trial trial = new Trial(new SentinelTopology(), Pace.SHORT)) {
            assertThat(trial.run(Fault.KILL, Sabotage.NONE).lost()).isZero();

            assertThat(trial.run(Fault.KILL, emptied).lost()).isPositive();
        }
    }

    @Test
    void noticesUpdatesThatAreNotInvalidated() {
        Sabotage silentUpdate = (ours, outage) -> ours.keys().cp(0).forEach(entry -> {
            long version = ours.nodes().get(0).entries().raiseSilently(TrialNode.CP, entry.getKey());
            entry.getValue().returned(version, System.nanoTime());
        });
        try (Trial trial = new Trial(new ManagedTopology(), Pace.SHORT)) {
            assertThat(trial.run(Fault.VANISH, silentUpdate).cpStale()).isPositive();
        }
    }

    @Test
    void noticesAClusterThatServesNothingWhileAPartOfItIsAway() {
        try (Trial trial = new Trial(new ClusterTopology("--cluster-require-full-coverage", "yes"), Pace.SHORT)) {
            assertThat(trial.run(Fault.KILL, Sabotage.NONE).healthyFailed()).isPositive();
        }
    }
}
