package io.easykit.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentInvalidationsTests {

    private final ManualClock clock = new ManualClock();
    private final RecentInvalidations recent = new RecentInvalidations(Duration.ofSeconds(30), 3, clock);

    @Test
    void forgetsWhatIsOldWhileTheStoreAnswers() {
        add(1);
        clock.advance(Duration.ofSeconds(20));
        add(2);
        clock.advance(Duration.ofSeconds(20));
        recent.forgetOld();
        assertThat(recent.all()).containsExactly(key(2));
        clock.advance(Duration.ofSeconds(20));
        add(3);
        assertThat(recent.all()).containsExactly(key(3));
    }

    @Test
    void forgetsNothingWhileTheStoreDoesNotAnswer() {
        add(1);
        clock.advance(Duration.ofDays(1));
        assertThat(recent.all()).containsExactly(key(1));
    }

    @Test
    void remembersEachKeyOnceFromItsLastTime() {
        add(1);
        add(2);
        clock.advance(Duration.ofSeconds(20));
        add(1);
        clock.advance(Duration.ofSeconds(20));
        recent.forgetOld();
        assertThat(recent.all()).containsExactly(key(1));
    }

    @Test
    void forgetsTheOldestBeyondItsLimit() {
        for (int id = 1; id <= 5; id++) {
            add(id);
        }
        assertThat(recent.all()).containsExactly(key(3), key(4), key(5));
    }

    private void add(int id) {
        recent.add(List.of(key(id)));
    }

    private static CacheKey<String> key(int id) {
        return Workbench.ap().key(id);
    }
}
