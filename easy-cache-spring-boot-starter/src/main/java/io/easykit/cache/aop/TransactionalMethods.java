package io.easykit.cache.aop;

import java.lang.reflect.Method;

/** Finds the methods that declare their transaction behaviour. */
@FunctionalInterface
public interface TransactionalMethods {

    /** No method is transactional. */
    TransactionalMethods NONE = (method, targetClass) -> false;

    /**
     * Whether the method declares that it works in the transaction present at the start of its body; without a transaction,
     * whether it declares anything.
     */
    boolean joinTransaction(Method method, Class<?> targetClass);

    /** Whether the method declares any transaction behaviour, so that the cache begins no transaction for it. */
    default boolean declareTransaction(Method method, Class<?> targetClass) {
        return joinTransaction(method, targetClass);
    }
}
