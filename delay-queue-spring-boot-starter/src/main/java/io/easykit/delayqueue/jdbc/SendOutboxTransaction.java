package io.easykit.delayqueue.jdbc;

import org.springframework.transaction.TransactionExecution;

/**
 * The transaction of a thread, as its manager has reported it.
 *
 * @param committed whether its commit is done, or it has ended, and callbacks run
 */
public record SendOutboxTransaction(TransactionExecution execution, boolean committed) {}
