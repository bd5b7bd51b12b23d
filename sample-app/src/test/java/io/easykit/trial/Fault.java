package io.easykit.trial;

import java.util.Locale;

/** What is done to a Redis while the nodes work on it. */
enum Fault {
    /** SIGKILL of the master. */
    KILL(true),
    /** SIGSTOP of the master, which resumes after the promotion as if it were still the master. */
    PAUSE(true),
    /** An operator's fail-over: the former master goes on as a replica. */
    DEMOTE(true),
    /** The present connections lead nowhere, without a reset. */
    VANISH(false),
    /** SIGKILL and a start at once, with the same data. */
    RESTART(false),
    /** One share of a cluster is away for good, master and replica. */
    PARTLY_DEAD(false),
    /** A slot of the queue moves to another master and back. */
    SLOT_MOVES(false);

    private final boolean promotes;

    Fault(boolean promotes) {
        this.promotes = promotes;
    }

    /** Whether a replica takes over, which may lack the last acknowledged writes. */
    boolean promotes() {
        return promotes;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
