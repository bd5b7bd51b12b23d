package io.easykit.benchmarks.queue.node;

/**
 * A message of 140 characters. It begins with an identification for the listener.
 *
 * @param round round of sends it belongs to
 * @param number number in its round
 * @param due due time, ms since the epoch
 */
public record Message(int round, int number, long due) {

    private static final int LENGTH = 140;

    public String text() {
        String text = round + " " + number + " " + due + " ";
        return text + "x".repeat(LENGTH - text.length());
    }

    static Message of(String text) {
        int first = text.indexOf(' ');
        int second = text.indexOf(' ', first + 1);
        int third = text.indexOf(' ', second + 1);
        return new Message(
                Integer.parseInt(text, 0, first, 10),
                Integer.parseInt(text, first + 1, second, 10),
                Long.parseLong(text, second + 1, third, 10));
    }

    /** Remaining delay from now, for contenders that do not support instants. */
    public long delayMillis() {
        return Math.max(0, due - System.currentTimeMillis());
    }
}
