package io.easykit.benchmarks.queue.node;

/**
 * What a node shall send.
 *
 * @param messages    how many
 * @param threads     from so many threads
 * @param list        so many in one call, or 1 to send each by itself
 * @param due         ms since the epoch, or 0 for a delay that counts from the send
 * @param delay       ms
 * @param within      ms over which the due times are spread from there on, always in the same random way
 * @param perSecond   evenly so many, or 0 for as fast as it goes
 * @param outstanding waits while so many were sent that have not run yet; 0 for no such limit
 * @param limit       ms after which to give up
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

    /** One by one from one thread, as fast as it goes. */
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
        // Knuth's multiplicative hash: in no order, and the same for each contender and repetition.
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
