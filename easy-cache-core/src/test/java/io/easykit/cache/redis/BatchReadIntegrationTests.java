package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class BatchReadIntegrationTests {

    private static final Duration DELAY = Duration.ofMillis(200);
    private static final List<Integer> TEN =
            IntStream.rangeClosed(1, 10).boxed().toList();

    private final CacheSpec<String> spec = CacheSpec.of("batch", String.class);
    private final Source source = new Source();

    private static final class Source implements BatchLoader<Integer, String, RuntimeException> {

        private final List<List<Integer>> calls = new CopyOnWriteArrayList<>();
        private volatile Runnable during = () -> {};

        @Override
        public Map<Integer, String> load(Collection<Integer> missing) {
            calls.add(List.copyOf(missing));
            Map<Integer, String> found = new HashMap<>();
            missing.forEach(id -> found.put(id, "value " + id));
            during.run();
            return found;
        }
    }

    private static Map<Integer, String> all(List<Integer> ids) {
        Map<Integer, String> expected = new LinkedHashMap<>();
        ids.forEach(id -> expected.put(id, "value " + id));
        return expected;
    }

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    @Test
    void sendsAllCommandsBeforeItWaitsForTheFirstReply() {
        try (TcpProxy proxy = TcpProxy.to(RedisServer.shared());
                Node node = Node.on(proxy.host(), proxy.port())) {
            node.cache().fetchAll(spec, List.of(0), source);
            proxy.delay(DELAY);

            // The best of three, since a busy machine adds to them.
            long fewest = Long.MAX_VALUE;
            for (int tens = 2; tens >= 0; tens--) {
                List<Integer> missing = idsFrom(10 * tens + 1);
                fewest = Math.min(fewest, roundTrips(() -> node.cache().fetchAll(spec, missing, source)));
            }
            assertThat(fewest).as("read, fetch and store of ten elements").isBetween(3L, 5L);
            assertThat(roundTrips(() -> node.cache().fetchAll(spec, TEN, source)))
                    .as("ten hits")
                    .isBetween(1L, 2L);
            assertThat(roundTrips(() -> TEN.forEach(id -> node.cache().fetch(spec.key(id), () -> "not called"))))
                    .as("ten single hits")
                    .isGreaterThanOrEqualTo(10L);
            assertThat(source.calls).containsExactly(List.of(0), idsFrom(21), idsFrom(11), TEN);
        }
    }

    private static List<Integer> idsFrom(int first) {
        return IntStream.range(first, first + 10).boxed().toList();
    }

    private static long roundTrips(Runnable work) {
        long startedAt = System.nanoTime();
        work.run();
        return (System.nanoTime() - startedAt) / DELAY.toNanos();
    }

    @Test
    void sendsOneCommandForEachHitAndTwoScriptsForEachMiss() {
        try (RedisServer server = RedisServer.start();
                Node node = Node.on(server.host(), server.port());
                RawRedis redis = server.connect()) {
            node.store().loadScripts();
            node.cache().fetchAll(spec, List.of(2, 4, 6, 8, 10), source);
            redis.command("CONFIG", "RESETSTAT");

            assertThat(node.cache().fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN));

            Map<String, String> commands = redis.info("commandstats");
            assertThat(commands.get("cmdstat_hgetall")).startsWith("calls=10,");
            assertThat(commands.get("cmdstat_evalsha")).startsWith("calls=10,");
            assertThat(source.calls).containsExactly(List.of(2, 4, 6, 8, 10), List.of(1, 3, 5, 7, 9));
        }
    }

    @Test
    void readsTenThousandElements() {
        try (Node node =
                Node.on(RedisServer.shared().host(), RedisServer.shared().port())) {
            List<Integer> ids = IntStream.range(0, 10_000).boxed().toList();
            assertThat(node.cache().fetchAll(spec, ids, source)).containsExactlyEntriesOf(all(ids));
            assertThat(node.cache().fetchAll(spec, ids, source)).containsExactlyEntriesOf(all(ids));
            assertThat(source.calls).hasSize(1);
        }
    }

    @Test
    void returnsTheLoadedValuesIfRedisGoesAwayInTheMiddle() {
        try (TcpProxy proxy = TcpProxy.to(RedisServer.shared());
                Node node = Node.on(
                        proxy.host(),
                        proxy.port(),
                        DisconnectedBehavior.REJECT_COMMANDS,
                        Duration.ofMillis(300),
                        CacheListener.NONE)) {
            node.cache().fetchAll(spec, List.of(2, 4), source);
            source.during = proxy::freeze;

            assertThat(node.cache().fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN));
            assertThat(node.cache().fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN));

            assertThat(source.calls).hasSize(3).last().isEqualTo(TEN);
        }
    }

    @Test
    void readsElementsOfAllNodesOfACluster() {
        try (RedisCluster cluster = RedisCluster.start()) {
            LettuceConnectionFactory factory = new LettuceConnectionFactory(
                    new RedisClusterConfiguration(List.of(cluster.addresses().split(",", -1))));
            factory.afterPropertiesSet();
            factory.start();
            try {
                EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                        .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(factory, Duration.ofSeconds(5)))
                        .build();
                List<Integer> ids = IntStream.range(0, 1_000).boxed().toList();
                List<Integer> some = ids.stream().filter(id -> id % 3 == 0).toList();
                cache.fetchAll(spec, some, source);
                assertThat(cache.fetchAll(spec, ids, source)).containsExactlyEntriesOf(all(ids));
                assertThat(cache.fetchAll(spec, ids, source)).containsExactlyEntriesOf(all(ids));
                assertThat(source.calls)
                        .containsExactly(
                                some, ids.stream().filter(id -> id % 3 != 0).toList());
                for (RedisServer master : cluster.masters()) {
                    try (RawRedis redis = master.connect()) {
                        assertThat((Long) redis.command("DBSIZE")).isGreaterThan(200);
                    }
                }
                cache.stop();
            } finally {
                factory.destroy();
            }
        }
    }
}
