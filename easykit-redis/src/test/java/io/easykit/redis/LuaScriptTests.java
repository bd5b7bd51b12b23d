package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class LuaScriptTests {

    private static final String VALUES =
            """
            -- Of LuaScriptTests.
            local prefix = KEYS[1]

            local waiting = prefix .. 'waiting'

            """;

    private static final String FUNCTIONS =
            """
            local function length(key) return redis.call('ZCARD', key) end

            local function total() return length(waiting) end

            return total()
            """;

    @Test
    void getsTheBlocksOfThePreludeThatItUses() {
        assertThat(text("whole.lua")).isEqualTo(VALUES + FUNCTIONS);
    }

    @Test
    void getsThoseThatOnlyItsSecondPartUsesInFrontOfThatPart() {
        assertThat(text("ends-early.lua"))
                .isEqualTo(VALUES + "if redis.call('EXISTS', waiting) == 0 then return 0 end\n" + FUNCTIONS);
    }

    @Test
    void usesNoNamesOfCommentsTextsAndFields() {
        assertThat(text("no-uses.lua")).isEqualTo(LuaScript.resource(LuaScriptTests.class, "no-uses.lua"));
    }

    @Test
    void usesNamesBesideTexts() {
        assertThat(text("use-after-text.lua")).startsWith(VALUES).contains("local function total()");
    }

    private static String text(String file) {
        return LuaScript.read(LuaScriptTests.class, file, UnaryOperator.identity())
                .text();
    }
}
