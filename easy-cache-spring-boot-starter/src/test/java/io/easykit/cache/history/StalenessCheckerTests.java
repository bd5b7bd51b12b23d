package io.easykit.cache.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories of one key, written by hand. A value may be 100 ns old, 500 ns in an outage, and 1,000 ns more after a crash. */
class StalenessCheckerTests {

    private static final Bounds BOUNDS =
            new Bounds(Duration.ofNanos(100), Duration.ofNanos(500), Duration.ofNanos(1_000));

    private final List<Read> reads = new ArrayList<>();
    private final List<Update> updates = new ArrayList<>();
    private final List<Outages.Span> outages = new ArrayList<>();
    private final List<Loss> losses = new ArrayList<>();

    private void read(String node, long began, int version) {
        reads.add(new Read("k", node, false, began, began + 5, version));
    }

    private void update(long began, long ended, int version) {
        updates.add(new Update("k", "updater", began, ended, version));
    }

    private List<String> violations() {
        return StalenessChecker.check(new KeyHistory("k", reads, updates), BOUNDS, new Outages(outages), losses)
                .violations();
    }

    @Test
    void acceptsAnOldValueWithinTheBound() {
        update(10, 20, 1);
        read("other", 120, 0);
        read("other", 121, 1);

        assertThat(violations()).isEmpty();
    }

    @Test
    void findsAnOldValueBeyondTheBound() {
        update(10, 20, 1);
        read("other", 121, 0);

        assertThat(violations()).singleElement().asString().contains("older than the bound");
    }

    @Test
    void laterUpdatesDoNotProlongTheBound() {
        update(10, 20, 1);
        update(100, 110, 2);
        read("other", 130, 0);

        assertThat(violations()).singleElement().asString().contains("older than the bound");
    }

    @Test
    void findsAnOldValueThatComesBack() {
        update(10, 20, 1);
        read("other", 50, 1);
        read("other", 5_000, 0);

        assertThat(violations()).singleElement().asString().contains("older than the bound");
    }

    @Test
    void acceptsANewValueAndThenTheOldOneWithinTheBound() {
        update(10, 20, 1);
        read("one", 30, 1);
        read("other", 60, 0);

        assertThat(violations()).isEmpty();
    }

    @Test
    void findsANodeThatMissesItsOwnUpdate() {
        update(10, 20, 1);
        read("updater", 21, 0);

        assertThat(violations()).singleElement().asString().contains("its own node");
    }

    @Test
    void allowsMoreInAnOutageButNotWithoutEnd() {
        update(10, 20, 1);
        outages.add(new Outages.Span(5, 15));
        read("other", 520, 0);
        assertThat(violations()).isEmpty();

        read("other", 521, 0);
        assertThat(violations()).hasSize(1);
    }

    @Test
    void anOutageBeforeTheUpdateAllowsNothing() {
        update(10, 20, 1);
        outages.add(new Outages.Span(1, 9));
        read("other", 130, 0);

        assertThat(violations()).hasSize(1);
    }

    @Test
    void countsFromTheFirstReadIfTheUpdaterDied() {
        update(10, Update.UNKNOWN, 1);
        read("other", 2_000, 0);
        read("one", 3_000, 1);
        read("other", 4_105, 0);
        assertThat(violations()).isEmpty();

        read("other", 4_106, 0);
        assertThat(violations()).hasSize(1);
    }

    @Test
    void findsAVersionThatWasReadBeforeItsUpdateBegan() {
        update(100, 110, 1);
        read("other", 10, 1);

        assertThat(violations()).singleElement().asString().contains("before its update began");
    }

    @Test
    void findsAVersionThatNobodyWrote() {
        read("other", 10, 1);

        assertThat(violations()).singleElement().asString().contains("nobody wrote");
    }

    @Test
    void admitsAnOldValueAfterALossOfDataOnOtherNodesOnly() {
        update(10, 20, 1);
        read("other", 500, 0);
        assertThat(violations()).isNotEmpty();
        losses.add(new Loss(15, 40, 500));
        assertThat(violations()).isEmpty();

        read("updater", 500, 0);
        assertThat(violations()).singleElement().asString().contains("its own node");
    }

    @Test
    void findsTheOutageAmongSeveral() {
        Outages several = new Outages(List.of(
                new Outages.Span(50, 60),
                new Outages.Span(10, 20),
                new Outages.Span(15, 30),
                new Outages.Span(90, 95)));

        assertThat(several.touch(1, 9)).isFalse();
        assertThat(several.touch(1, 10)).isTrue();
        assertThat(several.touch(30, 40)).isTrue();
        assertThat(several.touch(31, 49)).isFalse();
        assertThat(several.touch(31, 91)).isTrue();
        assertThat(several.touch(96, 100)).isFalse();
    }
}
