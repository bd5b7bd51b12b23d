package io.easykit.cache.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The marks that this node has read from one hash with epochs. They show when the server came back with older data.
 *
 * <h2>The problem</h2>
 *
 * A server without an append-only file restarts with its last snapshot, which may be an hour old. Each value that was invalidated since
 * is there again, and looks valid. So it is after a restored backup, and after a fail-over to a replica that was far behind. The
 * invalidations of the last seconds are repeated after each new connection ({@link RecentInvalidations}), earlier ones are not.
 *
 * <h2>The rule</h2>
 *
 * A mark in the store rises once a second or so, by whichever node finds that it stands. After a new connection a mark below
 * the one of {@link #REPEATED} before the last contact means that more is missing than will be repeated. Then all entries have to be
 * dropped. Without a new connection the mark can only have been lost alone, for example by eviction.
 */
final class MarkHistory {

    /** Shorter than the time for which invalidations are repeated, by what passes between two rounds. */
    static final Duration REPEATED = Duration.ofSeconds(20);

    /** The mark is advanced when it has stood for so long. */
    private static final Duration STANDS = Duration.ofMillis(900);

    /** Connections of a pool may return two replies in another order. */
    private static final long DISORDER = 5;

    private final Deque<Mark> marks = new ArrayDeque<>();
    private long lastRead;
    private Connection connection = new Connection(new Repetition(), 0);

    /** A mark, and when it was read first. */
    private record Mark(long number, long since) {}

    /** A number of {@link Repetition#connections}. After a change of partitions the other object is another connection. */
    record Connection(Repetition of, int number) {

        /** Whether no newer one is known. */
        boolean isLatest(Repetition present) {
            return of == present && number == present.connections();
        }
    }

    /**
     * Records a mark.
     *
     * @param number zero if there is none
     * @param sentAt ticker time at which the command was sent
     * @param over the connection of the reply
     * @return whether the server lacks more than will be repeated
     */
    synchronized boolean isOlder(long number, long sentAt, Connection over) {
        Mark last = marks.peekLast();
        boolean same = over.equals(connection);
        if (last != null && same && sentAt - lastRead < 0) {
            return false;
        }
        boolean older = false;
        if (last != null && number < last.number) {
            if (same && last.number - number <= DISORDER) {
                return false;
            }
            older = !same && number < atLeast();
            marks.clear();
        }
        lastRead = last == null ? sentAt : Math.max(lastRead, sentAt);
        connection = over;
        add(number);
        return older;
    }

    private void add(long number) {
        Mark last = marks.peekLast();
        if (number > 0 && (last == null || number > last.number)) {
            marks.addLast(new Mark(number, lastRead));
        }
    }

    /** The mark of {@link #REPEATED} before the last contact; the first one if that was later. */
    private long atLeast() {
        long first = 0;
        for (Mark mark : marks) {
            if (first == 0 || lastRead - mark.since >= REPEATED.toNanos()) {
                first = mark.number;
            }
        }
        return first;
    }

    /**
     * Whether no node has advanced the mark for about a second.
     *
     * @param now ticker time
     */
    synchronized boolean stands(long now) {
        while (marks.size() > 1 && isEnough()) {
            marks.removeFirst();
        }
        Mark last = marks.peekLast();
        return last == null || now - last.since >= STANDS.toNanos();
    }

    /** Whether the second mark is old enough, so that the first one is not needed. */
    private boolean isEnough() {
        Mark second = marks.stream().skip(1).findFirst().orElseThrow();
        return lastRead - second.since >= REPEATED.toNanos();
    }
}
