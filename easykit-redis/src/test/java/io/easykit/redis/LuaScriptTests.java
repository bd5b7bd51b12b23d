package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class LuaScriptTests {

    @Test
    void getsTheBlocksOfThePreludeThatItUses() {
        assertThat(text("whole.lua"))
                .isEqualTo(
                        """
                        -- Of LuaScriptTests.
                        local prefix = KEYS[1]

                        local waiting = prefix .. 'waiting'

                        local function length(key) return redis.call('ZCARD', key) end

                        local function total() return length(waiting) end

                        return total()
                        """);
    }

    @Test
    void getsThoseThatOnlyItsSecondPartUsesInFrontOfThatPart() {
        assertThat(text("ends-early.lua"))
                .isEqualTo(
                        """
                        -- Of LuaScriptTests.
                        local prefix = KEYS[1]

                        local waiting = prefix .. 'waiting'

                        if redis.call('EXISTS', waiting) == 0 then return 0 end
                        local function length(key) return redis.call('ZCARD', key) end

                        local function total() return length(waiting) end

                        return total()
                        """);
    }

    private static String text(String file) {
        return LuaScript.read(LuaScriptTests.class, file, UnaryOperator.identity())
                .text();
    }
}
