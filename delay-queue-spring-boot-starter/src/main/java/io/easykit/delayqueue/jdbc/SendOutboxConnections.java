package io.easykit.delayqueue.jdbc;

import io.easykit.boot.QueryTimeouts;
import io.easykit.delayqueue.store.SendOutboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Connections of the outbox: that of the present transaction for sends, and separate ones for the relay.
 *
 * <p>It is not enough that a connection of the data source is bound to the thread: it may belong to an outer transaction of
 * another manager, or to none. So it must be that of the present transaction's own object, as its manager has reported it.
 */
final class SendOutboxConnections {

    static final int TIMEOUT_SECONDS = 5;

    private final DataSource dataSource;
    private final Supplier<? extends @Nullable SendOutboxTransaction> present;

    SendOutboxConnections(DataSource dataSource, Supplier<? extends @Nullable SendOutboxTransaction> present) {
        DataSource target =
                dataSource instanceof TransactionAwareDataSourceProxy proxy ? proxy.getTargetDataSource() : null;
        this.dataSource = target != null ? target : dataSource;
        this.present = present;
    }

    /** Work on a connection. */
    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    boolean isReachable() {
        try (Connection connection = dataSource.getConnection()) {
            return connection.isValid(TIMEOUT_SECONDS);
        } catch (SQLException | RuntimeException away) {
            return false;
        }
    }

    /** Whether the present transaction has committed, and no other one of this data source is open around it. */
    boolean isCommitted() {
        SendOutboxTransaction transaction = present.get();
        if (transaction == null || !transaction.committed()) {
            return false;
        }
        Object bound = TransactionSynchronizationManager.getResource(dataSource);
        return !(bound instanceof ConnectionHolder)
                || bound == SendOutboxTransaction.connectionOf(transaction.execution());
    }

    /**
     * Works in the present transaction.
     *
     * @throws SendOutboxException if that does not write to this data source
     */
    <T> T joined(Work<T> work) {
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw notJoined("is read-only");
        }
        if (!isTransactionOfDataSource()) {
            throw notJoined("is not one of the outbox's DataSource, or its transaction manager is no bean");
        }
        Connection connection = DataSourceUtils.getConnection(dataSource);
        try {
            if (connection.getAutoCommit()) {
                throw notJoined("commits each statement");
            }
            return undone(connection, work);
        } catch (SQLException failed) {
            throw new SendOutboxException(
                    "The message was not written to the outbox, and is not sent: " + failed.getMessage()
                            + ". Roll the transaction back and try again; check the database and the table delay_queue_outbox.",
                    failed);
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }

    /**
     * Rolls back to a savepoint after a failure. Without it PostgreSQL would refuse all later statements of the transaction, and
     * the other databases would keep the first rows of a list.
     */
    private static <T> T undone(Connection connection, Work<T> work) throws SQLException {
        Savepoint savepoint = connection.setSavepoint();
        try {
            T result = QueryTimeouts.restoring(connection, work::on);
            connection.releaseSavepoint(savepoint);
            return result;
        } catch (SQLException | RuntimeException | Error failed) {
            try {
                connection.rollback(savepoint);
            } catch (SQLException lost) {
                // The connection is broken, or the database has rolled back the transaction.
                failed.addSuppressed(lost);
            }
            throw failed;
        }
    }

    private static SendOutboxException notJoined(String reason) {
        return new SendOutboxException(
                "The present transaction " + reason
                        + ", so the outbox cannot be part of it, and nothing was sent. Send in a"
                        + " JDBC or JPA transaction of the DataSource that is the primary one or has @DelayQueueDataSource, or"
                        + " choose another phase for this send.",
                null);
    }

    private boolean isTransactionOfDataSource() {
        SendOutboxTransaction transaction = present.get();
        return transaction != null
                && TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder bound
                && SendOutboxTransaction.connectionOf(transaction.execution()) == bound;
    }

    /** Works on a connection of its own; each statement is a transaction. */
    <T> T own(Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            if (!autoCommit) {
                connection.setAutoCommit(true);
            }
            try {
                return QueryTimeouts.restoring(connection, work::on);
            } finally {
                if (!autoCommit) {
                    connection.setAutoCommit(false);
                }
            }
        } catch (SQLException | RuntimeException failed) {
            // A pool that cannot open connections throws its own unchecked exceptions.
            throw new SendOutboxException(String.valueOf(failed.getMessage()), failed);
        }
    }

    /** Works on a connection of its own, in one transaction. */
    <T> T ownTransaction(Work<T> work) {
        return own(connection -> {
            connection.setAutoCommit(false);
            T result;
            try {
                result = work.on(connection);
                connection.commit();
            } catch (SQLException | RuntimeException | Error failed) {
                undo(connection, failed);
                throw failed;
            }
            connection.setAutoCommit(true);
            return result;
        });
    }

    private static void undo(Connection connection, Throwable failed) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException lost) {
            failed.addSuppressed(lost);
        }
    }
}
