package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.support.LogText;
import java.time.Instant;

/**
 * An ordering key whose messages wait, because one of them has died.
 *
 * @param id     of the dead message, which holds the key
 * @param diedAt since when the key is stopped
 * @param parked messages of the key that were due and have to wait. Those that are not due yet are not counted
 */
public record StoppedKey(String key, String id, Instant diedAt, long parked) {

    @Override
    public String toString() {
        return "StoppedKey[key=" + LogText.of(key) + ", id=" + LogText.of(id) + ", diedAt=" + diedAt + ", parked="
                + parked + "]";
    }
}
