package io.easykit.delayqueue.jdbc;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * The transaction of a thread, as its manager has reported it.
 *
 * @param committed whether its commit is done, or it has ended, and callbacks run
 */
public record SendOutboxTransaction(TransactionExecution execution, boolean committed) {

    /** What holds the connection of a transaction; null if it has none, or it is not one of JDBC or JPA. */
    public static @Nullable ConnectionHolder connectionOf(@Nullable TransactionExecution execution) {
        return execution instanceof DefaultTransactionStatus status
                        && status.hasTransaction()
                        && status.getTransaction() instanceof JdbcTransactionObjectSupport own
                        && own.hasConnectionHolder()
                ? own.getConnectionHolder()
                : null;
    }
}
