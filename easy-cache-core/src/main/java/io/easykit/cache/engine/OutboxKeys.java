package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.type.VisibleText;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the keys that messages of the outbox name. Skips what is no key. */
final class OutboxKeys {

    private static final Logger log = LoggerFactory.getLogger(OutboxKeys.class);

    private final String clusterId;
    private boolean warnedOfUnreadable;

    OutboxKeys(String clusterId) {
        this.clusterId = clusterId;
    }

    List<CacheKey<?>> keysOf(Collection<Message> messages) {
        Set<CacheKey<?>> keys = new LinkedHashSet<>();
        for (Message message : messages) {
            message.keys().forEach(name -> addKey(keys, name, message));
        }
        return List.copyOf(keys);
    }

    private void addKey(Set<CacheKey<?>> keys, String name, Message message) {
        try {
            keys.add(CacheKey.named(clusterId, name));
        } catch (InvalidCacheKeyException unreadable) {
            if (!warnedOfUnreadable) {
                warnedOfUnreadable = true;
                log.warn(
                        "Message {} in the outbox names no entry: '{}'. It is skipped; further ones are skipped without a log"
                                + " line. Check which other program writes to that table.",
                        VisibleText.of(message.id()),
                        VisibleText.of(name));
            }
        }
    }
}
