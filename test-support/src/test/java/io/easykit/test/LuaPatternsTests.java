package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LuaPatternsTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "string.match(head, '.*\\n(caused by [^\\n]*)')",
                "if string.find(f(text or ''), '%d+:') then",
                "for word in string.gmatch(text, '[^:]-,') do",
                "string.gsub(text, '%s*$', '')"
            })
    void findsPatternsThatAreTriedAgainAtEachByte(String script) {
        assertThat(LuaPatterns.slow(script)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "string.match(head, '^.*\\n(caused by [^\\n]*)')",
                "string.gmatch(text, '%S+')",
                "string.gsub(codes, '1', '')",
                "string.find(text, 'x*y', 1, true)",
                "string.find(text, 'some%-%d')",
                "string.match(text, '[*+-]x')"
            })
    void leavesTheOthers(String script) {
        assertThat(LuaPatterns.slow(script)).isEmpty();
    }
}
