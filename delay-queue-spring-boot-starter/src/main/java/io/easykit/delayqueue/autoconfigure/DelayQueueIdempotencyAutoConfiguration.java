package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.DataSourceChoice;
import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.JdbcSchema;
import io.easykit.boot.Problem;
import io.easykit.boot.SqlFailures;
import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.jdbc.IdempotencyCleanup;
import io.easykit.delayqueue.jdbc.JdbcIdempotencyStore;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Auto-configuration of the records of handled messages in the application's database. The store is created when a listener needs
 * it, and with it the table, so that an application without such listeners has neither.
 */
@AutoConfiguration(
        before = DelayQueueAutoConfiguration.class,
        afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({DataSourceUtils.class, DataSourceScriptDatabaseInitializer.class})
@ConditionalOnBean(DataSource.class)
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnEnabled("delay-queue")
@EnableConfigurationProperties(DelayQueueProperties.class)
public final class DelayQueueIdempotencyAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger("delay-queue");

    private static final Duration CLEANUP_INTERVAL = Duration.ofMinutes(10);

    DelayQueueIdempotencyAutoConfiguration() {}

    @Bean
    IdempotencyCleanup delayQueueIdempotencyCleanup() {
        return new IdempotencyCleanup(CLEANUP_INTERVAL);
    }

    @Bean
    @Lazy
    @DependsOnDatabaseInitialization
    JdbcIdempotencyStore delayQueueIdempotencyStore(
            ObjectProvider<DataSource> dataSources,
            @DelayQueueDataSource ObjectProvider<DataSource> qualified,
            ObjectProvider<PlatformTransactionManager> managers,
            BeanFactory beans,
            ResourceLoader resources,
            DelayQueueProperties properties,
            IdempotencyCleanup cleanup)
            throws Exception {
        IdempotencySettings settings = properties.idempotency();
        DataSource dataSource = DataSourceChoice.of(
                dataSources,
                qualified,
                () -> new Problem(
                        "There are several DataSources for the records of handled messages, and none of them is primary.",
                        "Put @DelayQueueDataSource on the @Bean method of the DataSource to which the listeners write."));
        JdbcSchema schema = new JdbcSchema(dataSource, settings.jdbcSchema());
        schema.setResourceLoader(resources);
        schema.afterPropertiesSet();
        JdbcIdempotencyStore store = new JdbcIdempotencyStore(
                dataSource, manager(settings.transactionManager(), managers, beans), settings.retention());
        check(store);
        cleanup.use(store);
        return store;
    }

    private static PlatformTransactionManager manager(
            @Nullable String name, ObjectProvider<PlatformTransactionManager> managers, BeanFactory beans) {
        if (name != null) {
            if (!beans.containsBean(name) || !beans.isTypeMatch(name, PlatformTransactionManager.class)) {
                throw new InvalidConfigurationException(Problem.setting(
                        "delay-queue.idempotency.transaction-manager",
                        "'" + name + "', and there is no PlatformTransactionManager bean of that name",
                        "Name the one whose transactions the listeners join."));
            }
            return beans.getBean(name, PlatformTransactionManager.class);
        }
        PlatformTransactionManager manager = managers.getIfUnique();
        if (manager == null) {
            boolean none = managers.stream().findAny().isEmpty();
            throw new InvalidConfigurationException(new Problem(
                    none
                            ? "There is no PlatformTransactionManager bean. Idempotent listeners run in its transactions; a"
                                    + " reactive transaction manager cannot be used."
                            : "There are several PlatformTransactionManager beans for idempotent listeners, and none of them"
                                    + " is primary.",
                    none
                            ? "Add spring-boot-starter-jdbc or -data-jpa, or define a JdbcTransactionManager."
                            : "Set delay-queue.idempotency.transaction-manager to the name of one of them."));
        }
        return manager;
    }

    private static void check(JdbcIdempotencyStore store) {
        try {
            if (!store.check()) {
                log.warn(
                        "The database of the records of handled messages cannot be reached. Until it can, the messages of"
                                + " idempotent listeners are released and come again, without an attempt.");
            }
        } catch (IllegalStateException unusable) {
            throw new InvalidConfigurationException(new Problem(
                    "The records of handled messages cannot be stored: " + unusable.getMessage() + ".",
                    SqlFailures.remedy(
                            unusable,
                            "Set delay-queue.idempotency.initialize-schema to always, or create the table with the script"
                                    + " idempotency-<platform>.sql from the package io.easykit.delayqueue.jdbc. The"
                                    + " application needs SELECT, INSERT, UPDATE and DELETE on it. Set"
                                    + " delay-queue.idempotency.transaction-manager to the transaction manager of its"
                                    + " DataSource.")));
        }
    }
}
