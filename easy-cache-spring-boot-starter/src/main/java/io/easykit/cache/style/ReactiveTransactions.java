package io.easykit.cache.style;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.util.ClassUtils;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** Transactions that Reactor's context carries. Loaded only if Reactor is present. */
final class ReactiveTransactions {

    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.reactive.TransactionContext", ReactiveTransactions.class.getClassLoader());

    private ReactiveTransactions() {}

    /** Whether a method with this context would run in the transaction of its subscriber. */
    static boolean isActive(ContextView context) {
        return PRESENT && Spring.isActive(context);
    }

    /**
     * A context without the transaction context of the subscriber. That one has no transaction at the moment, as with
     * {@code SUPPORTS} or {@code NOT_SUPPORTED}, but it may have a connection, and it may resume a transaction.
     */
    static ContextView without(ContextView context) {
        return PRESENT ? Spring.without(context) : context;
    }

    /** Loaded only if Spring's transactions are present. */
    private static final class Spring {

        static boolean isActive(ContextView context) {
            @Nullable TransactionContext transaction = context.getOrDefault(TransactionContext.class, null);
            return transaction != null && transaction.isActualTransactionActive();
        }

        static ContextView without(ContextView context) {
            if (!context.hasKey(TransactionContext.class)) {
                return context;
            }
            Object[] keys = context.stream()
                    .map(Map.Entry::getKey)
                    .filter(Spring::isOwn)
                    .toArray();
            Context rest = Context.of(context);
            for (Object key : keys) {
                rest = rest.delete(key);
            }
            return rest;
        }

        /** One of its keys is a class that is not public. */
        private static boolean isOwn(Object key) {
            return key instanceof Class<?> type
                    && type.getPackageName().equals(TransactionContext.class.getPackageName());
        }
    }
}
