package io.easykit.cache.aop;

import java.lang.reflect.Method;

/** The methods that declare how they stand to transactions. */
@FunctionalInterface
public interface TransactionalMethods {

    /** No method declares anything. */
    TransactionalMethods NONE = (method, targetClass) -> false;

    /** Whether the method declares that it does its work in the transaction that is present when its body begins. */
    boolean joinTransaction(Method method, Class<?> targetClass);
}
