package io.easykit.trial;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.trial.Trial.Pace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every topology with each of its faults, ten rounds each. {@code -Deasykit.trial.rounds} and
 * {@code -Deasykit.trial.only} (part of a name) change that. Prints a table.
 */
@Tag("heavy")
class TopologyTrialTests {

    private static final int ROUNDS = Integer.getInteger("easykit.trial.rounds", 10);
    private static final String ONLY = System.getProperty("easykit.trial.only", "");
    private static final long AGAIN_WITHIN_MILLIS = Long.getLong("easykit.trial.again-within", 3_000);

    /** A lower p99 depends more on the machine than on Redis. */
    private static final long P99_FLOOR_MICROS = 20_000;

    /** Each send waits for both replicas. A send that they do not confirm is stored, but may be lost. */
    private static final List<String> ALL_REPLICAS =
            List.of("--delay-queue.defaults.wait-for-replicas=2", "--delay-queue.defaults.replica-timeout=200ms");

    private static final List<String> ROWS = new ArrayList<>();

    static List<Arguments> topologies() {
        return Stream.of(
                        topology(
                                "one address",
                                ManagedTopology::new,
                                Fault.DEMOTE,
                                Fault.KILL,
                                Fault.PAUSE,
                                Fault.VANISH,
                                Fault.RESTART),
                        topology("Sentinel", SentinelTopology::new, Fault.KILL, Fault.PAUSE, Fault.DEMOTE),
                        topology(
                                "Sentinel, min-replicas-to-write 1",
                                () -> new SentinelTopology("--min-replicas-to-write", "1"),
                                Fault.KILL,
                                Fault.PAUSE),
                        topology(
                                "Sentinel, all replicas", SentinelTopology::new, ALL_REPLICAS, Fault.KILL, Fault.PAUSE),
                        topology(
                                "Cluster",
                                ClusterTopology::new,
                                Fault.KILL,
                                Fault.PAUSE,
                                Fault.DEMOTE,
                                Fault.RESTART,
                                Fault.SLOT_MOVES,
                                Fault.PARTLY_DEAD),
                        topology("secured address", () -> new SecuredTopology(ManagedTopology::new), Fault.DEMOTE),
                        topology(
                                "secured Sentinel",
                                () -> new SecuredTopology(SentinelTopology::new),
                                Fault.KILL,
                                Fault.PAUSE),
                        topology(
                                "secured Cluster",
                                () -> new SecuredTopology(ClusterTopology::new),
                                Fault.KILL,
                                Fault.PAUSE))
                .filter(one -> one.get()[0].toString().contains(ONLY))
                .toList();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("topologies")
    void keepsItsPromises(String name, Supplier<Topology> start, List<String> settings, List<Fault> faults) {
        List<String> wrong = new ArrayList<>();
        try (Trial trial = new Trial(start.get(), Pace.FULL, settings.toArray(String[]::new))) {
            for (Fault fault : faults) {
                Report report = new Report(name, fault, trial.run(fault, ROUNDS));
                ROWS.add(report.row());
                System.out.println(report.row());
                report.faults(allowedLoss(trial.topology(), settings, fault), AGAIN_WITHIN_MILLIS)
                        .forEach(one -> wrong.add(name + ", " + fault + ": " + one));
                if (report.isHealthyPartSlow(P99_FLOOR_MICROS)) {
                    wrong.add(name + ", " + fault + ": the healthy part became slow");
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    private static int allowedLoss(Topology topology, List<String> settings, Fault fault) {
        return settings.equals(ALL_REPLICAS) ? 0 : Report.lossByLag(topology.shares(), fault, ROUNDS);
    }

    @AfterAll
    static void print() {
        System.out.println(Report.HEADER);
        ROWS.forEach(System.out::println);
    }

    private static Arguments topology(String name, Supplier<Topology> start, Fault... faults) {
        return topology(name, start, List.of(), faults);
    }

    private static Arguments topology(String name, Supplier<Topology> start, List<String> settings, Fault... faults) {
        return Arguments.of(name, start, settings, List.of(faults));
    }
}
