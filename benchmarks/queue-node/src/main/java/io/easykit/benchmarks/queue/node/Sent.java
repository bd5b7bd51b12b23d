package io.easykit.benchmarks.queue.node;

/**
 * The results of a {@link SendOrder}.
 *
 * @param messages number of sent messages
 * @param failed number of messages whose send threw
 * @param run number of messages that had run when the last one was sent
 * @param nanos duration
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
