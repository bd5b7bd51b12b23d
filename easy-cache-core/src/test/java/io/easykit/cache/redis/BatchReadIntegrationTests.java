package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class BatchReadIntegrationTests {

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

    /** The calls of the three steps of a batch of misses: {@code BatchReadTests} shows that each is one call of the store. */
    @Test
    void sendsAllCommandsBeforeItWaitsForTheFirstReply() throws Exception {
        try (RedisServer server = RedisServer.start();
                TcpProxy proxy = TcpProxy.to(server);
                Node node = Node.on(proxy.host(), proxy.port())) {
            RedisEntryStore store = node.store();
            store.loadScripts();
            Envelope value = Envelope.wrap(new byte[] {1}, 0);
            Duration life = Duration.ofMinutes(1);

            List<EntryReply<Snapshot>> read = whileRepliesAreHeld(
                    server, proxy, "hgetall", () -> store.callAll(calls(key -> new EntryCall.Read(key, 0))));
            List<EntryReply<Fetched>> fetched = whileRepliesAreHeld(
                    server, proxy, "evalsha", () -> store.callAll(calls(key -> new EntryCall.Fetch(key, 0, false))));
            Iterator<EntryReply<Fetched>> leases = fetched.iterator();
            List<EntryReply<Boolean>> stored = whileRepliesAreHeld(
                    server,
                    proxy,
                    "evalsha",
                    () -> store.callAll(calls(key -> new EntryCall.Store(
                            key, ((Fetched.Leased) leases.next().value()).lease(), value, life))));

            assertThat(read).extracting(EntryReply::value).containsOnly(Snapshot.NOTHING);
            assertThat(stored).extracting(EntryReply::value).containsOnly(true);
        }
    }

    private <C> List<C> calls(Function<CacheKey<String>, C> call) {
        return TEN.stream().map(spec::key).map(call).toList();
    }

    /** Lets the replies pass when the server has run the command ten times. */
    private static <T> T whileRepliesAreHeld(RedisServer server, TcpProxy proxy, String command, Callable<T> calls)
            throws Exception {
        ExecutorService caller = Executors.newSingleThreadExecutor();
        try (RawRedis redis = server.connect()) {
            redis.command("CONFIG", "RESETSTAT");
            proxy.holdReplies(true);
            Future<T> replies = caller.submit(calls);
            await().untilAsserted(() -> assertThat(redis.info("commandstats").get("cmdstat_" + command))
                    .startsWith("calls=10,"));
            proxy.holdReplies(false);
            return replies.get();
        } finally {
            caller.shutdownNow();
        }
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
