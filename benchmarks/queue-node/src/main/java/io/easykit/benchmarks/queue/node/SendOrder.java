package io.easykit.benchmarks.queue.node;

/**
 * An order to send messages.
 *
 * @param messages number of messages
 * @param threads number of sending threads
 * @param list messages of one call, or 1 to send each separately
 * @param due due time in ms since the epoch, or 0 for a delay that starts with the send
 * @param delay delay in ms
 * @param within ms over which the due times are spread from there on, always in the same random way
 * @param perSecond constant rate of messages per second, or 0 for the maximum
 * @param outstanding maximum number of messages that were sent and have not run; 0 for no limit
 * @param limit ms after which to give up
 */
public record SendOrder(
        int messages,
        int threads,
        int list,
        long due,
        long delay,
        long within,
        int perSecond,
        int outstanding,
        long limit) {

    private static final long MINUTE = 60_000;

    /** Sends separately from one thread, at the maximum rate. */
    public static SendOrder of(int messages) {
        return new SendOrder(messages, 1, 1, 0, 0, 0, 0, 0, 10 * MINUTE);
    }

    public SendOrder fromThreads(int threads) {
        return new SendOrder(messages, threads, list, due, delay, within, perSecond, outstanding, limit);
    }

    public SendOrder inListsOf(int list) {
        return new SendOrder(messages, threads, list, due, delay, within, perSecond, outstanding, limit);
    }

    public SendOrder dueAt(long due) {
        return new SendOrder(messages, threads, list, due, 0, within, perSecond, outstanding, limit);
    }

    public SendOrder dueIn(long delay) {
        return new SendOrder(messages, threads, list, 0, delay, within, perSecond, outstanding, limit);
    }

    public SendOrder spreadOver(long within) {
        return new SendOrder(messages, threads, list, due, delay, within, perSecond, outstanding, limit);
    }

    public SendOrder perSecond(int perSecond) {
        return new SendOrder(messages, threads, list, due, delay, within, perSecond, outstanding, limit);
    }

    public SendOrder withOutstanding(int outstanding) {
        return new SendOrder(messages, threads, list, due, delay, within, perSecond, outstanding, limit);
    }

    public SendOrder limitedTo(long limit) {
        return new SendOrder(messages, threads, list, due, delay, within, perSecond, outstanding, limit);
    }

    long dueOf(int number) {
        long from = due > 0 ? due : System.currentTimeMillis() + delay;
        // Knuth's multiplicative hash: unordered, and the same for each contender and repetition.
        return within == 0 ? from : from + Math.floorMod((number * 2_654_435_761L) >>> 7, within);
    }

    public String line() {
        return Lines.of(messages, threads, list, due, delay, within, perSecond, outstanding, limit);
    }

    static SendOrder parse(String line) {
        long[] n = Lines.numbers(line);
        return new SendOrder((int) n[0], (int) n[1], (int) n[2], n[3], n[4], n[5], (int) n[6], (int) n[7], n[8]);
    }
}
