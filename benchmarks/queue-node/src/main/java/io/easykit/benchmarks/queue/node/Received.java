package io.easykit.benchmarks.queue.node;

/**
 * The results of the messages of the last sends.
 *
 * @param messages number of messages that have run
 * @param twice    runs beyond the first one of each message
 * @param early    runs before the due time, by the wall clock of this machine
 * @param p50      lateness of the first runs in µs
 * @param p99 the same for the 99th percentile
 * @param worst the same for the maximum
 * @param last start of the last first run, in µs since the epoch
 */
public record Received(int messages, int twice, int early, long p50, long p99, long worst, long last) {

    String line() {
        return Lines.of(messages, twice, early, p50, p99, worst, last);
    }

    public static Received parse(String line) {
        long[] n = Lines.numbers(line);
        return new Received((int) n[0], (int) n[1], (int) n[2], n[3], n[4], n[5], n[6]);
    }
}
