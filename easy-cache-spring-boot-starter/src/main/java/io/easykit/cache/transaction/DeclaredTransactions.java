package io.easykit.cache.transaction;

import io.easykit.cache.aop.TransactionalMethods;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Evaluates {@code @Transactional}.
 *
 * <p>Inside a transaction {@code REQUIRES_NEW} and {@code NOT_SUPPORTED} do not join: if the update advisor runs outside the
 * transaction advisor, the present transaction is the surrounding one.
 */
public final class DeclaredTransactions implements TransactionalMethods {

    private static final Set<Integer> JOINING = Set.of(
            TransactionDefinition.PROPAGATION_REQUIRED,
            TransactionDefinition.PROPAGATION_SUPPORTS,
            TransactionDefinition.PROPAGATION_MANDATORY,
            TransactionDefinition.PROPAGATION_NESTED);

    private final Supplier<List<TransactionAttributeSource>> sources;

    public DeclaredTransactions(Supplier<List<TransactionAttributeSource>> sources) {
        this.sources = sources;
    }

    @Override
    public boolean joinTransaction(Method method, Class<?> targetClass) {
        TransactionAttribute attribute = attribute(method, targetClass);
        return attribute != null
                && (JOINING.contains(attribute.getPropagationBehavior())
                        || !TransactionSynchronizationManager.isActualTransactionActive());
    }

    @Override
    public boolean declareTransaction(Method method, Class<?> targetClass) {
        return attribute(method, targetClass) != null;
    }

    private @Nullable TransactionAttribute attribute(Method method, Class<?> targetClass) {
        for (TransactionAttributeSource source : sources.get()) {
            TransactionAttribute attribute = source.getTransactionAttribute(method, targetClass);
            if (attribute != null) {
                return attribute;
            }
        }
        return null;
    }
}
