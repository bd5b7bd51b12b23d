package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.annotation.DelayListener;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Handles messages once, in a separate process that a test kills. The setting {@code stop-at} is the number of a commit. The
 * thread that makes it prints {@link #COMMITTED}, and stops before its message is acknowledged. The others go on.
 *
 * <p>With the setting {@code halt-after}, in microseconds, this thread goes on as well, and the process halts at that time after
 * the commit: before, while or after the message is acknowledged.
 */
final class CrashingHandler {

    static final String TOPIC = "crash-once";
    static final String COMMITTED = "committed, not acknowledged";
    static final String REPEATED = "repeated ";

    /** Exit code of a process that has halted. */
    static final int HALTED = 137;

    /** Repetitions in this process. */
    static final AtomicLong REPETITIONS = new AtomicLong();

    private static final ThreadLocal<Boolean> HANDLES = ThreadLocal.withInitial(() -> false);

    private CrashingHandler() {}

    public static void main(String[] settings) {
        SpringApplication application = new SpringApplication(Application.class, Handlers.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.run(settings);
    }

    /** Only what it needs, because it is started often. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        DataRedisAutoConfiguration.class,
        DataSourceAutoConfiguration.class,
        JdbcTemplateAutoConfiguration.class,
        JdbcClientAutoConfiguration.class,
        DelayQueueIdempotencyAutoConfiguration.class,
        DelayQueueAutoConfiguration.class
    })
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    static class Handlers {

        @Bean
        JdbcTransactionManager transactionManager(
                DataSource database, @Value("${stop-at:0}") int stopAt, @Value("${halt-after:-1}") long haltAfter) {
            return new StoppingTransactionManager(database, stopAt, haltAfter);
        }

        @Bean
        Orders orders(JdbcClient database) {
            return new Orders(database);
        }

        @Bean
        DelayQueueListener repetitions() {
            return new DelayQueueListener() {
                @Override
                public void onRepeated(DelayQueueEvent.Repeated event) {
                    REPETITIONS.incrementAndGet();
                    System.out.println(REPEATED + event.id());
                }
            };
        }
    }

    record Orders(JdbcClient database) {

        @DelayListener(
                topic = TOPIC,
                idempotent = true,
                concurrency = "4",
                lease = "1s",
                maxAttempts = "1000",
                maxLeaseExpirations = "1000",
                backOff = "20ms",
                backOffMax = "20ms")
        void on(String order) {
            HANDLES.set(true);
            database.sql("insert into effects values (?)").param(order).update();
        }
    }

    private static final class StoppingTransactionManager extends JdbcTransactionManager {

        private static final long serialVersionUID = 1;

        private final AtomicInteger commits = new AtomicInteger();
        private final int stopAt;
        private final long haltAfter;

        StoppingTransactionManager(DataSource database, int stopAt, long haltAfter) {
            super(database);
            this.stopAt = stopAt;
            this.haltAfter = haltAfter;
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            super.doCommit(status);
            if (!HANDLES.get()) {
                return;
            }
            HANDLES.set(false);
            if (commits.incrementAndGet() != stopAt) {
                return;
            }
            if (haltAfter >= 0) {
                new Thread(() -> haltAt(System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(haltAfter))).start();
                return;
            }
            System.out.println(COMMITTED);
            while (true) {
                LockSupport.park();
            }
        }

        /** Like a kill: nothing is closed, and no shutdown hook runs. */
        private static void haltAt(long nanos) {
            while (System.nanoTime() - nanos < 0) {
                Thread.onSpinWait();
            }
            Runtime.getRuntime().halt(HALTED);
        }
    }
}
