package io.easykit.delayqueue.jdbc;

import io.easykit.boot.SqlFailures;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.support.Bytes;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The outbox of sends in tables of the application's database. Rows belong to a queue, by its key prefix. */
public final class JdbcSendOutbox implements SendOutbox {

    static final String TABLE = "delay_queue_outbox";

    private static final String COLUMNS = "queue, owner, topic, message_id, nonce, due_at, is_delay, sent_at, replicas,"
            + " replica_timeout, frame_size, frame";

    private static final String INSERT =
            "insert into " + TABLE + " (" + COLUMNS + ") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

    private static final String ROWS = "select seq, topic, message_id, nonce, due_at, is_delay, sent_at, replicas,"
            + " replica_timeout, frame_size from " + TABLE
            + " where queue = ? and owner = ? and seq > ?%s order by seq limit ";

    private static final String DELETE = "delete from " + TABLE + " where seq = ? and nonce = ?";

    /** Seconds since the epoch. A timestamp would depend on the time zones of the driver and the session. */
    private static final String CLOCK = "select extract(epoch from current_timestamp(3))";

    /** A local time, as that of unix_timestamp, is ambiguous for an hour at the end of daylight saving time. */
    private static final String MYSQL_CLOCK =
            "select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) / 1000000";

    private static final String OLDEST = "select sent_at from " + TABLE + " where queue = ? order by seq limit 1";

    /** Of the columns, and of the rights to read, insert, update and delete. */
    private static final List<String> CHECKS = List.of(
            "select seq, " + COLUMNS + " from " + TABLE + " where 1 = 0",
            "insert into " + TABLE + " (" + COLUMNS + ") select " + COLUMNS + " from " + TABLE + " where 1 = 0",
            "delete from " + TABLE + " where 1 = 0",
            "select queue, owner, holder, renewals from " + TABLE + "_lease where 1 = 0",
            "insert into " + TABLE
                    + "_lease (queue, owner, holder, renewals) select queue, owner, holder, renewals from " + TABLE
                    + "_lease where 1 = 0",
            "update " + TABLE + "_lease set renewals = 0 where 1 = 0",
            "delete from " + TABLE + "_lease where 1 = 0");

    private final SendOutboxConnections connections;
    private final SendOutboxLeases leases;
    private final String queue;

    /**
     * @param queue   key prefix of the queue; rows are relayed by nodes with the same one
     * @param present returns the transaction of this thread; null if there is none, or its manager does not report it
     */
    public JdbcSendOutbox(
            DataSource dataSource, String queue, Supplier<? extends @Nullable SendOutboxTransaction> present) {
        this.connections = new SendOutboxConnections(dataSource, present);
        this.leases = new SendOutboxLeases(connections, queue);
        this.queue = queue;
    }

    /**
     * Checks that the tables can be used, by statements that read no row.
     *
     * @return false if the database cannot be reached, or does not answer in time, so the check is inconclusive
     * @throws SendOutboxException if they cannot be used
     */
    public boolean check() {
        if (!connections.isReachable()) {
            return false;
        }
        try {
            connections.own(connection -> {
                for (String statement : CHECKS) {
                    try (PreparedStatement check = prepare(connection, statement)) {
                        check.execute();
                    }
                }
                return true;
            });
            millis();
        } catch (SendOutboxException failed) {
            if (SqlFailures.isPassing(failed)) {
                return false;
            }
            throw failed;
        }
        return true;
    }

    @Override
    public boolean write(String owner, List<Written> rows) {
        if (connections.isCommitted()) {
            return false;
        }
        return connections.joined(connection -> {
            try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
                for (Written row : rows) {
                    set(insert, owner, row);
                    insert.addBatch();
                }
                insert.executeBatch();
            }
            return true;
        });
    }

    private void set(PreparedStatement insert, String owner, Written row) throws SQLException {
        Send send = row.send();
        ReplicaWait wait = send.replicaWait();
        insert.setString(1, queue);
        insert.setString(2, owner);
        insert.setString(3, send.topic());
        insert.setBytes(4, send.id().getBytes(StandardCharsets.UTF_8));
        insert.setLong(5, send.nonce());
        insert.setLong(6, send.dueAt());
        insert.setInt(7, send.isDelay() ? 1 : 0);
        insert.setLong(8, send.sentAt());
        insert.setObject(9, wait == null ? null : wait.replicas(), Types.INTEGER);
        insert.setObject(10, wait == null ? null : (int) wait.timeout().toMillis(), Types.INTEGER);
        insert.setInt(11, row.frame().length());
        insert.setBytes(12, row.frame().array());
    }

    @Override
    public int withdraw(String owner, Collection<Long> nonces) {
        if (connections.isCommitted()) {
            return 0;
        }
        String statement = "select seq from " + TABLE + " where queue = ? and owner = ? and nonce in " + in(nonces);
        return connections.joined(connection -> {
            List<Long> numbers = new ArrayList<>();
            try (PreparedStatement select = connection.prepareStatement(statement)) {
                select.setString(1, queue);
                select.setString(2, owner);
                setAll(select, 3, nonces);
                try (ResultSet found = select.executeQuery()) {
                    while (found.next()) {
                        numbers.add(found.getLong(1));
                    }
                }
            }
            return numbers.isEmpty() ? 0 : deleteLocked(connection, numbers);
        });
    }

    /**
     * By the primary key, since MySQL locks the gaps beside rows of another index, where other transactions insert. One by
     * one: several rows of a small table are found by a scan, which waits for rows of open transactions.
     */
    private static int deleteLocked(Connection connection, List<Long> numbers) throws SQLException {
        int deleted = 0;
        try (PreparedStatement delete = connection.prepareStatement("delete from " + TABLE + " where seq = ?")) {
            for (Long number : numbers) {
                delete.setLong(1, number);
                deleted += delete.executeUpdate();
            }
        }
        return deleted;
    }

    @Override
    public List<Row> rows(String owner, long after, Set<String> except, int limit) {
        String statement = ROWS.formatted(except.isEmpty() ? "" : " and topic not in " + in(except)) + limit;
        return connections.own(connection -> {
            try (PreparedStatement select = prepare(connection, statement, queue, owner)) {
                select.setLong(3, after);
                int parameter = 4;
                for (String topic : except) {
                    select.setString(parameter++, topic);
                }
                List<Row> rows = new ArrayList<>();
                try (ResultSet found = select.executeQuery()) {
                    while (found.next()) {
                        rows.add(row(found));
                    }
                }
                return rows;
            }
        });
    }

    private static Row row(ResultSet found) throws SQLException {
        ReplicaWait wait = null;
        RuntimeException damage = null;
        try {
            int replicas = found.getInt(8);
            wait = replicas == 0 ? null : new ReplicaWait(replicas, Duration.ofMillis(found.getInt(9)));
        } catch (RuntimeException impossible) {
            damage = impossible;
        }
        Send send = new Send(
                found.getString(2),
                new String(found.getBytes(3), StandardCharsets.UTF_8),
                found.getLong(4),
                found.getLong(5),
                found.getInt(6) != 0,
                found.getLong(7),
                wait);
        return new Row(found.getLong(1), send, found.getInt(10), damage);
    }

    @Override
    public Map<RowId, Bytes> frames(Collection<RowId> rows) {
        String statement = "select seq, nonce, frame from " + TABLE + " where seq in " + in(rows);
        return connections.own(connection -> {
            try (PreparedStatement select = prepare(connection, statement)) {
                setAll(select, 1, rows.stream().map(RowId::number).toList());
                Map<RowId, Bytes> frames = new HashMap<>();
                try (ResultSet found = select.executeQuery()) {
                    while (found.next()) {
                        frames.put(new RowId(found.getLong(1), found.getLong(2)), Bytes.of(found.getBytes(3)));
                    }
                }
                frames.keySet().retainAll(Set.copyOf(rows));
                return frames;
            }
        });
    }

    /** One by one, as {@link #deleteLocked}, and in the same order on all nodes. */
    @Override
    public void delete(Collection<RowId> rows) {
        List<RowId> inOrder =
                rows.stream().sorted(Comparator.comparingLong(RowId::number)).toList();
        connections.ownTransaction(connection -> {
            try (PreparedStatement delete = prepare(connection, DELETE)) {
                for (RowId row : inOrder) {
                    delete.setLong(1, row.number());
                    delete.setLong(2, row.nonce());
                    delete.addBatch();
                }
                return delete.executeBatch();
            }
        });
    }

    @Override
    public List<Owner> owners() {
        return leases.owners();
    }

    @Override
    public boolean take(String owner, String holder, @Nullable Lease seen) {
        return leases.take(owner, holder, seen);
    }

    @Override
    public boolean renew(String owner, String holder) {
        return leases.renew(owner, holder);
    }

    @Override
    public void release(String owner, String holder) {
        leases.release(owner, holder);
    }

    @Override
    public long millis() {
        return connections.own(connection -> {
            String clock = clock(connection.getMetaData().getDatabaseProductName());
            try (PreparedStatement select = prepare(connection, clock);
                    ResultSet found = select.executeQuery()) {
                found.next();
                return found.getBigDecimal(1).movePointRight(3).longValue();
            }
        });
    }

    static String clock(String product) {
        return product.contains("MySQL") || product.contains("MariaDB") ? MYSQL_CLOCK : CLOCK;
    }

    @Override
    public Backlog backlog() {
        return connections.own(connection -> new Backlog(
                number(connection, "select count(*) from " + TABLE + " where queue = ?"), number(connection, OLDEST)));
    }

    private long number(Connection connection, String statement) throws SQLException {
        try (PreparedStatement select = prepare(connection, statement, queue);
                ResultSet found = select.executeQuery()) {
            return found.next() ? found.getLong(1) : 0;
        }
    }

    static PreparedStatement prepare(Connection connection, String statement, String... texts) throws SQLException {
        PreparedStatement prepared = connection.prepareStatement(statement);
        prepared.setQueryTimeout(SendOutboxConnections.TIMEOUT_SECONDS);
        for (int i = 0; i < texts.length; i++) {
            prepared.setString(i + 1, texts[i]);
        }
        return prepared;
    }

    private static void setAll(PreparedStatement statement, int first, Collection<Long> numbers) throws SQLException {
        int parameter = first;
        for (Long number : numbers) {
            statement.setLong(parameter++, number);
        }
    }

    private static String in(Collection<?> values) {
        return "(" + String.join(", ", Collections.nCopies(values.size(), "?")) + ")";
    }
}
