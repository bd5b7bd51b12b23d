package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnwrittenInvalidationsTests {

    private static final CacheSpec<String> A = CacheSpec.of("a", String.class);
    private static final CacheSpec<String> B = CacheSpec.of("b", String.class);

    private final UnwrittenInvalidations unwritten = new UnwrittenInvalidations(2);

    @Test
    void hasKeysUntilTheyAreWritten() {
        List<CacheKey<String>> keys = List.of(A.key(1), A.key(2));
        unwritten.add(keys);
        assertThat(unwritten.contains(A.key(1))).isTrue();
        assertThat(unwritten.contains(A.key(3))).isFalse();
        assertThat(unwritten.containsAnyOf("a")).isTrue();
        assertThat(unwritten.containsAnyOf("b")).isFalse();

        unwritten.remove(keys);
        assertThat(unwritten.contains(A.key(1))).isFalse();
        assertThat(unwritten.containsAnyOf("a")).isFalse();
    }

    @Test
    void hasWholeCachesBeyondItsLimit() {
        unwritten.add(List.of(A.key(1), A.key(2), A.key(3)));
        assertThat(unwritten.contains(A.key(4))).isTrue();
        assertThat(unwritten.contains(A.all())).isTrue();
        assertThat(unwritten.contains(B.key(1))).isFalse();
    }
}
