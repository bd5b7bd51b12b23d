package io.easykit.boot;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * Leaves a connection with the query timeout that it had. H2 keeps the timeout of a statement for all later ones of the
 * connection, such as those of the application, for which it may be too short.
 */
public final class QueryTimeouts {

    private QueryTimeouts() {}

    /** Work on a connection. */
    @FunctionalInterface
    public interface Work<T extends @Nullable Object> {
        T on(Connection connection) throws SQLException;
    }

    /** Does work whose statements have timeouts of their own. */
    public static <T extends @Nullable Object> T restoring(Connection connection, Work<T> work) throws SQLException {
        if (!connection.getMetaData().getDatabaseProductName().equals("H2")) {
            return work.on(connection);
        }
        try (Statement any = connection.createStatement()) {
            int before = any.getQueryTimeout();
            try {
                return work.on(connection);
            } finally {
                any.setQueryTimeout(before);
            }
        }
    }
}
