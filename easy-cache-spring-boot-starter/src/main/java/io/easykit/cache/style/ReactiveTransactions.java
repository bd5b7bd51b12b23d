package io.easykit.cache.style;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.util.ClassUtils;
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

    /** Loaded only if Spring's transactions are present. */
    private static final class Spring {

        static boolean isActive(ContextView context) {
            @Nullable TransactionContext transaction = context.getOrDefault(TransactionContext.class, null);
            return transaction != null && transaction.isActualTransactionActive();
        }
    }
}
