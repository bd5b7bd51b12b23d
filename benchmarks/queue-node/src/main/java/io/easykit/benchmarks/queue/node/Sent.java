package io.easykit.benchmarks.queue.node;

/**
 * What became of a {@link SendOrder}.
 *
 * @param messages that were sent
 * @param failed   whose send threw
 * @param run      of those sent, when the last was sent
 * @param nanos    it took
 */
public record Sent(int messages, int failed, int run, long nanos) {

    String line() {
        return Lines.of(messages, failed, run, nanos);
    }

    public static Sent parse(String line) {
        long[] n = Lines.numbers(line);
        return new Sent((int) n[0], (int) n[1], (int) n[2], n[3]);
    }

    public double perSecond() {
        return messages * 1e9 / nanos;
    }

    public double runPerSecond() {
        return run * 1e9 / nanos;
    }
}
