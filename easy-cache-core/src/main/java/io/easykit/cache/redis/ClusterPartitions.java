package io.easykit.cache.redis;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Partitions;
import io.easykit.redis.ClusterMaster;
import io.lettuce.core.cluster.SlotHash;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The partitions of a cluster: the slots that one master serves are one partition, regardless of the server. A fail-over
 * replaces the server and keeps the slots together, so partitions survive it.
 *
 * <p>If slots were moved since, a partition has keys on two masters. Then an outage of one of them affects the other's share
 * of the partition too, until the partitions are read again. This concerns availability only: keys and fixed ranges of slots
 * ({@link SlotTags}) decide about deliveries and epochs, so no stale value becomes valid.
 */
final class ClusterPartitions implements Partitions {

    private final RedisKeys names;
    private final Supplier<List<ClusterMaster>> masters;
    private final short[] bySlot;
    private final List<String> ranges = new ArrayList<>();
    private final List<String> probeTags = new ArrayList<>();

    private ClusterPartitions(RedisKeys names, Supplier<List<ClusterMaster>> masters, short[] bySlot, int count) {
        this.names = names;
        this.masters = masters;
        this.bySlot = bySlot;
        for (int i = 0; i < count; i++) {
            int partition = i;
            ranges.add(describe(bySlot, partition));
            probeTags.add(SlotTags.find(slot -> bySlot[slot] == partition));
        }
    }

    /** The partitions of the present masters: the same object if the same slots belong together, or some have no master. */
    static Partitions next(Partitions present, RedisKeys names, Supplier<List<ClusterMaster>> masters) {
        List<ClusterMaster> sorted = new ArrayList<>(masters.get());
        sorted.sort(Comparator.comparing(master -> master.slots().nextSetBit(0)));
        short[] bySlot = new short[SlotHash.SLOT_COUNT];
        Arrays.fill(bySlot, (short) -1);
        for (int i = 0; i < sorted.size(); i++) {
            short partition = (short) i;
            sorted.get(i).slots().stream().forEach(slot -> bySlot[slot] = partition);
        }
        for (short partition : bySlot) {
            if (partition < 0) {
                return present;
            }
        }
        boolean same = present instanceof ClusterPartitions other && Arrays.equals(other.bySlot, bySlot);
        return same ? present : new ClusterPartitions(names, masters, bySlot, sorted.size());
    }

    @Override
    public int count() {
        return ranges.size();
    }

    @Override
    public int of(CacheKey<?> key) {
        return bySlot[SlotHash.getSlot(names.entry(key))];
    }

    @Override
    public int ofEpochs(int hash) {
        return bySlot[SlotTags.slotOfEpochs(hash)];
    }

    @Override
    public int ofWorkLease(String name) {
        return bySlot[SlotHash.getSlot(names.workLease(name))];
    }

    @Override
    public String name(int partition) {
        return count() == 1 ? "" : ranges.get(partition);
    }

    /** A server that is not known as a master may have been promoted just now. */
    @Override
    public boolean mayBeAt(int partition, @Nullable SocketAddress server) {
        List<ClusterMaster> there = masters.get().stream()
                .filter(master -> server instanceof InetSocketAddress address && isAt(master, address))
                .toList();
        return there.isEmpty()
                || there.stream()
                        .anyMatch(master -> master.slots().stream().anyMatch(slot -> bySlot[slot] == partition));
    }

    private static boolean isAt(ClusterMaster master, InetSocketAddress server) {
        String port = ":" + server.getPort();
        boolean byName = master.address().equals(server.getHostString() + port);
        boolean byAddress = server.getAddress() != null
                && master.address().equals(server.getAddress().getHostAddress() + port);
        return byName || byAddress;
    }

    @Override
    public String place(int partition) {
        return masters.get().stream()
                .filter(master -> bySlot[master.slots().nextSetBit(0)] == partition)
                .map(ClusterMaster::address)
                .findFirst()
                .orElse("");
    }

    /** Tag of a key in this partition. */
    String probeTag(int partition) {
        return probeTags.get(partition);
    }

    /** {@code slots 0-5460}; only the first of several ranges, with their number. */
    private static String describe(short[] bySlot, int partition) {
        int first = -1;
        int last = -1;
        int others = 0;
        for (int slot = 0; slot < bySlot.length; slot++) {
            boolean begins = bySlot[slot] == partition && (slot == 0 || bySlot[slot - 1] != partition);
            if (begins && first >= 0) {
                others++;
            } else if (begins) {
                first = slot;
            }
            last = bySlot[slot] == partition && others == 0 ? slot : last;
        }
        return "slots " + first + "-" + last + (others == 0 ? "" : " and " + others + " more ranges");
    }
}
