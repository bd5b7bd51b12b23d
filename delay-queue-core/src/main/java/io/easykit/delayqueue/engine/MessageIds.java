package io.easykit.delayqueue.engine;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.zip.CRC32;

/**
 * Ids, and the shard that each belongs to. The shard follows from the id alone, so that cancel and find need no directory:
 * a generated id names it, {@code ~<shard in base 36>~<96 random bits>}, and an own id maps to it by hash.
 */
final class MessageIds {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private MessageIds() {}

    static String generate(int shard) {
        ByteBuffer bits = ByteBuffer.allocate(12).putLong(RANDOM.nextLong()).putInt(RANDOM.nextInt());
        return "~" + Integer.toString(shard, 36) + "~" + BASE64.encodeToString(bits.array());
    }

    static boolean isGenerated(String id) {
        return id.startsWith("~");
    }

    /** The shard of the id in a topic of so many shards. A generated id of a shard that does not exist goes by hash. */
    static int shardOf(String id, int shards) {
        int end = id.indexOf('~', 1);
        if (id.startsWith("~") && end > 1 && end <= 3) {
            int named = shardNamed(id.substring(1, end));
            if (named >= 0 && named < shards) {
                return named;
            }
        }
        CRC32 hash = new CRC32();
        hash.update(id.getBytes(StandardCharsets.UTF_8));
        return (int) (hash.getValue() % shards);
    }

    private static int shardNamed(String base36) {
        try {
            return Integer.parseInt(base36, 36);
        } catch (NumberFormatException notGenerated) {
            return -1;
        }
    }
}
