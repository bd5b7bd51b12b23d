package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.admin.ActionLog;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ActionScriptTests {

    private static final String KEY = "dq:{console}:actions";

    private final TestShard shard = new TestShard();
    private final ActionLog actions = shard.store.actions();

    @AfterEach
    void close() {
        shard.close();
    }

    private Map<String, ?> state() {
        Map<String, ?> state = shard.redis().snapshot();
        state.keySet().removeIf(key -> key.startsWith("test:"));
        return state;
    }

    @Test
    void keepsTheLatestActionsInOneList() {
        actions.add("pause \u00e9\n", 3);
        actions.add("resume", 3);
        assertThat(actions.read(0, 10)).containsExactly("resume", "pause \u00e9\n");

        actions.add("purge", 3);
        actions.add("drop", 3);
        assertThat(actions.read(0, 100)).containsExactly("drop", "purge", "resume");
        assertThat(actions.read(1, 1)).containsExactly("purge");
        assertThat(actions.read(3, 10)).isEmpty();
        assertThat(state().keySet()).containsExactly(KEY);

        actions.add("force", 1);
        assertThat(actions.read(0, 100)).containsExactly("force");
        assertThat(state().keySet()).containsExactly(KEY);
    }

    @Test
    void forgetsOldActionsThatALargerNumberKept() {
        for (int i = 1; i <= 2500; i++) {
            actions.add("a" + i, 5000);
        }

        actions.add("a2501", 10);
        actions.add("a2502", 10);
        actions.add("a2503", 5000);
        actions.add("a2504", 10);

        Map<String, String> kept = new HashMap<>(Map.of("last", "2504", "first", "2495"));
        for (int i = 2495; i <= 2504; i++) {
            kept.put(String.valueOf(i), "a" + i);
        }
        assertThat(shard.redis().snapshot().get(KEY).content()).isEqualTo(kept);
    }

    @Test
    void refusesWhatCannotBeAndChangesNothing() {
        actions.add("a".repeat(ActionLog.MAX_BYTES), 2);

        assertThatThrownBy(() -> actions.add("a".repeat(ActionLog.MAX_BYTES + 1), 2))
                .isInstanceOf(StoreRefusedException.class);
        assertThatThrownBy(() -> actions.add("b", 0)).isInstanceOf(StoreRefusedException.class);
        assertThatThrownBy(() -> actions.add("b", ActionLog.MAX_ENTRIES + 1)).isInstanceOf(StoreRefusedException.class);
        assertThatThrownBy(() -> actions.read(0, 101)).isInstanceOf(StoreRefusedException.class);
        assertThatThrownBy(() -> actions.read(-1, 1)).isInstanceOf(StoreRefusedException.class);
        assertThat(actions.read(0, 100)).isEqualTo(List.of("a".repeat(ActionLog.MAX_BYTES)));
    }

    @Test
    void takesAnActionWhileRedisIsFull() {
        shard.redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            actions.add("purge", 10);
        } finally {
            shard.redis().command("CONFIG", "SET", "maxmemory", "0");
        }

        assertThat(actions.read(0, 10)).containsExactly("purge");
    }
}
