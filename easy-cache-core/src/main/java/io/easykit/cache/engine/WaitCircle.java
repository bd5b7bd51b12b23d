package io.easykit.cache.engine;

import io.easykit.cache.engine.Lane.Caller;
import io.easykit.cache.engine.Lane.Turn;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds callers that would wait for each other for ever.
 *
 * <p>A caller waits for all callers of the turns ahead of its own. Reads of one turn run together, and one of them may wait
 * for the load of another. So a caller also waits for those of its turn that have gone on to a turn of another key, inside
 * their load; it may read the key of any of its turns again. Both kinds of waiting begin when a caller joins a turn. A caller
 * that has no turn yet closes no circle: no caller waits for it. So one test is enough, when a caller that has a turn joins
 * another one. When two turns of reads begin to run together, the later one has waited for the earlier one before.
 *
 * <p>A search passes each turn and each caller once, since it holds the lock of all keys.
 */
final class WaitCircle {

    private final Caller joining;
    private final Set<Caller> found = new HashSet<>();
    private final Deque<Caller> open = new ArrayDeque<>();

    /** Turns whose callers are found, with those of all turns ahead of them. */
    private final Set<Turn> passed = new HashSet<>();

    /** Lanes whose readers are found that have gone on to another key. */
    private final Set<Lane> searched = new HashSet<>();

    private WaitCircle(Caller joining) {
        this.joining = joining;
    }

    /** Whether a caller that joins the turn it {@linkplain Caller#awaited() awaits} would wait for itself in the end. */
    static boolean closedBy(Caller joining) {
        return new WaitCircle(joining).isClosed();
    }

    private boolean isClosed() {
        for (Caller caller = joining; caller != null; caller = open.poll()) {
            addWaitedForBy(caller);
            if (found.contains(joining)) {
                return true;
            }
        }
        return false;
    }

    private void addWaitedForBy(Caller caller) {
        Turn awaited = caller.awaited();
        if (awaited == null) {
            caller.turns().forEach(this::addLoaders);
        } else {
            addAhead(awaited);
            addLoaders(awaited);
        }
    }

    private void addAhead(Turn awaited) {
        for (Turn turn : awaited.lane().aheadOf(awaited)) {
            if (!passed.add(turn)) {
                return;
            }
            turn.members().forEach(this::add);
        }
    }

    /** Adds turns whose load a reader of this turn may wait for, and that need another key inside it. */
    private void addLoaders(Turn turn) {
        Lane lane = turn.lane();
        if (turn.isRead() && turn.isRunning() && searched.add(lane)) {
            for (Turn running : lane.running()) {
                running.members().stream()
                        .filter(other -> isElsewhere(other.latest(), lane))
                        .forEach(this::add);
            }
        }
    }

    private static boolean isElsewhere(@Nullable Turn latest, Lane lane) {
        return latest != null && latest.lane() != lane;
    }

    private void add(Caller caller) {
        if (found.add(caller)) {
            open.add(caller);
        }
    }
}
