package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.NearEntries.Entry;
import io.easykit.cache.engine.NearEntries.Stamp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NearEntriesTests {

    private static final Duration LIFE = Duration.ofSeconds(10);

    private final CacheKey<String> key = Workbench.ap().key(1);

    /** A fill may stand still between its check and its put. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aValueThatIsPutInAfterAnUpdateIsNeverReturned(boolean cleared) {
        List<@Nullable Entry> seen = new ArrayList<>();
        SlowLevel level = new SlowLevel();
        NearEntries entries = new NearEntries(level);
        Stamp stamp = entries.stamp(key, 0);
        level.beforePut = any -> {
            if (cleared) {
                entries.clear();
            } else {
                entries.invalidate(List.of(key));
            }
        };
        level.afterPut = any -> seen.add(entries.get(key, 1));

        entries.put(key, "old", stamp, LIFE, 1);

        seen.add(entries.get(key, 1));
        assertThat(seen).hasSize(2).containsOnlyNulls();
    }
}
