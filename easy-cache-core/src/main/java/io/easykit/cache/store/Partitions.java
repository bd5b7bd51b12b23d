package io.easykit.cache.store;

import io.easykit.cache.CacheKey;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a store that can fail by themselves: the masters of a cluster, each with its slots. A store that is one
 * server has one part. Immutable: a fail-over keeps the slots together, so a partition survives it.
 */
public interface Partitions {

    /** A store that works or fails as a whole. */
    Partitions ONE = new Partitions() {

        @Override
        public int count() {
            return 1;
        }

        @Override
        public int of(CacheKey<?> key) {
            return 0;
        }

        @Override
        public int ofEpochs(int hash) {
            return 0;
        }

        @Override
        public int ofWorkLease(String name) {
            return 0;
        }

        @Override
        public String name(int partition) {
            return "";
        }
    };

    int count();

    /** The partition of an entry. Each read calls this. */
    int of(CacheKey<?> key);

    /** The partition of a {@linkplain EntryStore#epochs hash of epochs}. */
    int ofEpochs(int hash);

    /** The partition of a {@linkplain EntryStore#takeWorkLease work lease}. */
    int ofWorkLease(String name);

    /** Name of a partition for operators, the same on all nodes; empty if there is only one. */
    String name(int partition);

    /**
     * Whether a server may hold the partition at present. A new connection to another one does not concern it.
     *
     * @param server null if it is unknown
     */
    default boolean mayBeAt(int partition, @Nullable SocketAddress server) {
        return true;
    }

    /** Where the partition is at present, for a log line; empty if that is not known. */
    default String place(int partition) {
        return "";
    }
}
