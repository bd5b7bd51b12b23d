package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.NameRules;

/**
 * A message to be stored.
 *
 * @param id    of 1 to 512 bytes
 * @param frame the encoded envelope of the engine; not empty
 */
public record NewMessage(String id, DueTime due, Bytes frame) {
    public NewMessage {
        NameRules.requireId(NameRules.requireWellFormed(id));
        require(frame.length() > 0, "A frame is not empty");
    }

    private static void require(boolean holds, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException(complaint + ".");
        }
    }
}
