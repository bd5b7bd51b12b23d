package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.NameRules;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/**
 * Ids, and the shard that each belongs to. The shard follows from the id alone, so that cancel and find need no directory:
 * a generated id names it, {@code ~<shard in base 36>~<96 random bits>}, and an own id maps to one of the home shards by hash. The id
 * of a message with an ordering key, {@code ~~<key>~<own id>} or {@code ~~<key>~~<number><48 random bits>}, maps by the hash of the
 * key, so that all messages of a key are in one shard.
 */
final class MessageIds {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    /** Redis sorts messages of equal due time by their ids. So those of this process keep the order of sending. */
    private static final AtomicLong NUMBER = new AtomicLong(RANDOM.nextLong() >>> 2);

    private MessageIds() {}

    static String generate(int shard) {
        ByteBuffer bits = ByteBuffer.allocate(12).putLong(RANDOM.nextLong()).putInt(RANDOM.nextInt());
        return "~" + Integer.toString(shard, 36) + "~" + BASE64.encodeToString(bits.array());
    }

    static String generate(String orderingKey) {
        byte[] bits = new byte[6];
        RANDOM.nextBytes(bits);
        return NameRules.orderedId(
                orderingKey, String.format("~%016x", NUMBER.getAndIncrement()) + BASE64.encodeToString(bits));
    }

    /** Whether another id in another shard would do as well. */
    static boolean isMovable(String id) {
        return id.startsWith("~") && NameRules.orderingKey(id) == null;
    }

    /**
     * The shard of the id in a topic of so many shards. A generated id of a shard that does not exist goes by hash.
     *
     * @param home number of shards that ids without a named shard are spread over
     * @param all  number of shards that ids may name
     */
    static int shardOf(String id, int home, int all) {
        int named = named(id);
        if (named >= 0 && named < all) {
            return named;
        }
        String key = NameRules.orderingKey(id);
        CRC32 hash = new CRC32();
        hash.update((key == null ? id : key).getBytes(StandardCharsets.UTF_8));
        return (int) (hash.getValue() % home);
    }

    /** The greatest shard that one of these ids names; -1 if none does. */
    static int greatestNamed(Collection<String> ids) {
        return ids.stream().mapToInt(MessageIds::named).max().orElse(-1);
    }

    /** The shard that a generated id names, whether it exists or not; -1 for other ids. */
    static int named(String id) {
        int end = id.indexOf('~', 1);
        if (!id.startsWith("~") || end <= 1 || end > 3) {
            return -1;
        }
        try {
            int shard = Integer.parseInt(id.substring(1, end), 36);
            return shard < ShardKey.MAX_SHARDS ? shard : -1;
        } catch (NumberFormatException notGenerated) {
            return -1;
        }
    }
}
