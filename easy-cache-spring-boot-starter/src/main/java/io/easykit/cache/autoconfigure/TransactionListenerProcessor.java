package io.easykit.cache.autoconfigure;

import io.easykit.cache.Transactions;
import java.util.function.Supplier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;

/** Registers {@link SpringTransactions} with each transaction manager, also with those that the application defines. */
final class TransactionListenerProcessor implements BeanPostProcessor {

    private final Supplier<Transactions> transactions;

    TransactionListenerProcessor(Supplier<Transactions> transactions) {
        this.transactions = transactions;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof ConfigurableTransactionManager manager
                && transactions.get() instanceof SpringTransactions spring) {
            manager.addListener(spring.listener());
        }
        return bean;
    }
}
