package io.easykit.trial;

import static org.awaitility.Awaitility.await;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/** Two nodes on one database and one topology, and rounds of faults under load. */
final class Trial implements AutoCloseable {

    private static final int NODES = 2;

    /** The Redis client; {@code -Deasykit.trial.client=jedis} selects Jedis. */
    private static final String CLIENT = System.getProperty("easykit.trial.client", "lettuce");

    /** Longer than the lease of a delivery whose reply was lost because of the fault. */
    private static final Duration DRAIN = Duration.ofSeconds(15);

    /** Additional duration of the load if calls do not work again. */
    private static final Duration AGAIN = Duration.ofSeconds(30);

    private static final int MOST_PRINTED = 10;

    private final Topology topology;
    private final Keys keys;
    private final List<TrialNode> nodes = new ArrayList<>();
    private final Pace pace;
    private volatile Diary diary = new Diary();

    /**
     * The durations of the parts of a round.
     *
     * @param quiet time before the fault
     * @param after time after the promotion and before the former master returns; the same time follows after that, and
     *     after healing
     */
    record Pace(Duration quiet, Duration after) {

        static final Pace FULL = new Pace(Duration.ofSeconds(2), Duration.ofSeconds(3));
        static final Pace SHORT = new Pace(Duration.ofMillis(500), Duration.ofMillis(500));
    }

    /** A deliberate defect, to check that the verdict detects it. */
    interface Sabotage {
        Sabotage NONE = (trial, outage) -> {};

        /** Called after the fault. */
        void commit(Trial trial, Outage outage);
    }

    Trial(Topology topology, Pace pace, String... settings) {
        this.topology = topology;
        this.pace = pace;
        this.keys = Keys.of(topology, NODES);
        List<String> all = Stream.of(
                        topology.settings(),
                        List.of(
                                "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()
                                        + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000",
                                "--spring.datasource.hikari.maximum-pool-size=30",
                                "--trial.topic=" + keys.topic(),
                                "--delay-queue.topics." + keys.topic() + ".shards=" + keys.shards(),
                                "--easy-cache.outbox=jdbc",
                                "--spring.data.redis.client-type=" + CLIENT),
                        List.of(settings))
                .flatMap(List::stream)
                .toList();
        for (int i = 0; i < NODES; i++) {
            nodes.add(TrialNode.start(all, id -> diary.delivered(id)));
        }
        fillDatabase();
    }

    Topology topology() {
        return topology;
    }

    Keys keys() {
        return keys;
    }

    List<TrialNode> nodes() {
        return nodes;
    }

    List<Round> run(Fault fault, int rounds) {
        return IntStream.range(0, rounds)
                .mapToObj(i -> run(fault, Sabotage.NONE))
                .toList();
    }

    Round run(Fault fault, Sabotage sabotage) {
        topology.awaitHealthy();
        Diary ours = new Diary();
        diary = ours;
        int share = fault == Fault.SLOT_MOVES ? keys.shareOfFirstShard() : 0;
        Outage outage;
        try (Logs logs = Logs.record()) {
            try (Load load = Load.start(nodes, keys, ours)) {
                load.goOnFor(pace.quiet());
                outage = topology.strike(fault, share, keys.keyOfFirstShard());
                sabotage.commit(this, outage);
                load.goOnFor(pace.after());
                outage.meanwhile().run();
                load.goOnFor(pace.after());
                awaitWorking(ours, outage, share);
                outage.heal().run();
                topology.awaitHealthy();
                load.goOnFor(pace.after());
            }
            awaitDeliveries(ours);
            outage = outage.withLastPromotion(topology.lastPromotionAt());
            if (outage.isPromotedAgain()) {
                System.out.println("The promoted server was replaced by another fail-over in this round");
            }
            Round.wrongReads(ours, outage).forEach(System.out::println);
            Round round = Round.of(ours, outage, share, NODES, logs, machineLoad());
            round.healthyFailures().stream().limit(MOST_PRINTED).forEach(System.out::println);
            return round;
        }
    }

    private static void awaitWorking(Diary ours, Outage outage, int share) {
        try {
            await().atMost(AGAIN).until(() -> Round.isWorkingAgain(ours, outage, share, NODES));
        } catch (ConditionTimeoutException never) {
            // The verdict reports it.
        }
    }

    private static void awaitDeliveries(Diary ours) {
        try {
            await().atMost(DRAIN).until(() -> ours.missing().isEmpty());
        } catch (ConditionTimeoutException missing) {
            // The verdict counts them.
        }
    }

    private void fillDatabase() {
        TrialNode.Entries entries = nodes.get(0).entries();
        entries.createTable();
        for (int share = 0; share < keys.shares(); share++) {
            keys.ap(share).forEach(entry -> entries.create(TrialNode.AP, entry.getKey()));
            keys.cp(share).forEach(entry -> entries.create(TrialNode.CP, entry.getKey()));
        }
    }

    private static double machineLoad() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    @Override
    public void close() {
        nodes.forEach(TrialNode::close);
        topology.close();
    }
}
