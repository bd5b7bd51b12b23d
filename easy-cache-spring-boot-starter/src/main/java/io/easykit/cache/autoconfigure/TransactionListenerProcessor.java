package io.easykit.cache.autoconfigure;

import io.easykit.cache.Transactions;
import java.util.function.Supplier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.PlatformTransactionManager;

/** Connects {@link SpringTransactions} with each transaction manager. */
final class TransactionListenerProcessor implements BeanPostProcessor {

    private final Supplier<Transactions> transactions;

    TransactionListenerProcessor(Supplier<Transactions> transactions) {
        this.transactions = transactions;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof PlatformTransactionManager manager
                && transactions.get() instanceof SpringTransactions spring) {
            spring.manages(manager);
        }
        return bean;
    }
}
