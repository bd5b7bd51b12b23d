package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.QueueBackend;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A claim under limits that stops at each of its commands lets no more begin than the limits allow, and blocks nothing for ever. */
class FlowFaultTests {

    private static final Duration LEASE = Duration.ofMinutes(10);

    /** Two at once, and one more in a second; six in flight. */
    private static final FlowShare SHARE = new FlowShare(1_000_000, 2, 6);

    private static FaultyShard shard;

    @BeforeAll
    static void open() {
        shard = new FaultyShard(UnaryOperator.identity());
    }

    @AfterAll
    static void close() {
        shard.close();
    }

    @Test
    void whereverAClaimStopsTheLimitsHold() {
        boolean struck = true;
        for (int command = 1; struck; command++) {
            begin();
            Set<String> begun = new HashSet<>();
            shard.failAt(command, false);
            claim("o", 1, begun);
            struck = shard.heal();
            claim("o", 1, begun);
            claim("p", 1, begun);

            assertThat(begun).as("begun after a stop at command %d", command).hasSizeLessThanOrEqualTo(2);
        }
    }

    @Test
    void whereverAClaimStopsAllMessagesBeginInTheEnd() {
        boolean struck = true;
        for (int command = 1; struck; command++) {
            begin();
            Set<String> begun = new HashSet<>();
            shard.failAt(command, false);
            claim("o", 1, begun);
            struck = shard.heal();
            for (int second = 1; second <= 8; second++) {
                shard.clock(101_000 + 1000 * second);
                shard.store.acknowledge(
                        KEY,
                        shard.store.claim(KEY, request("o", second)).deliveries().stream()
                                .peek(delivery -> begun.add(delivery.id()))
                                .map(Delivery::lease)
                                .toList());
            }

            assertThat(begun).as("begun after a stop at command %d", command).contains("n1", "n2", "n3", "n4", "n5");
        }
    }

    private static void begin() {
        shard.empty();
        shard.clock(101_000);
        shard.store.send(KEY, shard.messages("n1", "n2", "n3", "n4", "n5"));
    }

    private static Claim request(String owner, long request) {
        return new Claim(owner, request, 10, 10, LEASE, List.of()).under(SHARE);
    }

    private static void claim(String owner, long request, Set<String> begun) {
        shard.attempt((QueueBackend store) -> {
            List<Delivery> deliveries =
                    store.claim(KEY, request(owner, request)).deliveries();
            deliveries.forEach(delivery -> begun.add(delivery.id()));
            return deliveries;
        });
    }
}
