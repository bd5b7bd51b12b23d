package io.easykit.console;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The part of the console's API that one product adds. */
public interface ConsoleApi {

    /** Features of users who may save bodies, and the reads behind them, which are recorded. */
    Set<String> FOR_BODIES = Set.of("body", "export");

    /** Feature of users who may search messages for a text. */
    String FOR_SEARCHES = "search";

    /**
     * Begins the part of a {@link Planned#filter} that selects by values, for example by a text in bodies. It is the last part: the
     * page of the audit hides what follows from users who may not see values.
     */
    String TEXT_OF_VALUES = ", text ";

    /** Names of the pages and lists that it fills. */
    Set<String> features();

    /** Reads by their path behind {@code api/}. */
    Map<String, Read> reads();

    /** Changes by their path behind {@code api/}. */
    Map<String, Change> changes();

    /** Called after each change through this node, also after one that failed: forgets numbers that may be out of date. */
    default void changed() {}

    /** The clock of its store in milliseconds, or null if it is not known. Does not call the store. */
    default @Nullable Long now() {
        return null;
    }

    /** A read: returns an object to be written as JSON, or a {@link ConsoleReply}. */
    interface Read {
        Object answer(ConsoleRequest request, Caller caller);
    }

    /** A change. */
    interface Change {

        /** Checks the input and describes the change for the audit. Changes nothing. */
        Planned plan(Input input, Caller caller);
    }

    /**
     * A change that is about to happen.
     *
     * @param target the changed object: a topic, a cluster
     * @param ids    messages, if single ones are meant
     * @param filter other limits of the change, or empty
     * @param act    makes the change
     */
    record Planned(String target, List<String> ids, String filter, Act act) {}

    /** Makes a change. */
    interface Act {
        Done run();
    }

    /**
     * A change that was made.
     *
     * @param status  HTTP status
     * @param reply   to be written as JSON
     * @param details more fields of its entry in the audit
     */
    record Done(int status, Map<String, Object> reply, Map<String, Object> details) {

        public static Done of(Map<String, Object> reply) {
            Object moved = reply.get("moved");
            return new Done(200, reply, moved == null ? Map.of() : Map.of("moved", moved));
        }

        /** A change with an empty reply. */
        public static Done nothing() {
            return of(new LinkedHashMap<>());
        }
    }
}
