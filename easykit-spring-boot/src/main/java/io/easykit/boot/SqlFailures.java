package io.easykit.boot;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Distinguishes failures of the database's state, which pass, from those of a statement. */
public final class SqlFailures {

    /**
     * States of connection failures, rollbacks such as deadlocks, lack of resources, locks that were not free in time, statements
     * that timed out or were cancelled, and of a shutdown.
     */
    private static final List<String> PASSING = List.of("08", "40", "53", "55P03", "57", "HYT");

    private SqlFailures() {}

    /** Whether the database was away, or gave up a statement that may succeed at another time. */
    public static boolean isPassing(Throwable failure) {
        return Stream.<Throwable>iterate(failure, cause -> cause != null, Throwable::getCause)
                .limit(20)
                .filter(SQLException.class::isInstance)
                .anyMatch(cause -> isPassing((SQLException) cause));
    }

    private static boolean isPassing(SQLException failure) {
        // A timeout, a deadlock, or a pool without connections is a transient exception.
        return failure instanceof SQLTransientException
                || failure instanceof SQLNonTransientConnectionException
                || failure instanceof SQLRecoverableException
                || isPassing(failure.getSQLState());
    }

    /** A constraint that is violated at the commit has 40002. */
    private static boolean isPassing(@Nullable String state) {
        return state != null && !state.equals("40002") && PASSING.stream().anyMatch(state::startsWith);
    }
}
