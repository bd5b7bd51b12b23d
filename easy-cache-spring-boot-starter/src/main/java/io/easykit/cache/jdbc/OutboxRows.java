package io.easykit.cache.jdbc;

import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.store.Outbox.State;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads messages from the rows of the outbox. */
final class OutboxRows {

    private static final String SELECT = "select message_id, entry_key, delivered,"
            + " case when open_until > %1$s then 1 else 0 end as is_open,"
            + " case when due_at <= %1$s then 1 else 0 end as is_due from " + JdbcOutbox.TABLE
            + " where message_id in (%2$s) order by message_id, seq";

    private OutboxRows() {}

    static Set<String> ids(Connection connection, String query, String... parameters) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(query)) {
            select.setQueryTimeout(OutboxConnections.TIMEOUT_SECONDS);
            for (int i = 0; i < parameters.length; i++) {
                select.setString(i + 1, parameters[i]);
            }
            Set<String> ids = new LinkedHashSet<>();
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    ids.add(rows.getString(1));
                }
            }
            return ids;
        }
    }

    /** Reads all keys of the messages, because a row limit could split a message. */
    static List<Due> messages(Connection connection, String clusterId, Set<String> ids, Predicate<Row> wanted)
            throws SQLException {
        if (ids.isEmpty()) {
            return List.of();
        }
        String query = SELECT.formatted(
                OutboxClock.of(connection).now(), ids.stream().map(id -> "?").collect(Collectors.joining(", ")));
        try (PreparedStatement select = connection.prepareStatement(query)) {
            select.setQueryTimeout(OutboxConnections.TIMEOUT_SECONDS);
            int parameter = 1;
            for (String id : ids) {
                select.setString(parameter++, id);
            }
            Map<String, List<Row>> messages = new LinkedHashMap<>();
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    messages.computeIfAbsent(rows.getString(1), any -> new ArrayList<>())
                            .add(new Row(
                                    text(rows.getBytes(2)),
                                    rows.getInt(3) == 1,
                                    rows.getInt(4) == 1,
                                    rows.getInt(5) == 1));
                }
            }
            List<Due> due = new ArrayList<>();
            messages.forEach((id, rows) -> {
                if (rows.stream().anyMatch(wanted)) {
                    List<String> keys = rows.stream().map(Row::key).toList();
                    due.add(new Due(
                            new Message(id, clusterId, keys), rows.get(0).state()));
                }
            });
            return due;
        }
    }

    record Row(String key, boolean delivered, boolean open, boolean due) {

        State state() {
            if (delivered) {
                return State.EXPIRED;
            }
            return open ? State.OPEN : State.WAITING;
        }
    }

    /** Null becomes an empty text, which is never a key. */
    static String text(byte @Nullable [] bytes) {
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }
}
