package io.easykit.cache.autoconfigure;

import io.easykit.cache.aop.TransactionalMethods;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;

/**
 * What {@code @Transactional} declares.
 *
 * <p>A method with {@code REQUIRES_NEW} or {@code NOT_SUPPORTED} does not count: the present transaction may be the
 * surrounding one, if our advisor stands outside the transaction's.
 */
final class DeclaredTransactions implements TransactionalMethods {

    private static final Set<Integer> JOINING = Set.of(
            TransactionDefinition.PROPAGATION_REQUIRED,
            TransactionDefinition.PROPAGATION_SUPPORTS,
            TransactionDefinition.PROPAGATION_MANDATORY,
            TransactionDefinition.PROPAGATION_NESTED);

    private final Supplier<List<TransactionAttributeSource>> sources;

    DeclaredTransactions(Supplier<List<TransactionAttributeSource>> sources) {
        this.sources = sources;
    }

    @Override
    public boolean joinTransaction(Method method, Class<?> targetClass) {
        for (TransactionAttributeSource source : sources.get()) {
            TransactionAttribute attribute = source.getTransactionAttribute(method, targetClass);
            if (attribute != null) {
                return JOINING.contains(attribute.getPropagationBehavior());
            }
        }
        return false;
    }
}
