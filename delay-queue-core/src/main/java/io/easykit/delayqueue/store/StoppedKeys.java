package io.easykit.delayqueue.store;

import io.easykit.delayqueue.admin.StoppedKey;
import java.util.List;

/**
 * A page of ordering keys that dead letters have stopped.
 *
 * @param next cursor of the next page, or empty after the last one. A page may have no keys
 */
public record StoppedKeys(String next, List<StoppedKey> keys) {

    /** Cursor of the first page. */
    public static final String BEGIN = "0";

    public StoppedKeys {
        keys = List.copyOf(keys);
    }
}
