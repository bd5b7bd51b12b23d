package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.InvalidCacheKeyException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.cache.interceptor.SimpleKey;

class SpringKeysTests {

    private static final CacheSpec<String> SPEC = CacheSpec.of("user", String.class);

    private static String name(Object key) {
        return SpringKeys.of(SPEC, key).name();
    }

    record Id(long number) {}

    @Test
    void keepsDifferentKeysApart() {
        List<Object> keys = List.of(
                SimpleKey.EMPTY,
                new SimpleKey((Object) null),
                new SimpleKey("a"),
                new SimpleKey("a", "b"),
                new SimpleKey("a", null),
                new SimpleKey(null, "a"),
                new SimpleKey("a", "b", "c"),
                new SimpleKey("a:b", "c"),
                new SimpleKey("a", List.of("b", "c")),
                new SimpleKey("a", Optional.empty()),
                new SimpleKey(SimpleKeyTwin.NO_PARAMETER),
                "a",
                "a:b",
                "[a,b,]",
                "",
                "null",
                "NO_PARAMETER",
                "SimpleKey []",
                List.of(),
                List.of("a", "b"),
                List.of("a"),
                Optional.empty(),
                1L,
                "1",
                new Id(1),
                SimpleKeyTwin.NO_PARAMETER,
                true,
                "true");

        Map<String, Object> names = new HashMap<>();
        for (Object key : keys) {
            assertThat(names.put(name(key), key))
                    .as("shares the entry of " + key)
                    .isNull();
        }
    }

    private enum SimpleKeyTwin {
        NO_PARAMETER
    }

    @Test
    void equalKeysNameOneEntry() {
        assertThat(name(new SimpleKey(1, "b"))).isEqualTo(name(new SimpleKey(1L, "b")));
        assertThat(name(new SimpleKey())).isEqualTo(name(SimpleKey.EMPTY));
        assertThat(name(7)).isEqualTo(name(7L));
    }

    /** An own annotation with these parts names the same entry. */
    @Test
    void severalParametersAreSeveralParts() {
        assertThat(name(new SimpleKey(7, "de"))).isEqualTo(SPEC.key(7, "de").name());
        assertThat(name(42)).isEqualTo(SPEC.key(42).name());
    }

    static List<Object> unfit() {
        return Arrays.asList(
                null,
                new Object(),
                new AtomicLong(1),
                Map.of("a", 1),
                new int[] {1},
                new SimpleKey(1, new int[] {1}),
                new SimpleKey((Object) new String[] {"a"}),
                new SimpleKey("a", "b") {});
    }

    @ParameterizedTest
    @MethodSource("unfit")
    void refusesKeysWithoutATextOfTheirOwn(Object key) {
        assertThatThrownBy(() -> name(key)).isInstanceOf(InvalidCacheKeyException.class);
    }
}
