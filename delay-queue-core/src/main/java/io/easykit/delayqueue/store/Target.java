package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.NameRules;
import org.jspecify.annotations.Nullable;

/**
 * A message to cancel or reschedule.
 *
 * @param incarnation first 8 bytes of the frame (envelope of the engine), or null for any message with this id
 */
public record Target(String id, @Nullable Bytes incarnation) {
    public Target {
        NameRules.requireId(NameRules.requireWellFormed(id));
    }
}
