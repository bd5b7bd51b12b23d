package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.UndecodableMessageException;

/** The message is in a format that a later version writes. A node of that version can read it; this one hands it back. */
final class NewerFrameException extends UndecodableMessageException {

    /**
     * @param what kind of frames that this node cannot read
     */
    NewerFrameException(String what) {
        super("This node cannot read " + what + ": they were sent by a later version. Update this node.", null);
    }
}
