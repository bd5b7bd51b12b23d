package io.easykit.trial;

import java.util.Locale;

/** A fault of a Redis that the nodes are using. */
enum Fault {
    /** SIGKILL of the master. */
    KILL(true),
    /** SIGSTOP of the master, which resumes after the promotion and still acts as master. */
    PAUSE(true),
    /** An operator's fail-over: the former master becomes a replica. */
    DEMOTE(true),
    /** The present connections are blocked, without a reset. */
    VANISH(false),
    /** SIGKILL and an immediate start, with the same data. */
    RESTART(false),
    /** One share of a cluster, master and replica, is down permanently. */
    PARTLY_DEAD(false),
    /** A slot of the queue moves to another master and back. */
    SLOT_MOVES(false);

    private final boolean promotes;

    Fault(boolean promotes) {
        this.promotes = promotes;
    }

    /** Whether a replica takes over. It may lack the last acknowledged writes. */
    boolean promotes() {
        return promotes;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
