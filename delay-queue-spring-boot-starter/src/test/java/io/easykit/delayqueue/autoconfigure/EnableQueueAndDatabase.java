package io.easykit.delayqueue.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.ConfigurationPropertiesAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;

/** Auto-configurations of the queue, Redis and a database, without the others of the class path. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ImportAutoConfiguration({
    AopAutoConfiguration.class,
    ConfigurationPropertiesAutoConfiguration.class,
    DataRedisAutoConfiguration.class,
    DataSourceAutoConfiguration.class,
    DataSourceTransactionManagerAutoConfiguration.class,
    JdbcClientAutoConfiguration.class,
    JdbcTemplateAutoConfiguration.class,
    TransactionAutoConfiguration.class,
    TransactionManagerCustomizationAutoConfiguration.class,
    DelayQueueAutoConfiguration.class,
    DelayQueueHealthAutoConfiguration.class,
    DelayQueueIdempotencyAutoConfiguration.class,
    DelayQueueMetricsAutoConfiguration.class,
    DelayQueueObservationAutoConfiguration.class,
    DelayQueueOutboxAutoConfiguration.class,
    DisabledDelayQueueAutoConfiguration.class
})
@interface EnableQueueAndDatabase {}
