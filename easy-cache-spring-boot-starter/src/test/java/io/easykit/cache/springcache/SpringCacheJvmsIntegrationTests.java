package io.easykit.cache.springcache;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.ChildJvm;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two JVMs that share nothing but Redis. */
class SpringCacheJvmsIntegrationTests {

    @Test
    void twentyThreadsOfTwoJvmsLoadAColdKeyOnce() {
        try (RedisServer redis = RedisServer.start()) {
            List<ChildJvm> children = new ArrayList<>();
            try (RawRedis raw = redis.connect()) {
                for (int i = 0; i < 2; i++) {
                    children.add(ChildJvm.start(
                            SpringCacheNode.class,
                            "--spring.data.redis.host=" + redis.host(),
                            "--spring.data.redis.port=" + redis.port()));
                }
                for (ChildJvm child : children) {
                    child.awaitLine(SpringCacheNode.DONE::equals, ChildJvm.START);
                    assertThat(child.lines())
                            .filteredOn(line -> line.startsWith(SpringCacheNode.VALUE))
                            .hasSize(SpringCacheNode.THREADS)
                            .containsOnly(SpringCacheNode.VALUE + "1");
                }
                assertThat((byte[]) raw.command("GET", SpringCacheNode.LOADS))
                        .asString(UTF_8)
                        .isEqualTo("1");
            } finally {
                children.forEach(ChildJvm::close);
            }
        }
    }
}
