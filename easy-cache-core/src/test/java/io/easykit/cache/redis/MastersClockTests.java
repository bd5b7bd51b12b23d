package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.redis.ScriptExecutor;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Plain reads of entries that outlive their values, where a server's clock is not the one that was read. */
class MastersClockTests {

    private static final long NOW = 1_000_000_000;
    private static final CacheKey<String> KEY =
            CacheSpec.of("kept", String.class).key(1);

    /** The replies are those of one master; the entry is on another one. */
    private static final class Servers implements RedisCommands {

        private final boolean cluster;
        private final List<Consumer<SocketAddress>> reconnectActions = new ArrayList<>();
        private long endOfLife = NOW + 3_000;
        private CompletionStage<Long> time = CompletableFuture.completedFuture(NOW);

        Servers(boolean cluster) {
            this.cluster = cluster;
        }

        @Override
        public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
            byte[] value = ByteBuffer.allocate(12)
                    .putShort((short) (endOfLife >> 32))
                    .putInt((int) endOfLife)
                    .array();
            IdentityHashMap<byte[], byte[]> fields = new IdentityHashMap<>();
            fields.put(EntryFields.bytes(EntryFields.valueField(KEY.spec().fingerprint())), value);
            fields.put(EntryFields.bytes("x"), EntryFields.bytes(endOfLife + 60_000));
            return CompletableFuture.completedFuture(fields);
        }

        @Override
        public CompletionStage<Long> time() {
            return time;
        }

        @Override
        public boolean isCluster() {
            return cluster;
        }

        @Override
        public void onReconnect(Consumer<@Nullable SocketAddress> action) {
            reconnectActions.add(action);
        }

        @Override
        public ScriptExecutor scripts() {
            throw new UnsupportedOperationException("A plain read runs no script");
        }
    }

    /** The other master is five seconds ahead, so there the value has expired. */
    @Test
    void takesNoSuchEntryOfAClusterForFresh() {
        RedisEntryStore cluster = new RedisEntryStore(new Servers(true), Duration.ofSeconds(1));

        assertThat(cluster.read(KEY, 0).fresh()).isFalse();
        assertThat(cluster.read(KEY, 0).value()).isNotNull();
    }

    @Test
    void readsTheTimeAgainAfterAReconnection() {
        Servers servers = new Servers(false);
        RedisEntryStore store = new RedisEntryStore(servers, Duration.ofSeconds(1));
        assertThat(store.read(KEY, 0).fresh()).isTrue();

        servers.time = new CompletableFuture<>();
        servers.reconnectActions.forEach(action -> action.accept(new InetSocketAddress(0)));

        assertThat(store.read(KEY, 0).fresh()).isFalse();

        servers.time.toCompletableFuture().complete(NOW);

        assertThat(store.read(KEY, 0).fresh()).isTrue();
    }

    @Test
    void findsThatAValueHasExpiredOnlyByTheClockOfItsServer() {
        for (boolean cluster : new boolean[] {true, false}) {
            Servers servers = new Servers(cluster);
            servers.endOfLife = NOW - 3_000;
            RedisEntryStore store = new RedisEntryStore(servers, Duration.ofSeconds(1));

            assertThat(store.read(KEY, 0).fresh()).isFalse();
            assertThat(store.read(KEY, 0).expired()).isEqualTo(!cluster);
        }
    }
}
