package io.easykit.delayqueue.store;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.NameRules;
import org.jspecify.annotations.Nullable;

/**
 * A message to be cancelled or moved.
 *
 * @param incarnation first bytes of the frame that is meant (envelope of the engine), or null for whatever has the id
 */
public record Target(String id, @Nullable Bytes incarnation) {
    public Target {
        NameRules.requireId(NameRules.requireWellFormed(id));
    }
}
