package io.easykit.trial;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.trial.Diary.Call;
import io.easykit.trial.Diary.Kind;
import io.easykit.trial.Diary.StaleRead;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Each figure of a trial detects its violation, and nothing else. */
class RoundTests {

    private static final int FAILED_SHARE = 0;
    private static final int HEALTHY_SHARE = 1;
    private static final int NODES = 2;
    private static final long STRUCK_AT = seconds(10);
    private static final long SERVES_AGAIN_AT = seconds(12);

    private final Diary diary = new Diary();

    @AutoClose
    private final Logs logs = Logs.record();

    private Outage outage = new Outage(STRUCK_AT, SERVES_AGAIN_AT, () -> {}, () -> {});

    @BeforeEach
    void everythingWorksAgainAfterOneSecond() {
        for (int node = 0; node < NODES; node++) {
            call(Kind.SEND, node, FAILED_SHARE, 12.9, 13, null);
            call(Kind.UPDATE_CP, node, FAILED_SHARE, 12.9, 13, null);
        }
        message("first", 0);
        diary.acknowledged("first");
        diary.delivered("first");
    }

    @Test
    void findsNothingWrongWhereNothingIs() {
        // The delivery above happened at the real nano time, long after these times.
        outage = new Outage(STRUCK_AT, System.nanoTime() - seconds(1), () -> {}, () -> {});
        for (int node = 0; node < NODES; node++) {
            double now = System.nanoTime() / 1e9;
            call(Kind.SEND, node, FAILED_SHARE, now, now + 0.1, null);
            call(Kind.UPDATE_CP, node, FAILED_SHARE, now, now + 0.1, null);
        }

        assertThat(faults()).isEmpty();
    }

    @Test
    void countsAnAcknowledgedMessageThatNeverCame() {
        message("lost", 0);
        diary.acknowledged("lost");

        assertThat(faults()).contains("1 acknowledged messages lost");
        assertThat(new Report("", Fault.KILL, List.of(round())).faults(1, Long.MAX_VALUE))
                .noneMatch(fault -> fault.contains("lost"));
    }

    @Test
    void doesNotMissAMessageThatWasNotAcknowledged() {
        message("failed", 0);

        assertThat(round().lost()).isZero();
    }

    @Test
    void countsAMessageThatCameEarlyAndOneThatCameTwice() {
        message("early", 60_000);
        diary.delivered("early");
        diary.delivered("first");

        assertThat(faults()).contains("1 messages delivered early");
        assertThat(round().twice()).isEqualTo(1);
    }

    @Test
    void countsAReadThatFailed() {
        call(Kind.READ_AP, 0, FAILED_SHARE, 11, 11.1, new IllegalStateException());

        assertThat(faults()).contains("1 reads failed");
    }

    @Test
    void admitsStaleStrongReadsOnlySoonAfterAPromotionAndOfUpdatesBeforeIt() {
        stale(Kind.READ_CP, false, 12.5, 9.9);
        assertThat(faults()).noneMatch(fault -> fault.contains("CP reads"));
        assertThat(round().cpStaleAdmitted()).isEqualTo(1);

        stale(Kind.READ_CP, false, 9.9, 9.8);
        stale(Kind.READ_CP, false, 12.6, 12.1);
        stale(Kind.READ_CP, false, 17.1, 9.9);
        assertThat(faults()).contains("3 CP reads stale");
    }

    @Test
    void admitsNoStaleStrongReadWhereNothingServesAgain() {
        outage = new Outage(STRUCK_AT, Outage.NEVER, () -> {}, () -> {});
        stale(Kind.READ_CP, false, 12.5, 9.9);

        assertThat(faults()).contains("1 CP reads stale");
    }

    @Test
    void countsAReadThatMissedAnUpdateOfItsOwnNode() {
        stale(Kind.READ_AP, true, 9, 8.999);
        stale(Kind.READ_AP, false, 9, 8.999);

        assertThat(faults()).contains("1 AP reads that missed an update of their own node");
    }

    @Test
    void boundsWeakReadsByTheWindowAndDuringAnOutageByWhatIsPrintedForIt() {
        stale(Kind.READ_AP, false, 9, 7.5);
        stale(Kind.READ_AP, false, 18, 9.1);
        assertThat(round().apStale()).isZero();

        stale(Kind.READ_AP, false, 9, 7.3);
        stale(Kind.READ_AP, false, 19, 9);
        assertThat(faults()).contains("2 AP reads staler than the node prints");
        assertThat(round().apWorstMillis()).isEqualTo(10_000);
    }

    @Test
    void noticesCallsThatDoNotWorkAgainOnOneNode() {
        outage = new Outage(STRUCK_AT, seconds(12.95), () -> {}, () -> {});
        call(Kind.SEND, 0, FAILED_SHARE, 13, 13.1, null);
        call(Kind.SEND, 1, FAILED_SHARE, 17, 17.1, null);
        call(Kind.UPDATE_CP, 0, FAILED_SHARE, 13, 13.1, null);
        call(Kind.UPDATE_CP, 1, HEALTHY_SHARE, 13, 13.1, null);

        assertThat(faults())
                .contains("sends work again only 4150 ms after the promotion")
                .contains("CP updates work again only never after the promotion");
    }

    @Test
    void noticesDeliveriesThatDoNotWorkAgain() {
        outage = new Outage(STRUCK_AT, System.nanoTime() + seconds(1), () -> {}, () -> {});

        assertThat(faults()).contains("deliveries work again only never after the promotion");
    }

    @Test
    void noticesAHealthyPartThatFailsOrBecomesSlow() {
        for (int i = 0; i < 100; i++) {
            call(Kind.READ_AP, 0, HEALTHY_SHARE, 9, 9.010, null);
            call(Kind.READ_AP, 0, HEALTHY_SHARE, 11, 11.019, null);
        }
        assertThat(report().isHealthyPartSlow(0)).isFalse();

        call(Kind.UPDATE_CP, 0, HEALTHY_SHARE, 11, 11.001, new IllegalStateException());
        for (int i = 0; i < 3; i++) {
            call(Kind.READ_AP, 0, HEALTHY_SHARE, 11, 11.021, null);
        }
        assertThat(faults()).contains("1 calls to healthy masters failed");
        assertThat(report().isHealthyPartSlow(0)).isTrue();
        assertThat(report().isHealthyPartSlow(50_000)).isFalse();
    }

    /** The first promoted server was replaced, and has acknowledged the update. */
    @Test
    void admitsStaleReadsAfterASecondFailOver() {
        stale(Kind.READ_CP, false, 14.6, 14.2);
        assertThat(round().cpStale()).isEqualTo(1);

        outage = outage.withLastPromotion(seconds(11.9));
        assertThat(round().cpStale()).isEqualTo(1);
        outage = outage.withLastPromotion(seconds(14));
        assertThat(round().cpStale()).isZero();
        assertThat(round().cpStaleAdmitted()).isEqualTo(1);

        stale(Kind.READ_CP, false, 16.2, 16.1);
        stale(Kind.READ_CP, false, 19.1, 13.9);
        assertThat(round().cpStale()).isEqualTo(2);
    }

    @Test
    void allowsTheLagOfAReplicaWhenItsMasterHangs() {
        assertThat(Report.lossByLag(1, Fault.PAUSE, 10)).isEqualTo(50);
        assertThat(Report.lossByLag(3, Fault.PAUSE, 10)).isEqualTo(20);
        assertThat(Report.lossByLag(3, Fault.KILL, 10)).isZero();
    }

    @Test
    void countsStackTracesOfEitherProduct() {
        LoggerFactory.getLogger("io.easykit.trial").warn("A line of a test, with a stack trace", new Exception("test"));

        assertThat(faults()).contains("1 stack traces logged");
        assertThat(round().logLines()).isEqualTo(1);
    }

    private List<String> faults() {
        return report().faults(0, 3_000);
    }

    private Report report() {
        return new Report("", Fault.KILL, List.of(round()));
    }

    private Round round() {
        return Round.of(diary, outage, FAILED_SHARE, NODES, logs, 0);
    }

    private void message(String id, long dueInMillis) {
        diary.sending(id, FAILED_SHARE, System.currentTimeMillis() + dueInMillis);
    }

    private void call(Kind kind, int node, int share, double began, double ended, @Nullable Exception error) {
        diary.called(new Call(kind, node, share, seconds(began), seconds(ended), error));
    }

    private void stale(Kind kind, boolean own, double began, double overtakenAt) {
        diary.stale(new StaleRead(kind, own, seconds(began), seconds(overtakenAt), ""));
    }

    private static long seconds(double seconds) {
        return (long) (seconds * Duration.ofSeconds(1).toNanos());
    }
}
