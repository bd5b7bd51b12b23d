package io.easykit.boot;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Distinguishes failures of the database's state, which pass, from those of a statement. */
public final class SqlFailures {

    /**
     * States of connection failures, rollbacks such as deadlocks, lack of resources, locks that were not free in time, statements
     * that timed out or were cancelled, and of a shutdown.
     */
    private static final List<String> PASSING = List.of("08", "40", "53", "55P03", "57", "HYT");

    /** State of a write in a read-only transaction, and that of H2. */
    private static final List<String> READ_ONLY = List.of("25006", "90097");

    /** Codes of MySQL and MariaDB: options that prevent the statement, a transaction and a server that are read-only. */
    private static final List<Integer> READ_ONLY_CODES = List.of(1290, 1792, 1836);

    private SqlFailures() {}

    /** Whether the database was away, or gave up a statement that may succeed at another time. */
    public static boolean isPassing(Throwable failure) {
        return anyCause(failure, SqlFailures::isPassing);
    }

    /**
     * What helps where a table cannot be used.
     *
     * @param otherwise returned unless the database has refused a write because it is read-only, as a replica is
     */
    public static String remedy(Throwable failure, String otherwise) {
        return anyCause(failure, SqlFailures::isReadOnly)
                ? "The database accepts no writes. Let the DataSource connect to the primary, not to a replica, with"
                        + " connections that are not read-only."
                : otherwise;
    }

    private static boolean isReadOnly(SQLException failure) {
        return READ_ONLY.contains(String.valueOf(failure.getSQLState()))
                || READ_ONLY_CODES.contains(failure.getErrorCode())
                // MySQL's driver refuses writes of such a connection itself, without a code.
                || String.valueOf(failure.getMessage()).startsWith("Connection is read-only");
    }

    private static boolean anyCause(Throwable failure, Predicate<SQLException> condition) {
        return Stream.<Throwable>iterate(failure, cause -> cause != null, Throwable::getCause)
                .limit(20)
                .filter(SQLException.class::isInstance)
                .anyMatch(cause -> condition.test((SQLException) cause));
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
