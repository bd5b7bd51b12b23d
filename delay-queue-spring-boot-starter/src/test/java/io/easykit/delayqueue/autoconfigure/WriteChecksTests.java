package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WriteChecksTests {

    private final List<ShardKey> written = new ArrayList<>();
    private boolean refuses;
    private long now;

    private final WriteChecks checks = new WriteChecks(this::write, () -> now);

    @Test
    void triesEachShardOnceASecond() {
        checks.require("orders", 2);
        checks.require("orders", 2);
        assertThat(written).containsExactly(new ShardKey("orders", 0), new ShardKey("orders", 1));

        now += Duration.ofSeconds(1).toNanos();
        checks.require("orders", 2);
        assertThat(written).hasSize(4);
    }

    @Test
    void triesAFewShardsAtATimeAndEachOfThem() {
        for (int second = 0; second < 5; second++) {
            checks.require("orders", 10);
            assertThat(written).hasSize(WriteChecks.MOST_SHARDS * (second + 1));
            now += Duration.ofSeconds(1).toNanos();
        }
        assertThat(written.stream().map(ShardKey::shard))
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }

    @Test
    void triesTheShardThatFailedAgainFirst() {
        checks.require("orders", 10);
        now += Duration.ofSeconds(1).toNanos();
        refuses = true;
        for (int second = 0; second < 3; second++) {
            written.clear();
            assertThatThrownBy(() -> checks.require("orders", 10)).hasMessage("no room");
            assertThat(written).containsExactly(new ShardKey("orders", 4));
            now += Duration.ofSeconds(1).toNanos();
        }
    }

    @Test
    void keepsAFailureForASecond() {
        refuses = true;
        assertThatThrownBy(() -> checks.require("orders", 2)).hasMessage("no room");
        refuses = false;
        assertThatThrownBy(() -> checks.require("orders", 2)).hasMessage("no room");
        assertThat(written).hasSize(1);

        now += Duration.ofSeconds(1).toNanos();
        assertThatCode(() -> checks.require("orders", 2)).doesNotThrowAnyException();
    }

    private void write(ShardKey shard) {
        written.add(shard);
        if (refuses) {
            throw new IllegalStateException("no room");
        }
    }
}
