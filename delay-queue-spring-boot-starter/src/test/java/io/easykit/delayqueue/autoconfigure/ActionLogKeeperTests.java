package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.admin.ActionLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.env.MockEnvironment;

class ActionLogKeeperTests {

    private final List<Integer> sizes = new ArrayList<>();

    private final ActionLog actions = new ActionLog() {
        @Override
        public void add(String entry, int most) {
            assertThat(entry).isEqualTo("{\"id\":\"a\"}");
            sizes.add(most);
        }

        @Override
        public List<String> read(long skip, int count) {
            return List.of();
        }
    };

    /** Each change has two lines. */
    @ParameterizedTest
    @CsvSource({"7, 14", "500001, 1000000", ", 2000"})
    void keepsAsManyAsTheConsoleShows(@Nullable String size, int most) {
        keeper(size).keep(Map.of("id", "a"));

        assertThat(sizes).containsExactly(most);
    }

    @Test
    void keepsNothingIfToldSo() {
        keeper("0").keep(Map.of("id", "a"));

        assertThat(sizes).isEmpty();
    }

    private ActionLogKeeper keeper(@Nullable String size) {
        MockEnvironment environment = new MockEnvironment();
        if (size != null) {
            environment.setProperty("easykit.console.audit-size", size);
        }
        return new ActionLogKeeper(actions, environment);
    }
}
