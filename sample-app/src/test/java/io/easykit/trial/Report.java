package io.easykit.trial;

import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.function.ToLongFunction;

/** The rounds of one topology and fault as a row of a table, and the violations they show. */
record Report(String topology, Fault fault, List<Round> rounds) {

    /** In messages, at 200 sends a second to all shares. */
    private static final double LAG_OF_A_REPLICA = 5;

    static final String HEADER =
            """
            | topology | fault | rounds | promotion after | sends (failed) | lost | twice | early | reads (failed) | longest read \
            | updates (refused) | CP stale: wrong, admitted | AP stale: own, beyond bound, worst | again after promotion: sends, \
            updates, deliveries | p99 of healthy masters: quiet, fault | failed there | log lines, stack traces | load of the machine |
            | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |""";

    String row() {
        return "| %s | %s | %d | %s | %d (%d) | %d | %d | %d | %d (%d) | %s | %d (%d) | %d, %d | %d, %d, %d ms | %s, %s, %s | %s, %s | %d | %s, %d | %s |"
                .formatted(
                        topology,
                        fault,
                        rounds.size(),
                        median(Round::promotionMillis, "ms"),
                        sum(Round::sends),
                        sum(Round::sendsFailed),
                        sum(Round::lost),
                        sum(Round::twice),
                        sum(Round::early),
                        sum(Round::reads),
                        sum(Round::readsFailed),
                        median(Round::longestReadMillis, "ms"),
                        sum(Round::updates),
                        sum(Round::updatesFailed),
                        sum(Round::cpStale),
                        sum(Round::cpStaleAdmitted),
                        sum(Round::ownStale),
                        sum(Round::apStale),
                        max(Round::apWorstMillis),
                        median(Round::sendsAgainMillis, "ms"),
                        median(Round::updatesAgainMillis, "ms"),
                        median(Round::deliveriesAgainMillis, "ms"),
                        median(Round::quietP99Micros, "µs"),
                        median(Round::faultP99Micros, "µs"),
                        sum(Round::healthyFailed),
                        median(Round::logLines, ""),
                        sum(Round::stackTraces),
                        rounds.stream()
                                .mapToDouble(Round::machineLoad)
                                .mapToObj("%.0f"::formatted)
                                .reduce((first, last) -> last)
                                .orElse(""));
    }

    /**
     * Returns how many acknowledged messages may be lost, if the senders do not wait for replicas: those that no replica had
     * received when their master hung. A master of a cluster hangs in the same way, with its share of the sends.
     */
    static int lossByLag(int shares, Fault fault, int rounds) {
        return fault == Fault.PAUSE ? (int) Math.ceil(LAG_OF_A_REPLICA / shares) * rounds : 0;
    }

    /**
     * Returns the violations.
     *
     * @param allowedLoss acknowledged messages that may be lost in all rounds
     * @param againWithinMillis maximum time after the promotion, in milliseconds
     */
    List<String> faults(int allowedLoss, long againWithinMillis) {
        List<String> faults = new ArrayList<>();
        Map.<String, ToLongFunction<Round>>of(
                        "messages delivered early",
                        Round::early,
                        "reads failed",
                        Round::readsFailed,
                        "CP reads stale",
                        Round::cpStale,
                        "AP reads that missed an update of their own node",
                        Round::ownStale,
                        "AP reads staler than the node prints",
                        Round::apStale,
                        "calls to healthy masters failed",
                        Round::healthyFailed,
                        "stack traces logged",
                        Round::stackTraces)
                .forEach((what, count) -> {
                    if (sum(count) > 0) {
                        faults.add(sum(count) + " " + what);
                    }
                });
        if (sum(Round::lost) > allowedLoss) {
            faults.add(sum(Round::lost) + " acknowledged messages lost");
        }
        Map.<String, ToLongFunction<Round>>of(
                        "sends",
                        Round::sendsAgainMillis,
                        "CP updates",
                        Round::updatesAgainMillis,
                        "deliveries",
                        Round::deliveriesAgainMillis)
                .forEach((what, again) -> {
                    if (max(again) > againWithinMillis) {
                        faults.add(what + " work again only " + text(max(again), "ms") + " after the promotion");
                    }
                });
        return faults;
    }

    /**
     * Whether calls to healthy masters took longer than twice the time before the fault, by the median of the rounds.
     */
    boolean isHealthyPartSlow(long floorMicros) {
        long quiet = p50(Round::quietP99Micros);
        return quiet >= 0 && p50(Round::faultP99Micros) > Math.max(2 * quiet, floorMicros);
    }

    private String median(ToLongFunction<Round> value, String unit) {
        return p50(value) < 0 ? "–" : text(p50(value), unit) + " (" + text(max(value), unit) + ")";
    }

    private long p50(ToLongFunction<Round> value) {
        return rounds.stream()
                .mapToLong(value)
                .sorted()
                .skip(rounds.size() / 2)
                .findFirst()
                .orElse(-1);
    }

    private long max(ToLongFunction<Round> value) {
        return statistics(value).getMax();
    }

    private long sum(ToLongFunction<Round> value) {
        return statistics(value).getSum();
    }

    private LongSummaryStatistics statistics(ToLongFunction<Round> value) {
        return rounds.stream().mapToLong(value).summaryStatistics();
    }

    private static String text(long value, String unit) {
        return value == Round.NOT_AGAIN ? "never" : (value + " " + unit).strip();
    }
}
