package io.easykit.delayqueue.admin;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The recent past of a topic, one point a minute. Minutes without a sample, as while no node ran, have no point.
 *
 * @param now    the store's clock
 * @param points the oldest first
 */
public record TopicSeries(String topic, Instant now, List<Point> points) {

    /** Samples come once a minute, so the last two points are at most this old. */
    private static final Duration LATEST = Duration.ofMinutes(4);

    public TopicSeries {
        points = List.copyOf(points);
    }

    /**
     * The topic at one minute.
     *
     * @param at           begin of the minute, by the store's clock
     * @param waiting      messages that wait, due ones included
     * @param due          of these, messages that are due
     * @param inFlight     messages under a lease
     * @param dead         dead letters
     * @param oldestDue    age of the oldest due message; zero if none is due
     * @param sent         messages sent since the topic exists
     * @param acknowledged messages done since the topic exists
     * @param failed       runs that failed since the topic exists
     * @param leaseExpirations leases that expired since the topic exists
     * @param died         deaths since the topic exists
     */
    public record Point(
            Instant at,
            long waiting,
            long due,
            long inFlight,
            long dead,
            Duration oldestDue,
            long sent,
            long acknowledged,
            long failed,
            long leaseExpirations,
            long died) {

        /** The sum of two shards at the same minute. */
        public Point plus(Point other) {
            return new Point(
                    at,
                    waiting + other.waiting,
                    due + other.due,
                    inFlight + other.inFlight,
                    dead + other.dead,
                    oldestDue.compareTo(other.oldestDue) > 0 ? oldestDue : other.oldestDue,
                    sent + other.sent,
                    acknowledged + other.acknowledged,
                    failed + other.failed,
                    leaseExpirations + other.leaseExpirations,
                    died + other.died);
        }

        /** Rates since an earlier point. */
        public Rates since(Point earlier) {
            double seconds = Math.max(1, Duration.between(earlier.at, at).toSeconds());
            return new Rates(
                    rate(sent - earlier.sent, seconds),
                    rate(acknowledged - earlier.acknowledged, seconds),
                    rate(failed - earlier.failed, seconds),
                    rate(leaseExpirations - earlier.leaseExpirations, seconds),
                    rate(died - earlier.died, seconds));
        }

        /** A counter that went back was deleted by hand. */
        private static double rate(long difference, double seconds) {
            return Math.max(0, difference) / seconds;
        }
    }

    /**
     * Events a second.
     *
     * @param sent         messages sent
     * @param acknowledged messages done
     * @param failed       runs that failed
     * @param leaseExpirations leases that expired
     * @param died         deaths
     */
    public record Rates(double sent, double acknowledged, double failed, double leaseExpirations, double died) {}

    /**
     * Runs that ended.
     *
     * @param count  all of them
     * @param failed of these, runs that failed
     */
    public record Runs(long count, long failed) {

        /**
         * Whether a greater share than this failed.
         *
         * @param share 0 to 1; compared as the decimal number that it prints as
         */
        public boolean failMoreThan(double share) {
            BigDecimal most = BigDecimal.valueOf(share).multiply(BigDecimal.valueOf(count));
            return BigDecimal.valueOf(failed).compareTo(most) > 0;
        }

        /** Share of the runs that failed, in percent, rounded up; 0 if there were none. */
        public long failedPercent() {
            return count == 0 ? 0 : (100 * failed + count - 1) / count;
        }
    }

    /** Runs that ended between the first and the last point. */
    public Runs runs() {
        if (points.isEmpty()) {
            return new Runs(0, 0);
        }
        Point first = points.get(0);
        Point last = points.get(points.size() - 1);
        long failed = Math.max(0, last.failed() - first.failed());
        return new Runs(failed + Math.max(0, last.acknowledged() - first.acknowledged()), failed);
    }

    /** Rates between the last two points; empty if there are none of the last minutes. */
    public Optional<Rates> latestRates() {
        int last = points.size() - 1;
        if (last < 1 || Duration.between(points.get(last - 1).at(), now).compareTo(LATEST) > 0) {
            return Optional.empty();
        }
        return Optional.of(points.get(last).since(points.get(last - 1)));
    }
}
