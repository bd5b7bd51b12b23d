package io.easykit.delayqueue.engine;

import java.util.Collection;
import java.util.Iterator;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops several members at the same time. An error of one, such as no memory for its thread, leaves out no other. */
final class StopTogether {

    private static final Logger log = LoggerFactory.getLogger(StopTogether.class);

    private StopTogether() {}

    /**
     * @param begin the first half of a stop, which does not wait; an error is ignored
     * @param stop repeats the first half if it is missing, and waits; an error is thrown after the others have stopped
     */
    static <T> void run(Collection<T> members, Consumer<T> begin, Consumer<T> stop) {
        for (T member : members) {
            try {
                begin.accept(member);
            } catch (RuntimeException | Error e) {
                log.debug("There is no thread that waits for the end of a stop. The caller waits", e);
            }
        }
        stopEach(members.iterator(), stop);
    }

    private static <T> void stopEach(Iterator<T> rest, Consumer<T> stop) {
        if (rest.hasNext()) {
            try {
                stop.accept(rest.next());
            } finally {
                stopEach(rest, stop);
            }
        }
    }
}
