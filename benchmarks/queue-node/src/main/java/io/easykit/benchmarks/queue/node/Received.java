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
 * @param least lateness of the first run that was least late, in µs
 */
public record Received(int messages, int twice, int early, long p50, long p99, long worst, long last, long least) {

    String line() {
        return Lines.of(messages, twice, early, p50, p99, worst, last, least);
    }

    public static Received parse(String line) {
        long[] n = Lines.numbers(line);
        // Nodes of earlier versions do not have the last one.
        long least = n.length > 7 ? n[7] : 0;
        return new Received((int) n[0], (int) n[1], (int) n[2], n[3], n[4], n[5], n[6], least);
    }
}
