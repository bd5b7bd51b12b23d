package io.easykit.cache.redis;

import io.easykit.redis.LuaScript;
import io.easykit.redis.ScriptReply;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** The scripts of the cache, one Lua file for each operation beside this class. */
enum CacheScript {
    FETCH,
    PEEK,
    STORE,
    RELEASE_LOAD,
    PREPARE,
    INVALIDATE,
    REMOVE_UNREADABLE,
    REMOVE_WRONG_TYPE,
    EXPLAIN,
    PROBE,
    RAISE_EPOCH,
    ADVANCE_MARK,
    PREPARE_CLEAR,
    END_EXPIRED_CLEARS,
    WORK_LEASE;

    @SuppressWarnings("ImmutableEnumChecker") // a LuaScript does not change
    private final LuaScript lua = LuaScript.read(CacheScript.class, file(), UnaryOperator.identity());

    String file() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua";
    }

    ScriptReply reply() {
        return this == FETCH || this == PEEK || this == RAISE_EPOCH || this == EXPLAIN
                ? ScriptReply.LIST
                : ScriptReply.NUMBER;
    }

    LuaScript lua() {
        return lua;
    }
}
