package io.easykit.cache.jdbc;

import io.easykit.boot.QueryTimeouts;
import io.easykit.cache.store.OutboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Connections of the outbox: that of the present transaction, or a separate one.
 *
 * <p>A transaction can be joined if it works on this data source, and may write. It is not enough that a connection of this
 * data source is bound:
 *
 * <ul>
 *   <li>If a transaction of another manager begins inside one of this data source, the connection of the outer one stays
 *       bound. Its writes are committed, or rolled back, with the outer one.
 *   <li>A connection bound by {@link DataSourceUtils} inside the transaction of another resource belongs to no
 *       transaction. Its writes may be committed at once, or never.
 * </ul>
 *
 * So the bound connection must be that of the present transaction's own object, as its manager has reported it.
 */
final class OutboxConnections {

    static final int TIMEOUT_SECONDS = 5;

    private static final long PATIENCE_SECONDS = 1;

    private final DataSource dataSource;
    private final Supplier<? extends @Nullable TransactionExecution> present;
    private final BooleanSupplier holdsConnection;

    /**
     * For threads that already hold a connection. If many of them requested a second one from the pool, they could
     * deadlock.
     */
    private final Semaphore second = new Semaphore(1);

    OutboxConnections(
            DataSource dataSource,
            Supplier<? extends @Nullable TransactionExecution> present,
            BooleanSupplier holdsConnection) {
        DataSource target =
                dataSource instanceof TransactionAwareDataSourceProxy proxy ? proxy.getTargetDataSource() : null;
        this.dataSource = target != null ? target : dataSource;
        this.present = present;
        this.holdsConnection = holdsConnection;
    }

    /** Work on a connection. */
    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Work on a connection without a result. */
    @FunctionalInterface
    interface Task {
        void on(Connection connection) throws SQLException;
    }

    boolean isReachable() {
        try (Connection connection = dataSource.getConnection()) {
            return connection.isValid(TIMEOUT_SECONDS);
        } catch (SQLException | RuntimeException away) {
            return false;
        }
    }

    /**
     * Works in the present transaction.
     *
     * @return false if there is none that can be joined; then nothing has happened
     */
    boolean joined(Task task) {
        if (!isTransactionOfDataSource()) {
            return false;
        }
        Connection connection = DataSourceUtils.getConnection(dataSource);
        try {
            if (connection.getAutoCommit() || connection.isReadOnly()) {
                return false;
            }
            return QueryTimeouts.restoring(connection, joined -> {
                task.on(joined);
                return true;
            });
        } catch (SQLException failed) {
            throw failure(failed);
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }

    private boolean isTransactionOfDataSource() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive()
                && !TransactionSynchronizationManager.isCurrentTransactionReadOnly()
                && TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder bound
                && present.get() instanceof DefaultTransactionStatus status
                && status.hasTransaction()
                && status.getTransaction() instanceof JdbcTransactionObjectSupport own
                && own.hasConnectionHolder()
                && own.getConnectionHolder() == bound;
    }

    /** Works in a separate transaction. */
    <T extends @Nullable Object> T own(Work<T> work) {
        if (!TransactionSynchronizationManager.isActualTransactionActive() && !holdsConnection.getAsBoolean()) {
            return inTransaction(work);
        }
        acquireSecond();
        try {
            return inTransaction(work);
        } finally {
            second.release();
        }
    }

    private void acquireSecond() {
        try {
            if (!second.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new OutboxException(
                        "another thread is waiting for a second connection; enlarge the pool, or use a"
                                + " separate data source for the outbox",
                        null);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new OutboxException("interrupted", stop);
        }
    }

    private <T extends @Nullable Object> T inTransaction(Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            if (autoCommit) {
                connection.setAutoCommit(false);
            }
            try {
                return committed(connection, work);
            } finally {
                if (autoCommit) {
                    connection.setAutoCommit(true);
                }
            }
        } catch (SQLException | RuntimeException failed) {
            // A pool that cannot open connections throws its own unchecked exceptions.
            throw failure(failed);
        }
    }

    private static <T extends @Nullable Object> T committed(Connection connection, Work<T> work) throws SQLException {
        boolean done = false;
        try {
            T result = QueryTimeouts.restoring(connection, work::on);
            connection.commit();
            done = true;
            return result;
        } finally {
            if (!done) {
                connection.rollback();
            }
        }
    }

    private static OutboxException failure(Exception failed) {
        return new OutboxException(String.valueOf(failed.getMessage()), failed);
    }
}
