package io.easykit.delayqueue.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The statements of the table of handled messages. Each row has the time at which it expires, by the clock of the database and the
 * retention of the application that has written it. So applications with different retentions can share the table.
 */
final class IdempotencyTable {

    static final String NAME = "delay_queue_handled";

    /** For the lock of a running delivery. Databases with an own, shorter limit keep it. */
    static final int LOCK_SECONDS = 10;

    private static final String INSERT =
            "insert into " + NAME + " (topic, unique_id, expires_at) values (?, ?, %s + interval '%d' second)";

    private static final String CONFIRM =
            "update " + NAME + " set expires_at = %s + interval '%d' second where topic = ? and unique_id = ?";

    private static final String FIND = "select expires_at from " + NAME + " where topic = ? and unique_id = ?";

    private static final String FIND_EXPIRED =
            "select topic, unique_id from " + NAME + " where expires_at < %s order by expires_at limit %d";

    /** Another node may have deleted the row since, and a delivery may have written it anew. */
    private static final String DELETE =
            "delete from " + NAME + " where topic = ? and unique_id = ? and expires_at < %s";

    /** Of the rights to insert, update and delete. */
    private static final List<String> CHECKS = List.of(
            "insert into " + NAME
                    + " (topic, unique_id, expires_at) select topic, unique_id, %1$s + interval '%2$d' second"
                    + " from " + NAME + " where 1 = 0",
            "update " + NAME + " set expires_at = %1$s + interval '%2$d' second where 1 = 0",
            "delete from " + NAME + " where 1 = 0");

    private final long seconds;

    /** @param retention of the rows that this application writes; rounded up to seconds */
    IdempotencyTable(Duration retention) {
        this.seconds = retention.plusMillis(999).toSeconds();
    }

    /** Uses each right that a delivery needs, by statements that change no row. */
    void check(Connection connection) throws SQLException {
        boolean unused = contains(connection, "", "");
        for (String statement : CHECKS) {
            try (PreparedStatement check =
                    connection.prepareStatement(statement.formatted(now(product(connection)), seconds))) {
                check.executeUpdate();
            }
        }
    }

    /** Returns false if the database reports that there is such a row already. */
    boolean insert(Connection connection, String topic, String uniqueId) throws SQLException {
        String product = product(connection);
        // Without this clause a duplicate is an error, also in the log of the server.
        String onConflict = product.equals("PostgreSQL") ? " on conflict (topic, unique_id) do nothing" : "";
        try (PreparedStatement insert =
                connection.prepareStatement(INSERT.formatted(now(product), seconds) + onConflict)) {
            if (!product.equals("H2")) {
                // H2 would keep it for all later statements of the connection, and waits for a second or two
                // anyway.
                insert.setQueryTimeout(LOCK_SECONDS);
            }
            bind(insert, topic, bytes(uniqueId));
            return insert.executeUpdate() == 1;
        }
    }

    /** Begins the time of a row anew; returns false if it is gone. */
    boolean confirm(Connection connection, String topic, String uniqueId) throws SQLException {
        try (PreparedStatement update =
                connection.prepareStatement(CONFIRM.formatted(now(product(connection)), seconds))) {
            bind(update, topic, bytes(uniqueId));
            if (update.executeUpdate() == 1) {
                return true;
            }
        }
        // MySQL with useAffectedRows counts changed rows, and the time may be the one that the row has already.
        return contains(connection, topic, uniqueId);
    }

    boolean contains(Connection connection, String topic, String uniqueId) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(FIND)) {
            bind(select, topic, bytes(uniqueId));
            try (ResultSet row = select.executeQuery()) {
                return row.next();
            }
        }
    }

    /** Returns how many expired rows it has found, up to a limit. */
    int deleteExpired(Connection connection, int limit) throws SQLException {
        List<Row> expired = expired(connection, limit);
        try (PreparedStatement delete = connection.prepareStatement(DELETE.formatted(now(product(connection))))) {
            for (Row row : expired) {
                bind(delete, row.topic, row.uniqueId);
                delete.addBatch();
            }
            delete.executeBatch();
        }
        return expired.size();
    }

    /** In the order of the keys, to avoid deadlocks between nodes. */
    private static List<Row> expired(Connection connection, int limit) throws SQLException {
        try (PreparedStatement select =
                        connection.prepareStatement(FIND_EXPIRED.formatted(now(product(connection)), limit));
                ResultSet rows = select.executeQuery()) {
            List<Row> expired = new ArrayList<>();
            while (rows.next()) {
                expired.add(new Row(rows.getString(1), rows.getBytes(2)));
            }
            expired.sort(
                    Comparator.comparing((Row row) -> row.topic).thenComparing(row -> row.uniqueId, Arrays::compare));
            return expired;
        }
    }

    /** The present time, not that of the begin of the transaction. In MySQL it must not depend on the session's time zone. */
    static String now(String product) {
        return switch (product) {
            case "PostgreSQL" -> "clock_timestamp()";
            case "MySQL", "MariaDB" -> "utc_timestamp(3)";
            default -> "current_timestamp(3)";
        };
    }

    private static String product(Connection connection) throws SQLException {
        return connection.getMetaData().getDatabaseProductName();
    }

    private static void bind(PreparedStatement statement, String topic, byte[] uniqueId) throws SQLException {
        statement.setString(1, topic);
        statement.setBytes(2, uniqueId);
    }

    /** An id may have characters that a text column cannot hold, such as U+0000. */
    private static byte[] bytes(String uniqueId) {
        return uniqueId.getBytes(StandardCharsets.UTF_8);
    }

    private static final class Row {
        private final String topic;
        private final byte[] uniqueId;

        Row(String topic, byte[] uniqueId) {
            this.topic = topic;
            this.uniqueId = uniqueId;
        }
    }
}
