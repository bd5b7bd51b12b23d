package io.easykit.trial;

import io.easykit.trial.Diary.Call;
import io.easykit.trial.Diary.Kind;
import io.easykit.trial.Diary.StaleRead;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The figures of one round.
 *
 * @param promotionMillis time from the fault until another server serves
 * @param lost acknowledged messages that were never delivered
 * @param early messages that were delivered too early
 * @param readsFailed reads that threw
 * @param cpStale stale CP reads that the documentation does not allow
 * @param cpStaleAdmitted stale CP reads soon after a promotion, of updates before it
 * @param ownStale AP reads that missed an update of their own node
 * @param apStale AP reads that were staler than the logged maximum
 * @param apWorstMillis age of the stalest AP read
 * @param sendsAgainMillis time from the promotion until both nodes have sent to the failed share; -1 without a
 *     promotion
 * @param updatesAgainMillis the same for CP updates
 * @param deliveriesAgainMillis the same for deliveries of the failed share, on any node
 * @param quietP99Micros p99 of calls to healthy shares before the fault
 * @param faultP99Micros p99 of calls to healthy shares during the fault
 * @param healthyFailures calls to healthy shares that threw, in words
 */
record Round(
        long promotionMillis,
        int sends,
        long sendsFailed,
        int lost,
        long twice,
        int early,
        long reads,
        long readsFailed,
        long updates,
        long updatesFailed,
        long cpStale,
        long cpStaleAdmitted,
        long ownStale,
        long apStale,
        long apWorstMillis,
        long sendsAgainMillis,
        long updatesAgainMillis,
        long deliveriesAgainMillis,
        long longestReadMillis,
        long quietP99Micros,
        long faultP99Micros,
        List<String> healthyFailures,
        int logLines,
        int stackTraces,
        double machineLoad) {

    /** Means "not again within the round". */
    static final long NOT_AGAIN = Long.MAX_VALUE;

    /** Logged maximum staleness of an AP entry: its stale window. */
    private static final Duration WINDOW = Duration.ofMillis(1_500);

    /** Logged additional staleness in an outage: the local level, and the outbox. */
    private static final Duration OUTAGE = Duration.ofMillis(5_000 + 2_500);

    /** Time between an update's end in Redis and its return to the caller on a busy machine. */
    private static final Duration SLACK = Duration.ofMillis(100);

    /** Time after which the invalidations of the last 30 s have been repeated. */
    private static final Duration REPEATED = Duration.ofSeconds(5);

    /** Time after a promotion in which all nodes have left a former master that is alive. */
    private static final Duration LEFT = Duration.ofSeconds(2);

    static Round of(Diary diary, Outage outage, int share, int nodes, Logs logs, double machineLoad) {
        List<Call> calls = diary.calls();
        Predicate<StaleRead> cp = read -> read.kind() == Kind.READ_CP;
        Predicate<StaleRead> admitted = read -> isAdmitted(read, outage);
        List<StaleRead> stale = diary.staleReads();
        long end = outage.isServedAgain()
                ? outage.servesAgainAt() + Duration.ofSeconds(1).toNanos()
                : outage.struckAt() + Duration.ofSeconds(30).toNanos();
        Predicate<Call> healthy = call -> call.share() != share;
        Predicate<Call> quiet = call -> call.ended() < outage.struckAt();
        Predicate<Call> during = call -> call.began() >= outage.struckAt() && call.began() < end;
        return new Round(
                outage.isServedAgain() ? millis(outage.servesAgainAt() - outage.struckAt()) : -1,
                diary.acknowledgedSends(),
                count(calls, call -> call.kind() == Kind.SEND && !call.isOk()),
                diary.missing().size(),
                diary.deliveredTwice(),
                diary.early(),
                count(calls, call -> call.kind().isRead()),
                count(calls, call -> call.kind().isRead() && !call.isOk()),
                count(calls, call -> !call.kind().isRead() && call.kind() != Kind.SEND),
                count(calls, call -> !call.kind().isRead() && call.kind() != Kind.SEND && !call.isOk()),
                stale.stream().filter(cp.and(admitted.negate())).count(),
                stale.stream().filter(cp.and(admitted)).count(),
                stale.stream()
                        .filter(cp.negate().and(StaleRead::own).and(admitted.negate()))
                        .count(),
                stale.stream()
                        .filter(cp.negate().and(read -> read.age() > bound(read, outage)))
                        .count(),
                stale.stream()
                        .filter(cp.negate())
                        .mapToLong(read -> millis(read.age()))
                        .max()
                        .orElse(0),
                again(calls, outage, share, nodes, Kind.SEND),
                again(calls, outage, share, nodes, Kind.UPDATE_CP),
                deliveredAgain(diary, outage, share),
                calls.stream()
                        .filter(call -> call.kind().isRead())
                        .mapToLong(call -> millis(call.took()))
                        .max()
                        .orElse(0),
                p99(calls, healthy.and(quiet)),
                p99(calls, healthy.and(during)),
                failures(calls, healthy, outage),
                logs.lines(),
                logs.stackTraces(),
                machineLoad);
    }

    long healthyFailed() {
        return healthyFailures.size();
    }

    static boolean isWorkingAgain(Diary diary, Outage outage, int share, int nodes) {
        List<Call> calls = diary.calls();
        return again(calls, outage, share, nodes, Kind.SEND) != NOT_AGAIN
                && again(calls, outage, share, nodes, Kind.UPDATE_CP) != NOT_AGAIN
                && deliveredAgain(diary, outage, share) != NOT_AGAIN;
    }

    /** The reads that no promise allows, in words. */
    static List<String> wrongReads(Diary diary, Outage outage) {
        return diary.staleReads().stream()
                .filter(read ->
                        read.kind() == Kind.READ_CP ? !isAdmitted(read, outage) : read.age() > bound(read, outage))
                .map(read -> "%s, %d ms after the fault%s; a newer version was returned %d ms before the read"
                        .formatted(
                                read.what(),
                                millis(read.began() - outage.struckAt()),
                                outage.isServedAgain()
                                        ? ", " + millis(read.began() - outage.servesAgainAt())
                                                + " ms after the promotion"
                                        : "",
                                millis(read.age())))
                .toList();
    }

    /**
     * A promoted replica may lack updates acknowledged by the former master. Their node repeats them. Sentinels on a busy
     * machine fail over a second time within a round, away from a master that is alive: it acknowledges updates until the
     * nodes have left it.
     */
    private static boolean isAdmitted(StaleRead read, Outage outage) {
        boolean lost = outage.isServedAgain()
                && read.began() - outage.struckAt() >= 0
                && isLost(read, outage.servesAgainAt(), Duration.ZERO);
        return lost || (outage.isPromotedAgain() && isLost(read, outage.promotedAgainAt(), LEFT));
    }

    /** @param left time in which updates still went to the former master */
    private static boolean isLost(StaleRead read, long promotedAt, Duration left) {
        return read.overtakenAt() - promotedAt < left.toNanos() && read.began() - promotedAt < REPEATED.toNanos();
    }

    private static long bound(StaleRead read, Outage outage) {
        boolean quiet = read.began() - outage.struckAt() < 0;
        return WINDOW.plus(SLACK).plus(quiet ? Duration.ZERO : OUTAGE).toNanos();
    }

    /** Returns the time of the slowest node, each by its first successful call that began after the promotion. */
    private static long again(List<Call> calls, Outage outage, int share, int nodes, Kind kind) {
        if (!outage.isServedAgain()) {
            return -1;
        }
        long worst = 0;
        for (int i = 0; i < nodes; i++) {
            int node = i;
            Optional<Call> first = calls.stream()
                    .filter(call -> call.kind() == kind && call.node() == node && call.share() == share && call.isOk())
                    .filter(call -> call.began() - outage.servesAgainAt() >= 0)
                    .min(Comparator.comparingLong(Call::ended));
            if (first.isEmpty()) {
                return NOT_AGAIN;
            }
            worst = Math.max(worst, millis(first.get().ended() - outage.servesAgainAt()));
        }
        return worst;
    }

    private static long deliveredAgain(Diary diary, Outage outage, int share) {
        if (!outage.isServedAgain()) {
            return -1;
        }
        return diary.deliveries().stream()
                .filter(delivery -> delivery.share() == share && delivery.at() - outage.servesAgainAt() >= 0)
                .mapToLong(delivery -> millis(delivery.at() - outage.servesAgainAt()))
                .min()
                .orElse(NOT_AGAIN);
    }

    private static long count(List<Call> calls, Predicate<Call> counted) {
        return calls.stream().filter(counted).count();
    }

    private static List<String> failures(List<Call> calls, Predicate<Call> counted, Outage outage) {
        return calls.stream()
                .filter(counted.and(call -> !call.isOk()))
                .map(call -> "%s on node %d, %d ms after the fault, took %d ms: %s"
                        .formatted(
                                call.kind(),
                                call.node(),
                                millis(call.began() - outage.struckAt()),
                                millis(call.took()),
                                call.error()))
                .toList();
    }

    private static long p99(List<Call> calls, Predicate<Call> counted) {
        long[] took = calls.stream()
                .filter(counted)
                .mapToLong(call -> call.took() / 1_000)
                .sorted()
                .toArray();
        return took.length == 0 ? -1 : took[(int) (took.length * 0.99)];
    }

    private static long millis(long nanos) {
        return Duration.ofNanos(nanos).toMillis();
    }
}
