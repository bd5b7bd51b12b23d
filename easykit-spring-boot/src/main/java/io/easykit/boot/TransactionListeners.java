package io.easykit.boot;

import java.util.ArrayList;
import java.util.List;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/** Registers listeners with transaction managers. */
public final class TransactionListeners {

    private TransactionListeners() {}

    /**
     * Adds a listener before those that the application has registered. If a listener throws, Spring does not call those behind
     * it.
     */
    public static void addFirst(ConfigurableTransactionManager manager, TransactionExecutionListener listener) {
        List<TransactionExecutionListener> all = new ArrayList<>(manager.getTransactionExecutionListeners());
        all.add(0, listener);
        manager.setTransactionExecutionListeners(all);
    }
}
