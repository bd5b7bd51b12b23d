package io.easykit.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.memory.FaultyCacheStore;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CacheKeyTests {

    private final CacheSpec<String> users = CacheSpec.of("user", String.class);

    record Query(@Nullable String name, @Nullable String city) {}

    record Page(Query query, int number) {}

    @Test
    void spellsPrefixAndParts() {
        assertThat(users.key(42).name()).isEqualTo("user::42");
        assertThat(users.keyOf(List.of("a", 7L, true, TimeUnit.DAYS)).name())
                .isEqualTo("user::a:7:true:java.util.concurrent.TimeUnit[DAYS]");
        UUID id = UUID.randomUUID();
        assertThat(users.key(id, LocalDate.of(2026, 11, 20)).name())
                .isEqualTo("user::" + id + ":LocalDate[2026-11-20]");
    }

    @Test
    void makesTheSameKeyOfPartsAndOfAListOfThem() {
        for (Object part : List.of(42, "a:b", List.of(1, "2"), new Query("a", null))) {
            assertThat(users.key(part)).isEqualTo(users.keyOf(List.of(part)));
        }
        assertThat(users.key(1, "b")).isEqualTo(users.keyOf(List.of(1, "b")));
        assertThat(users.key(1, "b", 2L)).isEqualTo(users.keyOf(List.of(1, "b", 2L)));
        assertThat(users.key(List.of(1, "b"))).isNotEqualTo(users.keyOf(List.of(1, "b")));
    }

    /** Neither spreads an array over the parts, as a method with a variable number of arguments would. */
    @Test
    void refusesNullAndAnArrayAsAPart() {
        assertThatThrownBy(() -> users.key(1, 2, null)).isInstanceOf(InvalidCacheKeyException.class);
        assertThatThrownBy(() -> users.key(1, 2, new String[0])).isInstanceOf(InvalidCacheKeyException.class);
        assertThatThrownBy(() -> users.key(null)).isInstanceOf(InvalidCacheKeyException.class);
        assertThatThrownBy(() -> users.key(new String[] {"a", "b"}))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("String[]");
    }

    /** The name stays as it is: it is the key in Redis. */
    @Test
    void isTextInOneVisibleLineOfALog() {
        CacheKey<String> key = users.key("q\n2026 ERROR forged\u001b[2J\u2028\u202e");

        assertThat(key.name()).contains("\n");
        assertThat(key).hasToString("user::q\\u000A2026 ERROR forged\\u001B\\[2J\\u2028\\u202E");
        assertThat(users.key("x".repeat(1_000_000)).toString()).hasSizeLessThan(510);
    }

    @Test
    void escapesWhatHasAMeaning() {
        assertThat(users.key("{a}1", "\\(a").name()).isEqualTo("user::\\(a}1:\\\\(a");
        assertThat(users.key("a:b", "[c,d]\\").name()).isEqualTo("user::a\\:b:\\[c\\,d\\]\\\\");
    }

    @Test
    void isEqualToAKeyOfTheSameTextOnTheSameCluster() {
        assertThat(users.key(1)).isEqualTo(users.key(1L)).hasSameHashCodeAs(users.key(1L));
        assertThat(users.key(1))
                .isNotEqualTo(users.key("1"))
                .isNotEqualTo(users.key(2))
                .isNotEqualTo("user::1");
        assertThat(users.key(1)).isNotEqualTo(users.withClusterId("trade").key(1));
        assertThat(users.key(1)).hasToString("user::1");
    }

    @Test
    void tellsNoElementFromAnEmptyOne() {
        assertThat(List.of(
                        users.key(List.of()).name(),
                        users.key("").name(),
                        users.key(List.of("")).name(),
                        users.key(List.of("", "")).name(),
                        users.key(List.of(List.of())).name(),
                        users.key("", "").name()))
                .doesNotHaveDuplicates();
    }

    @Test
    void tellsRecordsApartThatHaveTheSameText() {
        Query one = new Query("x, city=y", "z");
        Query other = new Query("x", "y, city=z");
        assertThat(one).hasToString(other.toString());
        assertThat(users.key(one)).isNotEqualTo(users.key(other));
        assertThat(users.key(new Query(null, "z"))).isNotEqualTo(users.key(new Query("null", "z")));
        assertThat(users.key(new Query("\\N", "z"))).isNotEqualTo(users.key(new Query(null, "z")));
        assertThat(users.key(new Page(one, 1))).isNotEqualTo(users.key(new Page(other, 1)));
        assertThat(users.key(new Page(one, 1))).isEqualTo(users.key(new Page(new Query("x, city=y", "z"), 1)));
    }

    @Test
    void neverCollidesForDifferentParts() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<String, List<Object>> seen = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            String prefix = random.nextBoolean() ? "a" : "a:b";
            List<Object> parts = new ArrayList<>();
            for (int n = random.nextInt(3); n >= 0; n--) {
                parts.add(randomPart(random, 2));
            }
            List<Object> whole = List.of(prefix, parts);
            String text = CacheSpec.of(prefix, String.class).keyOf(parts).name();
            List<Object> former = seen.putIfAbsent(text, whole);
            if (former != null) {
                assertThat(whole).as("seed %s, key %s", seed, text).isEqualTo(former);
            }
        }
    }

    /** A text that looks like a UUID begins with a backslash, which must not be taken for an escape. */
    @Test
    void textsOfTheLengthOfAUuidHaveKeysOfTheirOwn() {
        String rest = "1234567-" + "x".repeat(27);
        assertThat(Stream.of(
                                users.key("{" + rest),
                                users.key("(" + rest),
                                users.key("\\(" + rest),
                                users.key(":" + rest),
                                users.key("\\", rest),
                                users.key("\\", "1234567-" + "x".repeat(28)),
                                users.key(List.of("," + rest)),
                                users.key(List.of("\\", rest)),
                                users.key("N" + rest),
                                users.key("a" + rest),
                                users.key("\\a" + rest))
                        .map(CacheKey::name))
                .doesNotHaveDuplicates();
        UUID id = UUID.randomUUID();
        assertThat(users.key(id)).isNotEqualTo(users.key(id.toString()));
    }

    private static Object randomPart(Random random, int depth) {
        if (depth > 0 && random.nextInt(3) == 0) {
            List<Object> list = new ArrayList<>();
            for (int n = random.nextInt(3); n > 0; n--) {
                list.add(randomPart(random, depth - 1));
            }
            return list;
        }
        StringBuilder text = new StringBuilder();
        for (int n = random.nextInt(4); n > 0; n--) {
            text.append("ab:,[]\\N{(".charAt(random.nextInt(10)));
        }
        // Of the length of a UUID, and with its first hyphen.
        return random.nextInt(8) == 0 ? (text + "1234567-").substring(0, 8) + "-" + "x".repeat(27) : text.toString();
    }

    @Test
    void refusesAKeyWithoutParts() {
        assertThatThrownBy(() -> users.keyOf(List.of()))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("'user'")
                .hasMessageContaining("Name at least one");
    }

    @Test
    void refusesNull() {
        assertThatThrownBy(() -> users.key(1, null))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("'user' is null")
                .hasMessageContaining("condition");
        assertThatThrownBy(() -> users.key(Arrays.asList("a", null))).isInstanceOf(InvalidCacheKeyException.class);
    }

    @Test
    void refusesWhatHasNoStableText() {
        for (Object odd : List.of(new int[] {1}, new FaultyCacheStore(() -> 0), Set.of(1), Map.of(1, 2))) {
            assertThatThrownBy(() -> users.key(odd))
                    .isInstanceOf(InvalidCacheKeyException.class)
                    .hasMessageContaining(odd.getClass().getTypeName())
                    .hasMessageContaining("Use its id or a list of texts, or make it a record");
        }
    }

    @Test
    void refusesHalfACharacter() {
        assertThatThrownBy(() -> users.key("\ud83d"))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("surrogate");
        assertThat(users.key("\ud83d\ude00").name()).isEqualTo("user::\ud83d\ude00");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", ":user", "user:", "user::v2"})
    void refusesAPrefixThatCannotStartAKey(String prefix) {
        assertThatThrownBy(() -> CacheSpec.of(prefix, String.class))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("'" + prefix + "'")
                .hasMessageContaining("user:v2");
    }
}
