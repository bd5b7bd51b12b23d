package io.easykit.cache.engine;

import io.easykit.cache.engine.Lane.Caller;
import io.easykit.cache.engine.Lane.Turn;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds callers that would wait for each other for ever.
 *
 * <p>A caller waits for all callers of the turns ahead of its own. Reads of one turn run together, and one of them may wait
 * for the load of another. So a caller also waits for those of its turn that have gone on to a turn of another key, inside
 * their load; it may read the key of any of its turns again. Both kinds of waiting begin when a caller joins a turn. A caller that has no turn yet closes no circle: no caller
 * waits for it. So one look is enough, when a caller that has a turn joins another one.
 */
final class WaitCircle {

    private WaitCircle() {}

    /** Whether a caller that joins the turn it {@linkplain Caller#awaited() awaits} would wait for itself in the end. */
    static boolean closedBy(Caller joining) {
        Set<Caller> seen = new HashSet<>();
        Deque<Caller> open = new ArrayDeque<>(List.of(joining));
        while (!open.isEmpty()) {
            for (Caller next : waitedForBy(open.remove())) {
                if (next == joining) {
                    return true;
                }
                if (seen.add(next)) {
                    open.add(next);
                }
            }
        }
        return false;
    }

    private static List<Caller> waitedForBy(Caller caller) {
        List<Caller> found = new ArrayList<>();
        Turn awaited = caller.awaited();
        if (awaited == null) {
            caller.turns().forEach(turn -> addLoaders(caller, turn, found));
        } else {
            found.addAll(awaited.lane().aheadOf(awaited));
            addLoaders(caller, awaited, found);
        }
        return found;
    }

    /** Those whose load the caller may wait for, and that need another key inside it. */
    private static void addLoaders(Caller caller, Turn turn, List<Caller> found) {
        if (turn.isRead()) {
            turn.members().stream()
                    .filter(other -> other != caller && other.latest() != turn)
                    .forEach(found::add);
        }
    }
}
