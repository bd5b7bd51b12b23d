package io.easykit.delayqueue.transaction;

import io.easykit.boot.TransactionListeners;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** Connects {@link SpringTransactions} with each transaction manager. */
public final class TransactionListenerProcessor implements BeanPostProcessor {

    private final Supplier<@Nullable SpringTransactions> transactions;

    /** @param transactions null if the application has another implementation */
    public TransactionListenerProcessor(Supplier<@Nullable SpringTransactions> transactions) {
        this.transactions = transactions;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager manager) {
            SpringTransactions spring = transactions.get();
            if (spring != null) {
                TransactionListeners.addFirst(manager, spring.listener());
            }
        }
        return bean;
    }
}
