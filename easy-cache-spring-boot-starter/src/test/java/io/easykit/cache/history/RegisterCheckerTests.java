package io.easykit.cache.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories of one key, written by hand. The numbers are begin, end and version. */
class RegisterCheckerTests {

    private static final List<Loss> NONE = List.of();

    private final List<Read> reads = new ArrayList<>();
    private final List<Update> updates = new ArrayList<>();

    private void read(long began, long ended, int version) {
        reads.add(new Read("k", "a", false, began, ended, version));
    }

    private void update(long began, long ended, int version) {
        updates.add(new Update("k", "updater", began, ended, version));
    }

    private Findings check(List<Loss> losses) {
        return RegisterChecker.check(new KeyHistory("k", reads, updates), losses);
    }

    private List<String> violations() {
        return check(NONE).violations();
    }

    @Test
    void acceptsReadsAndUpdatesInARow() {
        read(1, 2, 0);
        update(3, 4, 1);
        read(5, 6, 1);
        update(7, 8, 2);
        read(9, 10, 2);

        assertThat(violations()).isEmpty();
    }

    @Test
    void acceptsEitherVersionWhileAnUpdateRuns() {
        update(10, 20, 1);
        read(11, 12, 0);
        read(13, 14, 1);
        read(15, 19, 1);

        assertThat(violations()).isEmpty();
    }

    @Test
    void acceptsAnOldVersionOfAReadThatBeganBeforeTheUpdateReturned() {
        update(10, 20, 1);
        read(19, 90, 0);

        assertThat(violations()).isEmpty();
    }

    @Test
    void findsAReadThatMissesAnUpdateThatReturned() {
        update(10, 20, 1);
        read(21, 22, 0);

        assertThat(violations()).singleElement().asString().contains("stale");
    }

    @Test
    void findsAReadThatMissesTheUpdateBeforeTheLastOne() {
        update(10, 20, 1);
        update(15, 90, 2);
        read(30, 40, 0);

        assertThat(violations()).singleElement().asString().contains("stale");
    }

    @Test
    void findsReadsThatGoBackwardsWhileAnUpdateRuns() {
        update(10, 90, 1);
        read(11, 12, 1);
        read(13, 14, 0);

        assertThat(violations()).singleElement().asString().contains("stale");
    }

    @Test
    void acceptsReadsThatOverlapAndDiffer() {
        update(10, 90, 1);
        read(11, 20, 1);
        read(19, 30, 0);

        assertThat(violations()).isEmpty();
    }

    @Test
    void findsACachedReadAfterTheDatabaseWasReadAsNewer() {
        update(10, 90, 1);
        reads.add(new Read("k", "auditor", true, 11, 12, 1));
        read(13, 14, 0);

        assertThat(violations()).singleElement().asString().contains("stale");
    }

    @Test
    void findsAVersionThatWasReadBeforeItsUpdateBegan() {
        read(1, 2, 1);
        update(10, 20, 1);

        assertThat(violations()).singleElement().asString().contains("seen before it began");
    }

    @Test
    void findsAVersionThatNobodyWrote() {
        update(10, 20, 1);
        read(30, 40, 2);

        assertThat(violations()).singleElement().asString().contains("nobody wrote");
    }

    @Test
    void findsUpdatesWhoseOrderContradictsTheirTimes() {
        update(10, 20, 2);
        update(30, 40, 1);

        assertThat(violations()).singleElement().asString().contains("seen before it began");
    }

    @Test
    void findsAVersionThatWasAcknowledgedTwice() {
        update(10, 20, 1);
        update(12, 22, 1);

        assertThat(violations()).singleElement().asString().contains("written twice");
    }

    @Test
    void acceptsAnUpdateOfUnknownOutcomeThatIsNeverSeen() {
        update(10, Update.UNKNOWN, 1);
        read(50, 60, 0);
        update(70, 80, 1);
        read(90, 91, 1);

        assertThat(violations()).isEmpty();
    }

    @Test
    void acceptsAnUpdateOfUnknownOutcomeThatIsSeenLate() {
        update(10, Update.UNKNOWN, 1);
        read(50, 60, 0);
        read(70, 80, 1);

        assertThat(violations()).isEmpty();
    }

    @Test
    void findsReadsThatLoseAnUpdateOfUnknownOutcomeAgain() {
        update(10, Update.UNKNOWN, 1);
        read(50, 60, 1);
        read(70, 80, 0);

        assertThat(violations()).singleElement().asString().contains("stale");
    }

    @Test
    void admitsAStaleReadAfterALossOfData() {
        update(10, 20, 1);
        read(50, 60, 0);

        Findings found = check(List.of(new Loss(15, 40, 55)));

        assertThat(found.violations()).isEmpty();
        assertThat(found.admitted()).hasSize(1);
    }

    @Test
    void admitsNoStaleReadOfTheNodeThatUpdated() {
        update(10, 20, 1);
        reads.add(new Read("k", "updater", false, 50, 60, 0));

        assertThat(check(List.of(new Loss(15, 40, 55))).violations()).hasSize(1);
    }

    @Test
    void admitsNoStaleReadBeforeTheLossOrAfterItsEnd() {
        update(10, 20, 1);
        read(50, 60, 0);

        assertThat(check(List.of(new Loss(51, 52, 55))).violations()).hasSize(1);
        assertThat(check(List.of(new Loss(15, 40, 49))).violations()).hasSize(1);
    }

    @Test
    void admitsNoReadThatMissesAnUpdateThatBeganAfterTheLoss() {
        update(10, 20, 1);
        update(41, 45, 2);
        read(50, 60, 0);

        assertThat(check(List.of(new Loss(15, 40, 55))).violations()).hasSize(1);
    }
}
