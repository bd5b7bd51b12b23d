package io.easykit.cache.jdbc;

import io.easykit.boot.SqlFailures;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.OutboxException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;

/**
 * The outbox in a table of the application's database, one row for each key.
 *
 * <ul>
 *   <li>All times are those of the database. Rows are selected by due time, never by an order of ids: of two
 *       transactions the later one may commit first.
 *   <li>Rows are not locked between a query and the following delivery. Two nodes that read the same rows deliver both.
 *   <li>Rows are changed in the order of their keys, to avoid deadlocks between nodes. After a deadlock the next round
 *       repeats the change.
 * </ul>
 */
public final class JdbcOutbox implements Outbox {

    static final String TABLE = "easy_cache_outbox";
    private static final int ROWS = 1000;

    /** Cluster id of the row that holds the identity of the table. */
    private static final String NO_CLUSTER = "";

    private static final String IDENTITY = "identity";

    private static final String COLUMNS =
            "message_id, seq, cluster_id, entry_key, written_at, due_at, open_until, delivered";

    /** They use each right and each column, and read or change no row. */
    private static final List<String> CHECKS = List.of(
            "insert into " + TABLE + " (" + COLUMNS + ") select " + COLUMNS + " from " + TABLE + " where 1 = 0",
            "update " + TABLE + " set open_until = null, delivered = 0, due_at = null where 1 = 0",
            "delete from " + TABLE + " where 1 = 0");

    private static final String INSERT =
            "insert into " + TABLE + " (" + COLUMNS + ") values (?, ?, ?, ?, %1$s, %1$s, %2$s, 0)";

    private static final String SELECT_DUE = "select message_id from " + TABLE
            + " where cluster_id = ? and due_at <= %s order by due_at, message_id limit " + ROWS;

    private static final String SELECT_ALL = "select message_id from " + TABLE
            + " where cluster_id = ? and message_id > ? order by message_id limit " + ROWS;

    private static final String SELECT_DELIVERED = "select message_id from " + TABLE
            + " where cluster_id = ? and delivered = 1 order by message_id limit " + ROWS;

    private static final String CLOSE =
            "update " + TABLE + " set open_until = null, delivered = 0, due_at = %s where message_id = ?";

    private static final String MARK_DELIVERED =
            "update " + TABLE + " set delivered = 1, due_at = %s where message_id = ?";

    private static final String POSTPONE = "update " + TABLE + " set due_at = %s where message_id = ?";

    private static final String REDELIVER = "update " + TABLE + " set delivered = 0, due_at = %s where message_id = ?";

    private static final String DELETE = "delete from " + TABLE + " where message_id = ? and delivered = 1";

    private static final String COUNT = "select coalesce(sum(case when delivered = 0 then 1 else 0 end), 0), count(*),"
            + " %s, %s from " + TABLE + " where cluster_id = ?";

    private static final String OLDEST = "min(case when delivered = 0 then written_at end)";

    private static final String SELECT_IDENTITY =
            "select entry_key from " + TABLE + " where message_id = '" + IDENTITY + "'";

    private final OutboxConnections connections;
    private final String scope;
    private volatile @Nullable String id;

    /**
     * @param scope prefix of the cluster id in each row; a message is delivered only by nodes with the same prefix
     * @param present returns the transaction of this thread that a message may join; null if there is none, or it is not
     *     known which of several it is
     */
    public JdbcOutbox(DataSource dataSource, String scope, Supplier<? extends @Nullable TransactionExecution> present) {
        this(dataSource, scope, present, () -> false);
    }

    /**
     * @param holdsConnection whether this thread holds a connection without a transaction, as the session of a web request may.
     *     Such threads wait for a second connection one at a time, as those with a transaction do
     */
    public JdbcOutbox(
            DataSource dataSource,
            String scope,
            Supplier<? extends @Nullable TransactionExecution> present,
            BooleanSupplier holdsConnection) {
        this.connections = new OutboxConnections(dataSource, present, holdsConnection);
        this.scope = scope;
    }

    /**
     * Checks that the table can be used, for reads and for writes.
     *
     * @return false if the database cannot be reached, or does not answer in time, so the check is inconclusive
     * @throws OutboxException if it cannot be used
     */
    public boolean check() {
        if (!connections.isReachable()) {
            return false;
        }
        try {
            id();
            connections.own(connection -> {
                for (String statement : CHECKS) {
                    try (PreparedStatement check = connection.prepareStatement(statement)) {
                        check.setQueryTimeout(OutboxConnections.TIMEOUT_SECONDS);
                        check.executeUpdate();
                    }
                }
                return true;
            });
            due(NO_CLUSTER, 1);
        } catch (OutboxException failed) {
            if (SqlFailures.isPassing(failed)) {
                return false;
            }
            throw failed;
        }
        return true;
    }

    @Override
    public String id() {
        String known = id;
        if (known == null) {
            known = findIdentity();
            id = known;
        }
        return known;
    }

    private String findIdentity() {
        Optional<String> found = connections.own(JdbcOutbox::identity);
        return found.isPresent() ? found.get() : createIdentity();
    }

    private String createIdentity() {
        String created = UUID.randomUUID().toString();
        try {
            connections.own(connection -> {
                insert(connection, new Message(IDENTITY, NO_CLUSTER, List.of(created)), NO_CLUSTER, Duration.ZERO);
                return created;
            });
            return created;
        } catch (OutboxException failed) {
            return connections.own(JdbcOutbox::identity).orElseThrow(() -> failed);
        }
    }

    private static Optional<String> identity(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(SELECT_IDENTITY)) {
            select.setQueryTimeout(OutboxConnections.TIMEOUT_SECONDS);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? Optional.of(OutboxRows.text(rows.getBytes(1))) : Optional.empty();
            }
        }
    }

    @Override
    public boolean add(Message message, boolean join, Duration open) {
        String cluster = scope + message.clusterId();
        if (join && connections.joined(connection -> insert(connection, message, cluster, Duration.ZERO))) {
            return true;
        }
        connections.own(connection -> {
            insert(connection, message, cluster, open);
            return message;
        });
        return false;
    }

    private static void insert(Connection connection, Message message, String cluster, Duration open)
            throws SQLException {
        OutboxClock clock = OutboxClock.of(connection);
        String openUntil = open.isZero() ? "null" : clock.after(open);
        try (PreparedStatement insert = connection.prepareStatement(INSERT.formatted(clock.now(), openUntil))) {
            insert.setQueryTimeout(OutboxConnections.TIMEOUT_SECONDS);
            int seq = 0;
            for (String key : message.keys()) {
                insert.setString(1, message.id());
                insert.setInt(2, seq++);
                insert.setString(3, cluster);
                insert.setBytes(4, key.getBytes(StandardCharsets.UTF_8));
                insert.addBatch();
                if (seq % ROWS == 0) {
                    insert.executeBatch();
                }
            }
            insert.executeBatch();
        }
    }

    @Override
    public List<Due> due(String clusterId, int limit) {
        return connections.own(connection -> {
            String query = SELECT_DUE.formatted(OutboxClock.of(connection).now());
            Set<String> ids = first(limit, OutboxRows.ids(connection, query, scope + clusterId));
            // Another node may have delivered some since the query.
            return OutboxRows.messages(connection, clusterId, ids, OutboxRows.Row::due);
        });
    }

    @Override
    public List<Message> all(String clusterId, String after, int limit) {
        return connections.own(connection -> {
            String last = after;
            while (true) {
                Set<String> ids = first(limit, OutboxRows.ids(connection, SELECT_ALL, scope + clusterId, last));
                List<Due> found = OutboxRows.messages(connection, clusterId, ids, any -> true);
                if (ids.isEmpty() || !found.isEmpty()) {
                    return found.stream().map(Due::message).toList();
                }
                // Another node has deleted all of them since the query.
                last = List.copyOf(ids).get(ids.size() - 1);
            }
        });
    }

    private static Set<String> first(int limit, Set<String> ids) {
        return ids.stream().limit(limit).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    @Override
    public OutboxBacklog backlog(String clusterId) {
        return connections.own(connection -> {
            OutboxClock clock = OutboxClock.of(connection);
            String query = COUNT.formatted(clock.seconds(OLDEST), clock.seconds(clock.now()));
            try (PreparedStatement select = connection.prepareStatement(query)) {
                select.setQueryTimeout(OutboxConnections.TIMEOUT_SECONDS);
                select.setString(1, scope + clusterId);
                try (ResultSet counts = select.executeQuery()) {
                    counts.next();
                    long waiting = counts.getLong(1);
                    return new OutboxBacklog(
                            waiting,
                            counts.getLong(2) - waiting,
                            age(counts.getBigDecimal(3), counts.getBigDecimal(4)));
                }
            }
        });
    }

    /** Of times in seconds. */
    private static Duration age(@Nullable BigDecimal oldest, BigDecimal now) {
        long millis =
                oldest == null ? 0 : now.subtract(oldest).movePointRight(3).longValue();
        return Duration.ofMillis(Math.max(0, millis));
    }

    @Override
    public void close(Collection<String> messageIds) {
        forEach(messageIds, clock -> CLOSE.formatted(clock.now()));
    }

    @Override
    public void delivered(Collection<String> messageIds, Duration retention) {
        forEach(messageIds, clock -> MARK_DELIVERED.formatted(clock.after(retention)));
    }

    @Override
    public void postpone(Collection<String> messageIds, Duration delay) {
        forEach(messageIds, clock -> POSTPONE.formatted(clock.after(delay)));
    }

    @Override
    public void delete(Collection<String> messageIds) {
        forEach(messageIds, clock -> DELETE);
    }

    @Override
    public void redeliver(String clusterId) {
        Set<String> ids;
        do {
            ids = connections.own(connection -> OutboxRows.ids(connection, SELECT_DELIVERED, scope + clusterId));
            forEach(ids, clock -> REDELIVER.formatted(clock.now()));
        } while (!ids.isEmpty());
    }

    private void forEach(Collection<String> messageIds, Function<OutboxClock, String> statement) {
        if (messageIds.isEmpty()) {
            return;
        }
        connections.own(connection -> {
            try (PreparedStatement update = connection.prepareStatement(statement.apply(OutboxClock.of(connection)))) {
                update.setQueryTimeout(OutboxConnections.TIMEOUT_SECONDS);
                for (String id : messageIds.stream().sorted().toList()) {
                    update.setString(1, id);
                    update.addBatch();
                }
                update.executeBatch();
            }
            return messageIds;
        });
    }
}
