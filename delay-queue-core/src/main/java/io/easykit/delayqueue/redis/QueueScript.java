package io.easykit.delayqueue.redis;

import io.easykit.redis.LuaScript;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** The scripts of the queue, one Lua file each beside this class. */
enum QueueScript {
    SEND,
    CLAIM,
    ACKNOWLEDGE,
    FAIL,
    RELEASE,
    EXTEND,
    LEND,
    REAP,
    CANCEL,
    RESCHEDULE,
    REDRIVE,
    REPLACE,
    PURGE,
    STOPPED_KEYS,
    FREE_KEY,
    ANNOUNCE,
    FIND,
    BROWSE,
    TRIAGE,
    READ,
    STATS,
    HEALTH,
    PAUSE,
    ALERT,
    DECLARE,
    REPAIR,
    TOPICS,
    BEAT,
    NODES,
    PAUSE_REQUEST,
    SAMPLE,
    SAMPLES,
    SHARE,
    JOB_CREATE,
    JOB_LIST,
    JOB_RUNNING,
    JOB_TAKE,
    JOB_SAVE,
    JOB_REQUEST,
    NOTE_ACTION,
    ACTIONS,
    DIAGNOSE;

    String file() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua";
    }

    /** @param edit changes the text before it is used; what ships changes nothing */
    LuaScript load(UnaryOperator<String> edit) {
        return LuaScript.read(QueueScript.class, file(), edit);
    }
}
