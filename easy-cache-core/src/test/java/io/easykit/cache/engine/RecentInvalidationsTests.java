package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.RecentInvalidations.Recent;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class RecentInvalidationsTests {

    private final ManualClock clock = new ManualClock();
    private final RecentInvalidations recent = new RecentInvalidations(Duration.ofSeconds(30), 3, clock);

    @Test
    void forgetsWhatIsOldWhileTheStoreAnswers() {
        add(1);
        clock.advance(Duration.ofSeconds(20));
        add(2);
        clock.advance(Duration.ofSeconds(20));
        recent.forgetOld(key -> true);
        assertThat(all()).containsExactly(key(2));
        clock.advance(Duration.ofSeconds(20));
        add(3);
        recent.forgetOld(key -> true);
        assertThat(all()).containsExactly(key(3));
    }

    @Test
    void forgetsNothingWhileTheStoreDoesNotAnswer() {
        add(1);
        clock.advance(Duration.ofDays(1));
        assertThat(all()).containsExactly(key(1));
    }

    @Test
    void forgetsNothingOfAPartitionThatDoesNotAnswer() {
        add(1);
        add(2);
        clock.advance(Duration.ofDays(1));
        add(3);
        recent.forgetOld(key -> !key.equals(key(1)));
        assertThat(all()).containsExactly(key(1), key(3));
        assertThat(recent.all(key -> key.equals(key(1)))).hasSize(1);
    }

    @Test
    void remembersEachKeyOnceFromItsLastTime() {
        add(1);
        add(2);
        clock.advance(Duration.ofSeconds(20));
        add(1);
        clock.advance(Duration.ofSeconds(20));
        recent.forgetOld(key -> true);
        assertThat(all()).containsExactly(key(1));
    }

    @Test
    void forgetsTheOldestBeyondItsLimit() {
        for (int id = 1; id <= 5; id++) {
            add(id);
        }
        assertThat(all()).containsExactly(key(3), key(4), key(5));
    }

    /** A line that breaks every 25 seconds. */
    private int repetitions() {
        return repetitions(Duration.ofSeconds(1));
    }

    /** @param down time without a line after 24 seconds with one */
    private int repetitions(Duration down) {
        for (int times = 0; times < 100; times++) {
            clock.advance(Duration.ofSeconds(24));
            recent.forgetOld(key -> true);
            clock.advance(down);
            if (all().isEmpty()) {
                return times;
            }
            recent.addRepeated(all());
        }
        throw new AssertionError("never forgotten");
    }

    @Test
    void keepsWhatIsRepeatedForABoundedTime() {
        add(1);
        assertThat(repetitions()).as("five of which count").isEqualTo(6);
    }

    @Test
    void boundsTheTimeFromTheFirstRepetitionAfterAnUpdateOrAnOutage() {
        add(1);
        clock.advance(Duration.ofSeconds(25));
        recent.addRepeated(all());
        clock.advance(Duration.ofSeconds(25));
        add(1);
        assertThat(repetitions()).isEqualTo(6);

        add(1);
        recent.addRepeated(all());
        clock.advance(Duration.ofHours(1));
        recent.addRepeated(all());
        recent.forgetOld(key -> true);
        assertThat(all()).as("the master that received it may fail, too").containsExactly(key(1));
        assertThat(repetitions()).as("30 s of the outage count").isEqualTo(4);
    }

    @Test
    void keepsWhatIsRepeatedForABoundedTimeAlsoIfTheLineIsDownForLong() {
        add(1);
        assertThat(repetitions(Duration.ofSeconds(11))).isEqualTo(6);
        add(1);
        assertThat(repetitions(Duration.ofMinutes(10)))
                .as("30 s of each turn count")
                .isEqualTo(6);
    }

    @Test
    void keepsTheOtherKeysOfAnUpdateWhenItIsRepeated() {
        recent.add(List.of(key(1)), List.of(key(1), key(2)));
        recent.addRepeated(List.of(key(1), key(3)));
        assertThat(recent.all(key -> true))
                .extracting(Recent::together)
                .containsExactly(List.of(key(1), key(2)), List.of());
    }

    @Test
    void forgetsTheOldestBeyondItsLimitWhenSomeAreRepeated() {
        add(1);
        add(2);
        add(3);
        recent.addRepeated(List.of(key(1), key(4)));
        assertThat(all()).containsExactly(key(3), key(1), key(4));
    }

    private List<CacheKey<?>> all() {
        return recent.all(key -> true).stream().<CacheKey<?>>map(Recent::key).toList();
    }

    private void add(int id) {
        recent.add(List.of(key(id)));
    }

    private static CacheKey<String> key(int id) {
        return Workbench.ap().key(id);
    }

    /** {@code "Aa"} and {@code "BB"} have one hash, so all these texts do. */
    @Timeout(20)
    @Test
    void staysFastWhereAllKeysHaveOneHash() {
        List<String> texts = List.of("");
        for (int length = 0; length < 15; length++) {
            texts = texts.stream()
                    .flatMap(text -> Stream.of(text + "Aa", text + "BB"))
                    .toList();
        }
        List<CacheKey<String>> keys =
                texts.stream().map(text -> Workbench.ap().key(text)).toList();
        RecentInvalidations all = new RecentInvalidations(Duration.ofHours(1), keys.size(), clock);

        for (int round = 0; round < 3; round++) {
            all.add(keys);
        }

        assertThat(keys.stream().mapToInt(CacheKey::hashCode).distinct()).hasSize(1);
        assertThat(all.all(key -> true)).hasSize(keys.size());
    }
}
