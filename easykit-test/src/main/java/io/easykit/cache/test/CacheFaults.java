package io.easykit.cache.test;

import io.easykit.cache.Availability;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Faults of the store and of processes, for all nodes of a test. Each one lasts until it has happened, or until {@link #heal}.
 */
public final class CacheFaults {

    private final Consumer<Consumer<Availability>> breakers;
    private volatile boolean away;
    private volatile boolean breakersAreOpen;
    private boolean losesReplyOfStore;
    private boolean losesInvalidation;
    private boolean losesReplyOfInvalidation;
    private boolean crashes;

    /** Tokens of the updates whose process is dead. */
    private final Set<String> crashed = new HashSet<>();

    /** @param breakers applies a change to the circuit breakers of all nodes */
    CacheFaults(Consumer<Consumer<Availability>> breakers) {
        this.breakers = breakers;
    }

    /**
     * The store cannot be reached until {@link #heal}, and the circuit breakers of all nodes are open at once. Assertions still
     * read the store.
     */
    public void storeAway() {
        away = true;
        breakersAreOpen = true;
        breakers.accept(breaker -> breaker.force(Availability.State.UNAVAILABLE));
    }

    /**
     * Calls of the store fail until {@link #heal}. The circuit breaker of a node opens as in production: when enough calls have
     * failed, or after three seconds in which its checks fail.
     */
    public void storeFails() {
        away = true;
    }

    /** The next loaded value is stored, and the node does not get the reply. */
    public synchronized void loseReplyOfNextStore() {
        losesReplyOfStore = true;
    }

    /** The next invalidation does not reach the store. The node repeats it when time advances. */
    public synchronized void loseNextInvalidation() {
        losesInvalidation = true;
    }

    /** The store carries out the next invalidation, and the node does not get the reply. It repeats it when time advances. */
    public synchronized void loseReplyOfNextInvalidation() {
        losesReplyOfInvalidation = true;
    }

    /**
     * The process of the next update dies after its commit and before its invalidation. The update stays prepared in the store
     * until its lease ends. Read by another node than the one that made it.
     */
    public synchronized void crashAfterNextCommit() {
        crashes = true;
    }

    /** Ends all faults. Nodes whose circuit breaker is open recover within five seconds of virtual time. */
    public void heal() {
        away = false;
        breakersAreOpen = false;
        breakers.accept(Availability::reset);
        endOthers();
    }

    private synchronized void endOthers() {
        losesReplyOfStore = false;
        losesInvalidation = false;
        losesReplyOfInvalidation = false;
        crashes = false;
        crashed.clear();
    }

    /** Whether the circuit breaker of a new node is to be open. */
    boolean areBreakersOpen() {
        return breakersAreOpen;
    }

    void requireStore() {
        if (away) {
            throw failure(
                    "The store is away: CacheFaults.storeAway() or storeFails() was called. Call heal() to end it.");
        }
    }

    synchronized void afterStore() {
        if (losesReplyOfStore) {
            losesReplyOfStore = false;
            throw failure("The reply was lost: CacheFaults.loseReplyOfNextStore() was called.");
        }
    }

    synchronized void beforeInvalidation() {
        if (losesInvalidation) {
            losesInvalidation = false;
            throw failure("The invalidation was lost: CacheFaults.loseNextInvalidation() was called.");
        }
    }

    synchronized void afterInvalidation() {
        if (losesReplyOfInvalidation) {
            losesReplyOfInvalidation = false;
            throw failure("The reply was lost: CacheFaults.loseReplyOfNextInvalidation() was called.");
        }
    }

    /** Whether the process of an update is dead: its calls are dropped, and count as done. */
    synchronized boolean isDead(String token) {
        if (crashes && !token.isEmpty()) {
            crashes = false;
            crashed.add(token);
        }
        return crashed.contains(token);
    }

    private static StoreUnavailableException failure(String message) {
        return StoreUnavailableException.unanswered(message, null);
    }
}
