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
        unwritten.waiting(keys);
        assertThat(unwritten.contains(A.key(1))).isTrue();
        assertThat(unwritten.contains(A.key(3))).isFalse();
        assertThat(unwritten.containsAnyOf("a")).isTrue();
        assertThat(unwritten.containsAnyOf("b")).isFalse();

        unwritten.written(keys);
        assertThat(unwritten.contains(A.key(1))).isFalse();
        assertThat(unwritten.containsAnyOf("a")).isFalse();
    }

    @Test
    void manyWritesThatWaitLeaveNothingBehind() {
        List<CacheKey<String>> keys = List.of(A.key(1), A.key(2), A.key(3), A.key(4));
        keys.forEach(key -> unwritten.waiting(List.of(key)));
        assertThat(unwritten.contains(A.key(5))).isFalse();

        keys.forEach(key -> unwritten.written(List.of(key)));
        assertThat(unwritten.containsAnyOf("a")).isFalse();
    }

    @Test
    void hasAKeyUntilItsLastWriteIsMade() {
        List<CacheKey<String>> key = List.of(A.key(1));
        unwritten.waiting(key);
        unwritten.waiting(key);

        unwritten.written(key);
        assertThat(unwritten.contains(A.key(1))).isTrue();
        unwritten.written(key);
        assertThat(unwritten.contains(A.key(1))).isFalse();
    }

    @Test
    void hasAKeyWhoseWriteHasFailedUntilALaterOneOrALaterEnd() {
        List<CacheKey<String>> keys = List.of(A.key(1), A.key(2));
        unwritten.waiting(keys);
        unwritten.failed(keys);
        assertThat(unwritten.contains(A.key(1))).isTrue();

        unwritten.waiting(List.of(A.key(1)));
        unwritten.written(List.of(A.key(1)));
        unwritten.endedOtherwise(List.of(A.key(2)));
        assertThat(unwritten.containsAnyOf("a")).isFalse();
    }

    @Test
    void hasWholeCachesForTooManyFailedWrites() {
        unwritten.failed(List.of(A.key(1), A.key(2), A.key(3)));
        assertThat(unwritten.contains(A.key(4))).isTrue();
        assertThat(unwritten.contains(A.all())).isTrue();
        assertThat(unwritten.contains(B.key(1))).isFalse();
    }

    @Test
    void forgetsFailedWritesWhenRedisHasTakenAllInvalidations() {
        unwritten.waiting(List.of(B.key(1)));
        unwritten.failed(List.of(A.key(1), A.key(2), A.key(3)));

        unwritten.forgetFailedIf(() -> false);
        assertThat(unwritten.containsAnyOf("a")).isTrue();
        unwritten.forgetFailedIf(() -> true);
        assertThat(unwritten.containsAnyOf("a")).isFalse();
        assertThat(unwritten.contains(B.key(1))).isTrue();
    }
}
