package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RunningUpdatesTests {

    private static final CacheSpec<String> NAME = CacheSpec.of("name", String.class);

    private final RunningUpdates running = new RunningUpdates();

    /** Actions that read all their keys would cost the square of them. */
    @Test
    void searchesNoList() {
        List<CacheKey<String>> keys = new UnsearchedList();
        IntStream.range(0, 100).forEach(i -> keys.add(NAME.key(i)));

        running.run(keys, () -> {
            assertThat(running.include(NAME.key(99))).isTrue();
            assertThat(running.include(NAME.key(100))).isFalse();
            return null;
        });

        assertThat(running.include(NAME.key(99))).isFalse();
    }

    @Test
    void includesAllEntriesOfAClearedCache() {
        running.run(List.of(NAME.all()), () -> {
            assertThat(running.include(NAME.key(1))).isTrue();
            return null;
        });
    }

    private static final class UnsearchedList extends ArrayList<CacheKey<String>> {

        private static final long serialVersionUID = 1L;

        @Override
        public boolean contains(@Nullable Object key) {
            throw new AssertionError("The list was searched");
        }
    }
}
