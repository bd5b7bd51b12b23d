package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.DataSourceChoice;
import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.JdbcSchema;
import io.easykit.boot.Problem;
import io.easykit.boot.SqlFailures;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jdbc.JdbcSendOutbox;
import io.easykit.delayqueue.jdbc.SendOutboxSchema;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.support.Transactions;
import io.easykit.delayqueue.transaction.SpringTransactions;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.jdbc.datasource.DataSourceUtils;

/** Auto-configuration of the outbox of sends in the application's database. */
@AutoConfiguration(
        before = DelayQueueAutoConfiguration.class,
        afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnEnabled("delay-queue")
@Conditional(DelayQueueOutboxAutoConfiguration.OnOutbox.class)
@EnableConfigurationProperties(DelayQueueProperties.class)
public final class DelayQueueOutboxAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(DelayQueueOutboxAutoConfiguration.class);

    DelayQueueOutboxAutoConfiguration() {}

    /** Whether this application has an outbox, as {@link DelayQueueProperties#hasOutbox()}. Reads no other settings, which takes longer. */
    static final class OnOutbox extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Binder settings = Binder.get(context.getEnvironment());
            boolean hasOutbox = DelayQueueProperties.hasOutbox(
                    read(settings, "delay-queue.outbox.enabled", Boolean.class),
                    read(settings, "delay-queue.send-phase", SendPhase.class));
            return new ConditionOutcome(hasOutbox, "delay-queue.send-phase or delay-queue.outbox.enabled");
        }

        private static <T> @Nullable T read(Binder settings, String name, Class<T> type) {
            try {
                return settings.bind(name, type).orElse(null);
            } catch (BindException unreadable) {
                // The start check reports it.
                return null;
            }
        }
    }

    /** Not once more in a child context, whose end would stop the outbox of its parent. */
    @Bean
    @ConditionalOnMissingBean
    OutboxLifecycle delayQueueOutboxLifecycle(ObjectProvider<DelayQueueEngine> engine) {
        return new OutboxLifecycle(() -> engine.getObject().outbox());
    }

    /** An application that was processed ahead of time may have its outbox in the settings of the build only. Then the beans are null. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({DataSourceUtils.class, DataSourceScriptDatabaseInitializer.class})
    @ConditionalOnBean(DataSource.class)
    @ConditionalOnMissingBean(SendOutbox.class)
    static class JdbcConfiguration {

        @Bean
        @ConditionalOnMissingBean
        @Nullable SendOutboxSchema delayQueueOutboxSchema(
                ObjectProvider<DataSource> dataSources,
                @DelayQueueDataSource ObjectProvider<DataSource> qualified,
                DelayQueueProperties properties) {
            if (!properties.hasOutbox()) {
                return null;
            }
            OutboxSettings outbox = properties.outbox();
            return new SendOutboxSchema(
                    choose(dataSources, qualified),
                    new JdbcSchema.Settings(
                            "delay-queue.outbox", outbox.initializeSchema(), outbox.schema(), outbox.platform()));
        }

        @Bean
        @DependsOnDatabaseInitialization
        @Nullable JdbcSendOutbox delayQueueOutbox(
                ObjectProvider<DataSource> dataSources,
                @DelayQueueDataSource ObjectProvider<DataSource> qualified,
                DelayQueueProperties properties,
                ObjectProvider<Transactions> transactions) {
            if (!properties.hasOutbox()) {
                return null;
            }
            JdbcSendOutbox outbox = new JdbcSendOutbox(
                    choose(dataSources, qualified),
                    properties.keyPrefix(),
                    () -> transactions.getIfAvailable() instanceof SpringTransactions spring ? spring.present() : null);
            requireTables(outbox);
            return outbox;
        }

        private static DataSource choose(ObjectProvider<DataSource> dataSources, ObjectProvider<DataSource> qualified) {
            return DataSourceChoice.of(
                    dataSources,
                    qualified,
                    () -> new Problem(
                            "The outbox of delay-queue needs one DataSource, and there are several and none of them is"
                                    + " primary.",
                            "Put @DelayQueueDataSource on the @Bean method of the DataSource to which the transactions"
                                    + " write."));
        }

        private static void requireTables(JdbcSendOutbox outbox) {
            try {
                if (!outbox.check()) {
                    log.warn(
                            "The database of the outbox cannot be reached. Until it can, sends of the phase outbox fail,"
                                    + " and messages that wait in it are not delivered.");
                }
            } catch (SendOutboxException unusable) {
                throw new InvalidConfigurationException(new Problem(
                        "The tables delay_queue_outbox and delay_queue_outbox_lease cannot be used: "
                                + unusable.getMessage(),
                        SqlFailures.remedy(
                                unusable,
                                "Set delay-queue.outbox.initialize-schema to always, or create the tables with the script"
                                        + " outbox-<platform>.sql from the package io.easykit.delayqueue.jdbc. The"
                                        + " application needs SELECT, INSERT, UPDATE and DELETE on them.")));
            }
        }
    }
}
