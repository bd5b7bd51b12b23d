package io.easykit.delayqueue.test.autoconfigure;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.TestQueueParts;
import io.easykit.delayqueue.time.VirtualTime;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The parts that {@link AutoConfigureTestDelayQueue} puts in place of Redis and of real time. A child context uses those of its
 * parent, which has the engine.
 */
@AutoConfiguration(before = DelayQueueAutoConfiguration.class)
@ConditionalOnMissingBean(TestQueueParts.class)
public final class TestDelayQueueAutoConfiguration {

    private static final boolean HAS_TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            TestDelayQueueAutoConfiguration.class.getClassLoader());

    TestDelayQueueAutoConfiguration() {}

    @Bean
    TestQueueParts testDelayQueueParts() {
        return new TestQueueParts(() -> HAS_TRANSACTIONS && ActiveTransaction.isJoined());
    }

    /** Preferred to a store that the application defines. */
    @Bean
    @Primary
    QueueBackend testDelayQueueStore(TestQueueParts parts) {
        return parts.backend();
    }

    @Bean
    VirtualTime testDelayQueueTime(TestQueueParts parts) {
        return parts.time();
    }

    /** The application's outbox keeps its rows, and takes the time of the test. */
    @Bean
    static BeanPostProcessor testDelayQueueOutbox(ObjectProvider<TestQueueParts> parts) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String beanName) {
                return bean instanceof SendOutbox outbox ? parts.getObject().outbox(outbox) : bean;
            }
        };
    }

    /** Inside of the application's interceptors, so that only runs of the handler itself are recorded. */
    @Bean
    @Order(Ordered.LOWEST_PRECEDENCE)
    DelayListenerInterceptor testDelayQueueRecorder(TestQueueParts parts) {
        return parts.recorder();
    }

    /** Messages that an idempotent listener has handled before are no runs. */
    @Bean
    DelayQueueListener testDelayQueueRepeats(TestQueueParts parts) {
        return parts.repeats();
    }

    @Bean
    DelayQueueTester delayQueueTester(TestQueueParts parts, DelayQueueEngine engine, PayloadCodec codec) {
        return parts.tester(engine, codec, () -> HAS_TRANSACTIONS && ActiveTransaction.exists());
    }

    /** Loaded with its class of Spring only. */
    private static final class ActiveTransaction {

        static boolean exists() {
            return TransactionSynchronizationManager.isActualTransactionActive();
        }

        /** Whether a handler on this thread would join a transaction, or the synchronizations of a method without one. */
        static boolean isJoined() {
            return exists() || TransactionSynchronizationManager.isSynchronizationActive();
        }
    }
}
