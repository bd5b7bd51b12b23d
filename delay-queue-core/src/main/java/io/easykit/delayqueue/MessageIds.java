package io.easykit.delayqueue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Objects;
import java.util.zip.CRC32;

/**
 * Ids, and the shard that each belongs to. The shard follows from the id alone, so that cancel and find need no directory:
 * a generated id names it, {@code ~<shard in base 36>~<96 random bits>}, and an own id maps to it by hash.
 */
final class MessageIds {

    static final int MAX_OWN_ID_BYTES = 256;

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

    /** Refuses ids that a sender may not choose. */
    static String requireOwn(String id) {
        int length = requireWellFormed(id).getBytes(StandardCharsets.UTF_8).length;
        if (id.isBlank() || length > MAX_OWN_ID_BYTES || id.startsWith("~")) {
            throw new IllegalArgumentException(
                    "Message id '" + LogText.of(id) + "' is not usable: give it 1 to " + MAX_OWN_ID_BYTES
                            + " bytes that are not blank, and no '~' at the start, which generated ids have.");
        }
        return id;
    }

    /** Refuses what UTF-8 cannot hold: two such ids would become the same one. */
    static String requireWellFormed(String id) {
        Objects.requireNonNull(id, "A message id that is null: give the id that the message was sent with.");
        if (!isWellFormed(id)) {
            throw new IllegalArgumentException("Message id '" + LogText.of(id)
                    + "' has an unpaired surrogate, which UTF-8 cannot hold: give it whole characters.");
        }
        return id;
    }

    /** Whether each surrogate has its pair. */
    static boolean isWellFormed(String text) {
        for (int at = 0; at < text.length(); at++) {
            if (Character.isSurrogate(text.charAt(at))) {
                boolean pairs = Character.isHighSurrogate(text.charAt(at))
                        && at + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(at + 1));
                if (!pairs) {
                    return false;
                }
                at++;
            }
        }
        return true;
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
