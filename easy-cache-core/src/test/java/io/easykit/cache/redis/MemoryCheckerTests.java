package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The store in memory behaves as the scripts do. */
class MemoryCheckerTests {

    private static final int STEPS = 400;

    private static void check(int firstSeed, int seeds, BiFunction<CacheScript, String, String> weakness) {
        try (MemoryChecker checker = new MemoryChecker(weakness)) {
            for (int seed = firstSeed; seed < firstSeed + seeds; seed++) {
                checker.run(seed, STEPS);
            }
        }
    }

    private record Weakness(CacheScript weakened, String part, String replacement)
            implements BiFunction<CacheScript, String, String> {

        @Override
        public String apply(CacheScript script, String text) {
            return script == weakened ? ScriptTexts.replaceOnce(text, part, replacement) : text;
        }
    }

    @Test
    void bothStoresReplyTheSame() {
        check(0, 6, (script, text) -> text);
    }

    @Test
    @Tag("heavy")
    void bothStoresReplyTheSameForManySeeds() {
        check(1_000, 500, (script, text) -> text);
    }

    static Stream<Arguments> weaknesses() {
        return Stream.of(
                Arguments.of(
                        "an invalidation leaves the fencing token",
                        new Weakness(CacheScript.INVALIDATE, "'f', 'x', intent)", "'x', intent)")),
                Arguments.of(
                        "an update prolongs the stale window",
                        new Weakness(
                                CacheScript.INVALIDATE,
                                "staleUntil = math.min(now + window, staleUntil)",
                                "staleUntil = now + window")),
                Arguments.of(
                        "a load lease shortens the life of the entry by a millisecond",
                        new Weakness(
                                CacheScript.FETCH,
                                "KEYS[1], loadLease + keepToken)",
                                "KEYS[1], loadLease + keepToken - 1)")),
                Arguments.of(
                        "an epoch is not above the known one",
                        new Weakness(CacheScript.RAISE_EPOCH, "known + 1", "known")),
                Arguments.of(
                        "an expired value is returned after an invalidation",
                        new Weakness(CacheScript.PEEK, "staleUntil or entry[3] or", "entry[3] or")),
                Arguments.of(
                        "a reader gets a stale window that is too long",
                        new Weakness(CacheScript.FETCH, "and staleUntil - now > window", "and false")),
                Arguments.of(
                        "a value is shown in a stale window that is too long",
                        new Weakness(CacheScript.PEEK, "staleUntil - now <= window", "true")),
                Arguments.of(
                        "a reader that waits leaves the values of a stale window that is too long",
                        new Weakness(CacheScript.FETCH, "if isTooLong then drop() end\n  return", "return")),
                Arguments.of(
                        "a reader that loads leaves the values of a stale window that is too long",
                        new Weakness(CacheScript.FETCH, "if isTooLong then drop() end\nreturn", "return")),
                Arguments.of(
                        "an update keeps the values of a stale window that is too long",
                        new Weakness(CacheScript.PREPARE, "window == 0 or isTooLong", "window == 0")),
                Arguments.of(
                        "an invalidation keeps the values of a stale window that is too long",
                        new Weakness(CacheScript.INVALIDATE, "window > 0 and not isTooLong", "window > 0")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("weaknesses")
    void findsADifference(String what, Weakness weakness) {
        assertThatThrownBy(() -> check(0, 20, weakness)).as(what).isInstanceOf(AssertionError.class);
    }
}
