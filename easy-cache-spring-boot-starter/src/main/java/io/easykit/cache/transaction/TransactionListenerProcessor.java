package io.easykit.cache.transaction;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.transaction.PlatformTransactionManager;

/** Connects {@link SpringTransactions} with each transaction manager. */
public final class TransactionListenerProcessor implements DestructionAwareBeanPostProcessor {

    private final Supplier<@Nullable SpringTransactions> transactions;

    /** While the context is closed, the supplier may fail. */
    private volatile @Nullable SpringTransactions known;

    /**
     * Creates a processor that never requests another implementation, which may need a transaction manager itself.
     *
     * @param transactions null if the application has another implementation
     */
    public TransactionListenerProcessor(Supplier<@Nullable SpringTransactions> transactions) {
        this.transactions = transactions;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof PlatformTransactionManager manager) {
            SpringTransactions spring = transactions.get();
            if (spring != null) {
                known = spring;
                spring.manages(manager);
            }
        }
        return bean;
    }

    @Override
    public boolean requiresDestruction(Object bean) {
        return bean instanceof PlatformTransactionManager;
    }

    @Override
    public void postProcessBeforeDestruction(Object bean, String beanName) {
        SpringTransactions spring = known;
        if (spring != null && bean instanceof PlatformTransactionManager manager) {
            spring.forget(manager);
        }
    }
}
