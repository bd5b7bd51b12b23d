package io.easykit.cache.redis;

import static io.easykit.cache.redis.EntryFields.bytes;

import io.easykit.cache.CacheKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Hints for the near levels of other nodes: the name of an entry that was invalidated, or of all entries of a prefix. They are
 * published on one channel, best effort: a lost hint costs the other nodes {@code near-ttl}, as without hints. A hint begins with
 * the id of its node, which ignores it.
 */
final class NearHints {

    /** Publishes nothing. */
    static final NearHints NONE = new NearHints("");

    private final String channel;
    private final String sender;
    private volatile Consumer<String> listener = any -> {};
    private volatile boolean hasReturned;

    private NearHints(String channel) {
        this.channel = channel;
        this.sender =
                String.format(Locale.ROOT, "%016x ", ThreadLocalRandom.current().nextLong());
    }

    static NearHints on(String channel) {
        return new NearHints(channel);
    }

    String channel() {
        return channel;
    }

    boolean areOn() {
        return !channel.isEmpty();
    }

    /** A hint that every node ignores, to try the permission and the subscription. */
    byte[] empty() {
        return bytes(sender);
    }

    /** A hint about all entries of a prefix. */
    byte[] ofAll(String prefix) {
        return bytes(sender + CacheKey.nameOfAll(prefix));
    }

    /**
     * The arguments of the script that invalidates an entry, with those of the hint. Of an entry that is known by its name only,
     * such as one of the outbox, this node may not know the near TTL: it has a hint, too.
     */
    List<byte[]> with(List<byte[]> arguments, CacheKey<?> key) {
        boolean isNear = !key.spec().options().nearTtl().isZero() || key.spec().type() == Object.class;
        if (!areOn() || !isNear) {
            return arguments;
        }
        List<byte[]> all = new ArrayList<>(arguments);
        all.add(bytes(channel));
        all.add(bytes(sender + RedisKeys.inHints(key)));
        return all;
    }

    /** @param value receives the names in the hints of other nodes; must not wait */
    void setListener(Consumer<String> value) {
        listener = value;
    }

    /** Whether a hint of this node has come back since the last call. */
    boolean takeReturned() {
        boolean returned = hasReturned;
        hasReturned = false;
        return returned;
    }

    /** A message of the channel, by any node. */
    void received(byte[] message) {
        String text = new String(message, StandardCharsets.UTF_8);
        if (text.startsWith(sender)) {
            hasReturned = true;
            return;
        }
        int begin = text.indexOf(' ') + 1;
        if (begin > 0 && begin < text.length()) {
            listener.accept(text.substring(begin));
        }
    }
}
