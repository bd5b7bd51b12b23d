package io.easykit.redis;

import io.lettuce.core.ScriptOutputType;
import org.springframework.data.redis.connection.ReturnType;

/** The type of a script's reply. The drivers need it when they send the script. */
public enum ScriptReply {
    /** A {@code Long}. */
    NUMBER(ScriptOutputType.INTEGER, ReturnType.INTEGER),

    /** A {@code byte[]}, or null. */
    BYTES(ScriptOutputType.VALUE, ReturnType.VALUE),

    /** A {@code List} of numbers, bytes, lists and nulls. */
    LIST(ScriptOutputType.MULTI, ReturnType.MULTI);

    private final ScriptOutputType ofLettuce;
    private final ReturnType ofSpring;

    ScriptReply(ScriptOutputType ofLettuce, ReturnType ofSpring) {
        this.ofLettuce = ofLettuce;
        this.ofSpring = ofSpring;
    }

    ScriptOutputType ofLettuce() {
        return ofLettuce;
    }

    ReturnType ofSpring() {
        return ofSpring;
    }
}
