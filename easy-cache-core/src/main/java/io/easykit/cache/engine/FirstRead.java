package io.easykit.cache.engine;

import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore.Snapshot;

/** The result of the first read of an entry: a fresh value, for which nothing more is made, or a miss. */
sealed interface FirstRead<V> permits Decoded, FirstRead.Missed {

    /**
     * No fresh value.
     *
     * @param unusable whether the value of the entry must not be used, whatever it is
     */
    record Missed<V>(Snapshot seen, boolean unusable) implements FirstRead<V> {}
}
