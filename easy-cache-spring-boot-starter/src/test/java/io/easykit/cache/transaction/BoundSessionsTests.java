package io.easykit.cache.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class BoundSessionsTests {

    @Test
    void knowsWhetherThisThreadHoldsAConnection() {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl("jdbc:h2:mem:bound-sessions");
        assertThat(BoundSessions.holdConnection()).isFalse();

        new TransactionTemplate(new DataSourceTransactionManager(database))
                .executeWithoutResult(
                        status -> assertThat(BoundSessions.holdConnection()).isTrue());

        TransactionSynchronizationManager.bindResource("session", "without a connection");
        assertThat(BoundSessions.holdConnection()).isFalse();
        TransactionSynchronizationManager.unbindResource("session");
    }
}
