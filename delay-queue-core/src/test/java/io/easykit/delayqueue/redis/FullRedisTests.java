package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.redis.ScriptFaultTests.Step;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A full Redis refuses the scripts that store something new, whole. All others do what they do elsewhere. */
class FullRedisTests {

    private static final Set<QueueScript> REFUSED =
            EnumSet.of(QueueScript.SEND, QueueScript.RESCHEDULE, QueueScript.REPLACE, QueueScript.HEALTH);

    private static FaultyShard shard;

    @BeforeAll
    static void open() {
        shard = new FaultyShard();
    }

    @AfterAll
    static void close() {
        shard.close();
    }

    /** All scripts run in them, see {@link ScriptFaultTests#runsEveryScript}. */
    static Stream<Step> steps() {
        FlowShare share = new FlowShare(3_600_000_000L, 2, 4);
        Step idle = new Step("lend of an idle shard", (s, store) -> store.lend(new ShardKey("t", 1), share, 1));
        return Stream.concat(ScriptFaultTests.steps().stream(), Stream.of(idle));
    }

    @ParameterizedTest
    @MethodSource("steps")
    void refusesOnlyWhatGrows(Step step) {
        prepare();
        Object expected = step.on(shard).apply(shard.store);
        boolean isRefused = shard.scriptsThatRan().stream().anyMatch(REFUSED::contains);

        prepare();
        String before = shard.state();
        shard.redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            if (isRefused) {
                assertThatThrownBy(() -> step.on(shard).apply(shard.store)).isInstanceOf(StoreFullException.class);
                assertThat(shard.state()).isEqualTo(before);
            } else {
                assertThat(step.on(shard).apply(shard.store))
                        .usingRecursiveComparison()
                        .isEqualTo(expected);
            }
        } finally {
            shard.redis().command("CONFIG", "SET", "maxmemory", "0");
        }
    }

    /** A node for the pause requests and a dead letter that stops its ordering key, besides messages in all places. */
    private static void prepare() {
        shard.empty();
        shard.populate();
        NodeReport report = new NodeReport("shop", "host-1", Map.of(), Duration.ofSeconds(5), List.of());
        shard.store.fleet().beat("node", report, Duration.ofSeconds(30));
        shard.store.send(KEY, List.of(at("~~k~a", 100_000, "first"), at("~~k~b", 100_000, "second")));
        for (Delivery delivery : shard.store
                .claim(KEY, new Claim("k", 1, 1, 1, FaultyShard.LEASE, List.of()))
                .deliveries()) {
            shard.store.fail(KEY, List.of(new Failure(delivery.lease(), null, "no")));
        }
        shard.redis().command("SCRIPT", "FLUSH");
    }
}
