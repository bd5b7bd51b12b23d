package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.store.Partitions;
import io.easykit.redis.ClusterMaster;
import io.easykit.redis.ScriptExecutor;
import io.lettuce.core.cluster.SlotHash;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClusterPartitionsTests {

    private static final int SLOTS = 16_384;

    private final RedisKeys names = new RedisKeys("ec:");
    private final List<ClusterMaster> masters =
            new ArrayList<>(List.of(master("b:2", 5461, 10_923), master("a:1", 0, 5461), master("c:3", 10_923, SLOTS)));

    @Test
    void areTheSlotsOfOneMasterEach() {
        Partitions partitions = next(Partitions.ONE);

        assertThat(partitions.count()).isEqualTo(3);
        assertThat(IntStream.range(0, 3).mapToObj(partitions::name))
                .containsExactly("slots 0-5460", "slots 5461-10922", "slots 10923-16383");
        assertThat(partitions.place(1)).isEqualTo("b:2");
        for (int id = 0; id < 100; id++) {
            CacheKey<String> key = CacheSpec.of("user", String.class).key(id);
            int slot = SlotHash.getSlot(names.entry(key));
            assertThat(partitions.of(key)).isEqualTo(slot < 5461 ? 0 : slot < 10_923 ? 1 : 2);
        }
    }

    @Test
    void surviveAFailover() {
        Partitions partitions = next(Partitions.ONE);

        masters.set(0, master("replica:9", 5461, 10_923));

        assertThat(next(partitions)).isSameAs(partitions);
        assertThat(partitions.place(1)).isEqualTo("replica:9");
    }

    @Test
    void stayAsTheyAreWhileSlotsHaveNoMaster() {
        Partitions partitions = next(Partitions.ONE);

        masters.remove(0);

        assertThat(next(partitions)).isSameAs(partitions);
        masters.clear();
        assertThat(next(Partitions.ONE)).isSameAs(Partitions.ONE);
    }

    @Test
    void followMovedSlots() {
        Partitions partitions = next(Partitions.ONE);

        BitSet more = (BitSet) masters.get(1).slots().clone();
        more.set(10_900, 10_923);
        masters.set(1, new ClusterMaster("a:1", more));
        masters.set(0, master("b:2", 5461, 10_900));

        Partitions moved = next(partitions);
        assertThat(moved).isNotSameAs(partitions);
        assertThat(moved.name(0)).isEqualTo("slots 0-5460 and 1 more ranges");
    }

    @Test
    void takeAReconnectForTheirsUnlessItIsAnotherMaster() {
        Partitions partitions = next(Partitions.ONE);

        assertThat(partitions.mayBeAt(0, InetSocketAddress.createUnresolved("a", 1)))
                .isTrue();
        assertThat(partitions.mayBeAt(1, InetSocketAddress.createUnresolved("a", 1)))
                .isFalse();
        assertThat(partitions.mayBeAt(1, InetSocketAddress.createUnresolved("promoted", 7)))
                .isTrue();
        assertThat(partitions.mayBeAt(1, null)).isTrue();
    }

    @Test
    void haveAProbeOfTheirOwn() {
        ClusterPartitions partitions = (ClusterPartitions) next(Partitions.ONE);

        for (int i = 0; i < 3; i++) {
            int slot = SlotHash.getSlot(names.probe(partitions.probeTag(i)));
            assertThat(slot).isBetween(new int[] {0, 5461, 10_923}[i], new int[] {5460, 10_922, 16_383}[i]);
        }
    }

    /** A range that two masters share has a hash with epochs on each, for any border between them. */
    @Test
    void findTheEpochsOfEachKeyInTheirOwnSlots() {
        for (int border = 1; border < SLOTS; border += 77) {
            masters.clear();
            masters.addAll(List.of(master("a:1", 0, border), master("b:2", border, SLOTS)));
            Partitions partitions = next(Partitions.ONE);
            for (int slot = 0; slot < SLOTS; slot += 13) {
                int first = SlotTags.epochHashOf(slot);
                int own = slot < border ? 0 : 1;
                assertThat(partitions.ofEpochs(first) == own || partitions.ofEpochs(first + 1) == own)
                        .isTrue();
            }
        }
    }

    @Test
    void putEachHashWithEpochsIntoItsSlot() {
        for (int hash = 0; hash < SlotTags.EPOCH_HASHES; hash++) {
            String name = new String(names.epochs(SlotTags.ofEpochs(hash)), StandardCharsets.UTF_8);
            assertThat(SlotHash.getSlot(name)).isEqualTo(SlotTags.slotOfEpochs(hash));
        }
    }

    /** Its own connection finds the masters with its first call. */
    @Test
    void areKnownToAReopenedStore() {
        RedisEntryStore store = new RedisEntryStore(new Closed(masters), Duration.ofSeconds(1));

        assertThat(store.reopened()).isNotSameAs(store);
        assertThat(store.reopened().partitions()).isSameAs(store.partitions());
        assertThat(store.partitions().count()).isEqualTo(3);
    }

    /** Commands over a connection that was closed after it had found these masters. */
    private record Closed(List<ClusterMaster> masters) implements RedisCommands {

        @Override
        public RedisCommands reopened() {
            return new Closed(List.of());
        }

        @Override
        public boolean isCluster() {
            return true;
        }

        @Override
        public ScriptExecutor scripts() {
            throw new UnsupportedOperationException("Nothing is sent");
        }

        @Override
        public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
            throw new UnsupportedOperationException("Nothing is sent");
        }

        @Override
        public CompletionStage<Long> time() {
            throw new UnsupportedOperationException("Nothing is sent");
        }
    }

    private Partitions next(Partitions present) {
        return ClusterPartitions.next(present, names, () -> masters);
    }

    private static ClusterMaster master(String address, int from, int to) {
        BitSet slots = new BitSet();
        slots.set(from, to);
        return new ClusterMaster(address, slots);
    }
}
