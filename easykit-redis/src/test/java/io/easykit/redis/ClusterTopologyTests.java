package io.easykit.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class ClusterTopologyTests {

    /** A caller that is at work while the application stops gets the failure of its command, not that of the factory. */
    @Test
    void aFactoryThatIsStoppedHasNoNodes() {
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(new RedisClusterConfiguration(List.of("127.0.0.1:1")));
        factory.afterPropertiesSet();
        factory.start();
        ClusterTopology topology = new ClusterTopology(factory, new SharedConnection(factory));
        factory.stop();
        try {
            assertThat(topology.serverOf("key".getBytes(UTF_8))).isEmpty();
            assertThat(topology.masters()).isEmpty();
        } finally {
            factory.destroy();
        }
    }
}
