package io.easykit.cache.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.DataSourceChoice;
import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.JdbcSchema;
import io.easykit.boot.Problem;
import io.easykit.boot.SqlFailures;
import io.easykit.cache.Transactions;
import io.easykit.cache.autoconfigure.EasyCacheProperties.Jdbc;
import io.easykit.cache.autoconfigure.EasyCacheProperties.OutboxType;
import io.easykit.cache.jdbc.JdbcOutbox;
import io.easykit.cache.jdbc.OutboxSchema;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.OutboxException;
import io.easykit.cache.transaction.BoundSessions;
import io.easykit.cache.transaction.PresentTransaction;
import io.easykit.cache.transaction.SpringTransactions;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionExecution;

/**
 * Auto-configuration of the outbox in the application's database. An application that was processed ahead of time may have the outbox
 * in the settings of the build only. Then the beans are null.
 */
@AutoConfiguration(
        before = EasyCacheAutoConfiguration.class,
        afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({DataSourceUtils.class, DataSourceScriptDatabaseInitializer.class})
@ConditionalOnBean(DataSource.class)
@ConditionalOnMissingBean(Outbox.class)
@ConditionalOnEnabled("easy-cache")
@ConditionalOnProperty(name = "easy-cache.outbox", havingValue = "jdbc")
@EnableConfigurationProperties(EasyCacheProperties.class)
public final class EasyCacheOutboxAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(EasyCacheOutboxAutoConfiguration.class);

    EasyCacheOutboxAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    @Nullable OutboxSchema easyCacheOutboxSchema(
            ObjectProvider<DataSource> dataSources,
            @EasyCacheDataSource ObjectProvider<DataSource> qualified,
            EasyCacheProperties properties) {
        if (properties.outbox() != OutboxType.JDBC) {
            return null;
        }
        Jdbc jdbc = properties.jdbc();
        return new OutboxSchema(
                choose(dataSources, qualified),
                new JdbcSchema.Settings("easy-cache.jdbc", jdbc.initializeSchema(), jdbc.schema(), jdbc.platform()));
    }

    @Bean
    @DependsOnDatabaseInitialization
    @Nullable JdbcOutbox easyCacheOutbox(
            ObjectProvider<DataSource> dataSources,
            @EasyCacheDataSource ObjectProvider<DataSource> qualified,
            EasyCacheProperties properties,
            ObjectProvider<Transactions> transactions) {
        if (properties.outbox() != OutboxType.JDBC) {
            return null;
        }
        JdbcOutbox outbox = new JdbcOutbox(
                choose(dataSources, qualified),
                properties.keyPrefix(),
                present(transactions.getIfAvailable()),
                BoundSessions::holdConnection);
        requireTable(outbox);
        return outbox;
    }

    private static Supplier<@Nullable TransactionExecution> present(@Nullable Transactions transactions) {
        return () -> {
            PresentTransaction present = transactions instanceof SpringTransactions spring ? spring.present() : null;
            return present == null ? null : present.transaction();
        };
    }

    private static DataSource choose(ObjectProvider<DataSource> dataSources, ObjectProvider<DataSource> qualified) {
        return DataSourceChoice.of(
                dataSources,
                qualified,
                () -> Problem.setting(
                        "easy-cache.outbox",
                        "jdbc, but there are several DataSources and none of them is primary",
                        "Put @EasyCacheDataSource on the @Bean method of the DataSource to which the updates write."));
    }

    private static void requireTable(JdbcOutbox outbox) {
        try {
            if (!outbox.check()) {
                log.warn("The database of easy-cache.outbox cannot be reached. Until it can, updates fail while"
                        + " Redis is unavailable.");
            }
        } catch (OutboxException unusable) {
            throw new InvalidConfigurationException(Problem.setting(
                    "easy-cache.outbox",
                    "jdbc, but the table easy_cache_outbox cannot be used: " + unusable.getMessage(),
                    SqlFailures.remedy(
                            unusable,
                            "Set easy-cache.jdbc.initialize-schema to always, or create the table with the script"
                                    + " schema-<platform>.sql from the package io.easykit.cache.jdbc. The application"
                                    + " needs SELECT, INSERT, UPDATE and DELETE on it.")));
        }
    }
}
