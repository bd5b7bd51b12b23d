package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.engine.MarkHistory.Connection;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MarkHistoryTests {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final MarkHistory history = new MarkHistory();
    private final Repetition line = new Repetition();
    private final Connection first = new Connection(line, 1);
    private final Connection second = new Connection(line, 2);

    /** Marks 1 to 100, one a second. */
    private void readHundred() {
        for (int mark = 1; mark <= 100; mark++) {
            assertThat(history.isOlder(mark, mark * SECOND, first)).isFalse();
            assertThat(history.stands(mark * SECOND)).isFalse();
        }
    }

    @Test
    void isOlderIfMoreIsMissingThanIsRepeated() {
        readHundred();
        assertThat(history.isOlder(79, 200 * SECOND, second)).isTrue();
        assertThat(history.isOlder(80, 201 * SECOND, second)).as("noticed once").isFalse();
    }

    /** An outage of 100 s counts as nothing: the invalidations of before it are repeated. */
    @Test
    void isNotOlderIfAllIsRepeated() {
        readHundred();
        assertThat(history.isOlder(80, 200 * SECOND, second)).isFalse();
        assertThat(history.isOlder(60, 201 * SECOND, new Connection(line, 3)))
                .as("before the mark with which the server came back")
                .isTrue();
    }

    @Test
    void isOlderIfTheServerHasLessThanANodeThatHasJustStarted() {
        history.isOlder(50, SECOND, first);
        assertThat(history.isOlder(49, 2 * SECOND, second)).isTrue();
    }

    @Test
    void isOlderIfTheMarkIsGone() {
        readHundred();
        assertThat(history.isOlder(0, 200 * SECOND, second)).isTrue();
        assertThat(history.stands(200 * SECOND)).isTrue();
    }

    @Test
    void isNotOlderOverTheSameConnection() {
        readHundred();
        assertThat(history.isOlder(0, 101 * SECOND, first)).isFalse();
        assertThat(history.isOlder(1, 102 * SECOND, second)).isFalse();
    }

    /** Two connections of a pool, and a reply that is used late. */
    @Test
    void toleratesRepliesInAnotherOrder() {
        readHundred();
        assertThat(history.isOlder(99, 101 * SECOND, first)).isFalse();
        assertThat(history.isOlder(10, 50 * SECOND, first)).isFalse();
        assertThat(history.isOlder(79, 102 * SECOND, second)).as("still known").isTrue();
    }

    /** A change of partitions makes other objects that count from one again. */
    @Test
    void knowsAnotherConnectionOfTheSameNumber() {
        readHundred();
        assertThat(history.isOlder(10, 101 * SECOND, new Connection(new Repetition(), 1)))
                .isTrue();
    }

    @Test
    void standsIfNoNodeAdvancesTheMark() {
        assertThat(history.stands(0)).isTrue();
        history.isOlder(1, 0, first);
        assertThat(history.stands(SECOND / 2)).isFalse();
        history.isOlder(1, SECOND / 2, first);
        assertThat(history.stands(SECOND)).isTrue();
        history.isOlder(2, SECOND, first);
        assertThat(history.stands(SECOND)).isFalse();
    }
}
