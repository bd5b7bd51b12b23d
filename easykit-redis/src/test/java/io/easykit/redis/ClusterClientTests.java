package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ClusterClientTests {

    private final RedisClusterClient lettuces = RedisClusterClient.create("redis://localhost:1");

    @AfterEach
    void close() {
        lettuces.shutdown();
    }

    @Test
    void replacesTheClientOfLettuce() {
        assertThat(ClusterClient.like(lettuces, ClusterClient.ADDRESSES)).isInstanceOf(ClusterClient.class);
    }

    @Test
    void keepsTheTopologyIfOnlyAnotherClusterIsConnectedAndWarnsOnce() {
        ClusterClient client = (ClusterClient) ClusterClient.like(lettuces, ClusterClient.ADDRESSES);
        client.setPartitions(
                ClusterPartitionParser.parse("a 10.0.0.1:7000@17000 myself,master - 0 1 1 connected 0-16383\n"));
        String another = "x 10.0.0.1:7000@17000 myself,master - 0 1 77 connected 0-16383\n";
        Logger log = (Logger) LoggerFactory.getLogger(ClusterClient.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.addAppender(lines);
        try {
            assertThat(client.latest(List.of())).isNull();
            assertThat(lines.list).isEmpty();
            assertThat(client.latest(List.of(another))).isNull();
            assertThat(client.latest(List.of(another, another))).isNull();
        } finally {
            log.detachAppender(lines);
            client.shutdown();
        }
        assertThat(lines.list)
                .singleElement()
                .asString()
                .startsWith("[WARN]")
                .contains("of another Redis Cluster", "10.0.0.1:7000", "restart the application");
    }

    /** Another version of Lettuce may keep its addresses elsewhere. Connections must be possible nevertheless. */
    @Test
    void keepsTheClientOfLettuceIfItsAddressesCannotBeRead() {
        assertThat(ClusterClient.like(lettuces, "addresses")).isSameAs(lettuces);
        assertThat(ClusterClient.like(lettuces, "partitions")).isSameAs(lettuces);
    }
}
