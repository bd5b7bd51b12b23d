package io.easykit.cache.history;

import java.util.List;

/** The Redis of a run. */
interface Servers extends AutoCloseable {

    /** Returns the address for a node, as {@link HistoryNode.Settings} has it. */
    String addressFor(int node);

    /** Returns the faults of the servers and of the lines to them. */
    List<Fault> faults();

    /** Returns the times in which data were lost so far. */
    List<Loss> losses();

    @Override
    void close();
}
