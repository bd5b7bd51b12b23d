package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClusterViewsTests {

    private static final String BEFORE =
            """
            a 10.0.0.1:7000@17000 myself,master - 0 1 1 connected 0-8191
            b 10.0.0.2:7000@17000 master - 0 1 2 connected 8192-16383
            c 10.0.0.3:7000@17000 slave b 0 1 2 connected
            """;

    private static final String AFTER_A_PROMOTION =
            """
            a 10.0.0.1:7000@17000 myself,master - 0 1 1 connected 0-8191
            b 10.0.0.2:7000@17000 master,fail - 1 1 2 disconnected
            c 10.0.0.3:7000@17000 master - 0 1 3 connected 8192-16383
            """;

    private final Partitions known = known();

    @Test
    void choosesTheViewAfterThePromotion() {
        assertThat(masterOf(16_000, BEFORE)).isEqualTo("10.0.0.2:7000");
        assertThat(masterOf(16_000, BEFORE, AFTER_A_PROMOTION, BEFORE)).isEqualTo("10.0.0.3:7000");
    }

    @Test
    void prefersTheViewWithMoreNodesOtherwise() {
        Partitions latest = latest(BEFORE, BEFORE + "d 10.0.0.4:7000@17000 slave a 0 1 1 connected\n", BEFORE);
        assertThat(Objects.requireNonNull(latest)).hasSize(4);
    }

    @Test
    void leavesOutTheViewOfANodeThatWasRemoved() {
        String alone = "x 10.0.0.9:7000@17000 myself,master - 0 0 99 connected\n";
        assertThat(latest(alone)).isNull();
        assertThat(masterOf(0, alone, BEFORE)).isEqualTo("10.0.0.1:7000");
        assertThat(latest()).isNull();
    }

    /** It has the address of "b", and a later epoch. */
    private static final String OF_ANOTHER_CLUSTER =
            """
            x 10.0.0.2:7000@17000 myself,master - 0 1 77 connected 0-8191
            y 10.9.0.8:7000@17000 master - 0 1 78 connected 8192-16383
            """;

    @Test
    void leavesOutAnotherClusterThatHasGotAnAddress() {
        assertThat(masterOf(0, BEFORE, OF_ANOTHER_CLUSTER)).isEqualTo("10.0.0.1:7000");
        assertThat(latest(OF_ANOTHER_CLUSTER)).isNull();
        assertThat(ClusterViews.isForeign(OF_ANOTHER_CLUSTER, known)).isTrue();
        // A server that was moved to it keeps its id.
        String moved = OF_ANOTHER_CLUSTER + "c 10.0.0.3:7000@17000 slave x 0 1 77 connected\n";
        assertThat(latest(moved)).isNull();
    }

    @Test
    void acceptsTheClusterWhateverHasChangedInAStep() {
        String hasNewIds =
                """
                a2 10.0.0.1:7000@17000 myself,master - 0 1 4 connected 0-8191
                b 10.0.0.2:7000@17000 master - 0 1 2 connected 8192-16383
                c 10.0.0.3:7000@17000 slave b 0 1 2 connected
                """;
        assertThat(masterOf(0, BEFORE, hasNewIds)).isEqualTo("10.0.0.1:7000");
        assertThat(Objects.requireNonNull(latest(BEFORE, hasNewIds)).getPartitionByNodeId("a2"))
                .isNotNull();
        String isSmaller = "a 10.0.0.1:7000@17000 myself,master - 0 1 9 connected 0-16383\n";
        assertThat(masterOf(16_000, BEFORE, isSmaller)).isEqualTo("10.0.0.1:7000");
        String isLarger = BEFORE
                + """
                d 10.0.0.4:7000@17000 master - 0 1 5 connected 1-10
                e 10.0.0.5:7000@17000 master - 0 1 5 connected 11-20
                f 10.0.0.6:7000@17000 master - 0 1 5 connected 21-30
                g 10.0.0.7:7000@17000 master - 0 1 5 connected 31-40
                """;
        assertThat(Objects.requireNonNull(latest(BEFORE, isLarger))).hasSize(7);
    }

    /** The application may want masters only. */
    @Test
    void countsServersThatAreNotUsed() {
        Partitions masters = new Partitions();
        masters.add(known.getPartitionByNodeId("a"));
        masters.updateCache();
        Partitions latest = ClusterViews.latest(List.of(BEFORE, OF_ANOTHER_CLUSTER), masters, node -> true);
        assertThat(Objects.requireNonNull(latest).getPartitionByNodeId("a")).isNotNull();
    }

    @Test
    void completesAddressesFromTheKnownOnes() {
        String incomplete =
                """
                a :7000@17000 myself,master - 0 1 1 connected 0-8191
                b 10.0.0.22:7001@17001 master - 0 1 2 connected 8192-16383
                c :0@0 slave,noaddr b 0 1 2 disconnected
                d 10.0.0.4:0@0 handshake - 0 1 0 connected
                """;
        Partitions latest = Objects.requireNonNull(latest(incomplete));

        assertThat(latest).extracting(RedisClusterNode::getNodeId).containsExactlyInAnyOrder("a", "b");
        assertThat(latest.getPartitionByNodeId("a").getUri())
                .isEqualTo(known.getPartitionByNodeId("a").getUri());
        RedisURI moved = latest.getPartitionByNodeId("b").getUri();
        assertThat(moved.getHost() + ":" + moved.getPort()).isEqualTo("10.0.0.22:7001");
        assertThat(moved.isSsl()).isTrue();
        assertThat(moved.getTimeout()).isEqualTo(Duration.ofSeconds(7));
        assertThat(latest.getPartition("alias.example", 7000)).isEqualTo(latest.getPartitionByNodeId("a"));
    }

    @Test
    void usesOnlyTheNodesThatTheApplicationWants() {
        Partitions latest =
                Objects.requireNonNull(ClusterViews.latest(List.of(BEFORE), known, node -> !node.is(NodeFlag.REPLICA)));
        assertThat(latest).extracting(RedisClusterNode::getNodeId).containsExactlyInAnyOrder("a", "b");
    }

    private String masterOf(int slot, String... views) {
        RedisURI master =
                Objects.requireNonNull(latest(views)).getMasterBySlot(slot).getUri();
        return master.getHost() + ":" + master.getPort();
    }

    private Partitions latest(String... views) {
        return ClusterViews.latest(List.of(views), known, node -> true);
    }

    private static Partitions known() {
        Partitions known = new Partitions();
        known.add(node("a", "10.0.0.1", 0, 8_192, NodeFlag.UPSTREAM));
        known.add(node("b", "10.0.0.2", 8_192, 16_384, NodeFlag.UPSTREAM));
        known.add(node("c", "10.0.0.3", 0, 0, NodeFlag.REPLICA));
        known.getPartitionByNodeId("a").addAlias(RedisURI.create("alias.example", 7000));
        known.updateCache();
        return known;
    }

    private static RedisClusterNode node(String id, String host, int from, int to, NodeFlag flag) {
        RedisURI uri = RedisURI.Builder.redis(host, 7000)
                .withSsl(true)
                .withTimeout(Duration.ofSeconds(7))
                .build();
        return new RedisClusterNode(
                uri, id, true, "", 0, 0, 1, IntStream.range(from, to).boxed().toList(), Set.of(flag));
    }
}
