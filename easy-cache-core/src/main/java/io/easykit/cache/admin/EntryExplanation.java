package io.easykit.cache.admin;

import io.easykit.cache.Outcome;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The next read of an entry, explained. True for one instant only.
 *
 * @param key       name of the entry
 * @param at        the instant, by the clock of Redis; null if Redis did not answer
 * @param state     the reason for the answer
 * @param nextRead  the answer of the store to the next reader that asks it; null if Redis did not answer
 * @param sentences the explanation for a person, the most important first
 * @param fields    the stored fields, as far as they are readable
 */
public record EntryExplanation(
        String key,
        @Nullable Instant at,
        State state,
        @Nullable Outcome nextRead,
        List<String> sentences,
        List<Field> fields) {

    public EntryExplanation {
        sentences = List.copyOf(sentences);
        fields = List.copyOf(fields);
    }

    /** A part of the stored entry. */
    public record Field(String name, String meaning) {}

    /** The reason for the answer to the next reader. */
    public enum State {

        /** There is no entry. */
        ABSENT,

        /** There is a valid value. */
        FRESH,

        /** There is a valid value near its end; the next reader gets it and loads a new one. */
        REFRESH_DUE,

        /** There is a valid value near its end, and a reader loads a new one. */
        REFRESHING,

        /** There is no value, and a reader is loading it. */
        LOADING,

        /** There is no value. The lease of the latest loader is over, but its value can still be stored. */
        LOAD_LATE,

        /**
         * There is no value. The latest loader has released its lease and stored nothing: its load failed, its value is not
         * to be cached, or it did not load.
         */
        LOAD_RELEASED,

        /** The value was invalidated, and is still returned inside the stale window. */
        STALE,

        /** The value was invalidated, and is not returned any more. */
        INVALIDATED,

        /** An update is being committed: nothing that is loaded now is stored. */
        UPDATING,

        /** An update was prepared, and its end was not reported before its lease was over. */
        UPDATE_LOST,

        /** There are values, but all of them were loaded before the prefix was cleared. */
        CLEARED,

        /** There are values, but none that this version of the application can read. */
        UNREADABLE,

        /** The value's life is over. */
        EXPIRED,

        /** The key holds something that is no entry. */
        NO_ENTRY,

        /**
         * An invalidation of this node waits until Redis takes it. Readers on this node load for themselves; those of other
         * nodes still get the stored value.
         */
        UNDELIVERED,

        /**
         * This node has a new connection to Redis, and has not yet repeated its recent invalidation of the entry: after a fail-over
         * the server may lack it. Readers on this node load for themselves; those of other nodes get the stored value.
         */
        WITHHELD,

        /** Redis did not answer. */
        UNAVAILABLE
    }
}
