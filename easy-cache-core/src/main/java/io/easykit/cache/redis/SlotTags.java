package io.easykit.cache.redis;

import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.function.IntPredicate;

/**
 * Hash tags for keys that must lie in certain slots of a cluster.
 *
 * <p>The epochs are kept for {@value #RANGES} fixed ranges of slots, the same on every node for any set of masters. Each
 * range has two hashes with epochs, one in its first slot and one in its last. A range that two masters share has one on each
 * of them. So a key finds its epoch on its own master, and an outage of one master does not affect the other.
 */
final class SlotTags {

    static final int RANGES = 16;

    /** Hashes with epochs of each range. */
    static final int COPIES = 2;

    static final int EPOCH_HASHES = COPIES * RANGES;

    private static final int SLOTS_OF_RANGE = SlotHash.SLOT_COUNT / RANGES;
    private static final String[] TAGS = new String[EPOCH_HASHES];

    static {
        for (int hash = 0; hash < EPOCH_HASHES; hash++) {
            int slot = slotOfEpochs(hash);
            TAGS[hash] = find(candidate -> candidate == slot);
        }
    }

    private SlotTags() {}

    static int slotOfEpochs(int hash) {
        int first = hash / COPIES * SLOTS_OF_RANGE;
        return hash % COPIES == 0 ? first : first + SLOTS_OF_RANGE - 1;
    }

    static String ofEpochs(int hash) {
        return TAGS[hash];
    }

    /** The first of the hashes with the epochs of a slot. */
    static int epochHashOf(int slot) {
        return COPIES * (slot / SLOTS_OF_RANGE);
    }

    /** The first number whose slot is wanted, so that all nodes find the same. */
    static String find(IntPredicate slot) {
        for (int i = 0; ; i++) {
            String tag = Integer.toString(i);
            if (slot.test(SlotHash.getSlot(tag.getBytes(StandardCharsets.US_ASCII)))) {
                return tag;
            }
        }
    }
}
