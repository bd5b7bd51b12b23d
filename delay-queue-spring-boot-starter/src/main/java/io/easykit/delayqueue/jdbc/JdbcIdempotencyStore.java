package io.easykit.delayqueue.jdbc;

import io.easykit.boot.SqlFailures;
import io.easykit.delayqueue.IdempotencyStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Records handled messages in a table of the application's database, one row for each, in the transaction in which the handler
 * runs.
 *
 * <p>The row is inserted before the handler runs. A second delivery waits for the unique key until the first transaction ends:
 *
 * <ul>
 *   <li>It was committed: the insert fails, or inserts nothing. The handler does not run.
 *   <li>It was rolled back: the insert succeeds.
 *   <li>It takes longer than the database waits for a lock: the run fails before the handler, and comes again later.
 * </ul>
 *
 * <p>An insert that fails is no proof. Under the isolation levels REPEATABLE READ and SERIALIZABLE it may also fail with a
 * serialization error or a deadlock, and a wrong table fails each of them. So a new transaction looks for the row. Only if it is
 * there was the message handled.
 */
public final class JdbcIdempotencyStore implements IdempotencyStore {

    private static final String TABLE = IdempotencyTable.NAME;

    private static final String JTA = "org.springframework.transaction.jta.JtaTransactionManager";

    private final DataSource dataSource;
    private final PlatformTransactionManager transactions;
    private final Duration retention;
    private final IdempotencyTable table;

    /**
     * @param transactions manages the transactions of this data source, which the handlers join
     * @param retention time for which a record is kept at least
     */
    public JdbcIdempotencyStore(DataSource dataSource, PlatformTransactionManager transactions, Duration retention) {
        DataSource target =
                dataSource instanceof TransactionAwareDataSourceProxy proxy ? proxy.getTargetDataSource() : null;
        this.dataSource = target != null ? target : dataSource;
        this.transactions = transactions;
        this.retention = retention;
        this.table = new IdempotencyTable(retention);
    }

    /** Whether transactions of a manager join those of the records. */
    public boolean isJoinedBy(TransactionManager other) {
        return other == transactions
                || (other instanceof ResourceTransactionManager one
                        && transactions instanceof ResourceTransactionManager own
                        && one.getResourceFactory() == own.getResourceFactory());
    }

    @Override
    public Duration retention() {
        return retention;
    }

    /**
     * Checks the table and the transaction manager by a transaction that is rolled back.
     *
     * @return false if the database cannot be reached, so the check is inconclusive
     * @throws IllegalStateException if one of them cannot be used
     */
    public boolean check() {
        try (Connection connection = dataSource.getConnection()) {
            if (!connection.isValid(IdempotencyTable.LOCK_SECONDS)) {
                return false;
            }
        } catch (SQLException | RuntimeException away) {
            return false;
        }
        TransactionStatus transaction;
        try {
            transaction = begin();
        } catch (TransactionException away) {
            return false;
        }
        try {
            boolean unused = inTransaction(connection -> {
                table.check(connection);
                return true;
            });
        } catch (SQLException e) {
            if (SqlFailures.isPassing(e)) {
                rollBack(transaction, e);
                return false;
            }
            IllegalStateException unusable =
                    new IllegalStateException("the table " + TABLE + " cannot be used: " + e.getMessage(), e);
            rollBack(transaction, unusable);
            throw unusable;
        } catch (RuntimeException | Error e) {
            rollBack(transaction, e);
            throw e;
        }
        transactions.rollback(transaction);
        return true;
    }

    @Override
    public boolean runOnce(String topic, String uniqueId, Work handler) throws Exception {
        TransactionStatus transaction = begin();
        boolean recorded;
        try {
            recorded = inTransaction(connection -> table.insert(connection, topic, uniqueId));
        } catch (Throwable failed) {
            rollBack(transaction, failed);
            if (failed instanceof Exception e && wasHandled(topic, uniqueId, e)) {
                return false;
            }
            throw failed;
        }
        if (!recorded) {
            transactions.rollback(transaction);
            requireHandled(topic, uniqueId);
            return false;
        }
        try {
            handler.run();
        } catch (Throwable failed) {
            rollBack(transaction, failed);
            throw failed;
        }
        commit(transaction, topic, uniqueId);
        return true;
    }

    /**
     * The handler has returned. What the database refuses now may be its fault, such as a constraint that is checked at the commit.
     * A lost connection, a deadlock or a timeout is not.
     */
    private void commit(TransactionStatus transaction, String topic, String uniqueId) throws SQLException {
        boolean isConfirmed = false;
        try {
            requireCommit(transaction);
            confirm(topic, uniqueId);
            isConfirmed = true;
            transactions.commit(transaction);
        } catch (Exception failed) {
            if (!isConfirmed) {
                rollBack(transaction, failed);
            }
            if (SqlFailures.isPassing(failed)) {
                throw new UnavailableException("The record of a message was not committed: " + failed, failed);
            }
            throw failed;
        } catch (Error failed) {
            if (!isConfirmed) {
                rollBack(transaction, failed);
            }
            throw failed;
        }
    }

    /** Spring rolls back silently if this very transaction was marked, and not one that has joined it. */
    private static void requireCommit(TransactionStatus transaction) {
        if (transaction.isRollbackOnly()) {
            throw new UnexpectedRollbackException(
                    "The transaction was marked as rollback-only, so the effects of the message are rolled back");
        }
    }

    /** An insert without a row and without an error is a duplicate only if there is a row. A trigger may have refused it. */
    private void requireHandled(String topic, String uniqueId) {
        IllegalStateException refused = new IllegalStateException("The table " + TABLE
                + " did not accept the record of a message, and does not contain it. Check its triggers");
        if (!wasHandled(topic, uniqueId, refused)) {
            throw refused;
        }
    }

    /**
     * The row must still be there before the commit. After a deadlock some databases roll back the whole transaction, and a handler
     * that repeats its statement would commit its effects without the row. Its age counts from here.
     */
    private void confirm(String topic, String uniqueId) throws SQLException {
        if (!inTransaction(connection -> table.confirm(connection, topic, uniqueId))) {
            throw new IllegalStateException("The database has rolled back the record of the message, and the earlier"
                    + " effects of its handler. Let exceptions of the database leave the handler");
        }
    }

    @FunctionalInterface
    private interface Statements<T> {
        T run(Connection connection) throws SQLException;
    }

    /** Runs statements on the connection of the present transaction. */
    private <T> T inTransaction(Statements<T> statements) throws SQLException {
        Connection connection = connection();
        try {
            return statements.run(connection);
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }

    /** A transaction of its own, so that its end is that of the effects, whatever an interceptor has begun. */
    private TransactionStatus begin() {
        return transactions.getTransaction(
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
    }

    private void rollBack(TransactionStatus transaction, Throwable cause) {
        try {
            transactions.rollback(transaction);
        } catch (RuntimeException | Error e) {
            cause.addSuppressed(e);
        }
    }

    private boolean wasHandled(String topic, String uniqueId, Exception cause) {
        try {
            TransactionStatus transaction = begin();
            try {
                return isRecorded(topic, uniqueId);
            } finally {
                transactions.rollback(transaction);
            }
        } catch (SQLException | RuntimeException e) {
            cause.addSuppressed(e);
            return false;
        }
    }

    private boolean isRecorded(String topic, String uniqueId) throws SQLException {
        return inTransaction(connection -> table.contains(connection, topic, uniqueId));
    }

    /** The connection of the present transaction. On another one a row would not be committed together with the effects. */
    private Connection connection() throws SQLException {
        if (!(TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder) && !isJta()) {
            throw new IllegalStateException(
                    "the transaction manager " + transactions.getClass().getName()
                            + " does not manage the transactions of the DataSource of the table " + TABLE);
        }
        Connection connection = DataSourceUtils.getConnection(dataSource);
        if (connection.getAutoCommit()) {
            DataSourceUtils.releaseConnection(connection, dataSource);
            throw new IllegalStateException("the connections of the DataSource of the table " + TABLE
                    + " commit each statement, so it takes no part in transactions");
        }
        return connection;
    }

    /** Such a manager gets its connections from the data source at their first use. */
    private boolean isJta() {
        for (Class<?> type = transactions.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(JTA)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Deletes expired records, of whatever application with this table. Several nodes may do so at the same time.
     *
     * @param limit maximum number of records of this call
     * @return how many it has found; fewer than the limit if no others are left
     */
    public int deleteExpired(int limit) {
        TransactionStatus transaction = begin();
        int found;
        try {
            found = inTransaction(connection -> table.deleteExpired(connection, limit));
        } catch (SQLException e) {
            rollBack(transaction, e);
            throw new IllegalStateException(e.getMessage(), e);
        } catch (RuntimeException | Error e) {
            rollBack(transaction, e);
            throw e;
        }
        transactions.commit(transaction);
        return found;
    }
}
