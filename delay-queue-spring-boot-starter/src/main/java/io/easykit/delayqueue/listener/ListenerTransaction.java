package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.jdbc.JdbcIdempotencyStore;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.ClassUtils;

/**
 * The transaction that an annotation begins for the method of an idempotent listener. It has to be that of the record: with
 * another one, a crash between two commits repeats or loses the effects.
 */
final class ListenerTransaction {

    private static final boolean HAS_TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.interceptor.TransactionAspectSupport",
            ListenerTransaction.class.getClassLoader());

    private static final Set<Propagation> APART =
            EnumSet.of(Propagation.REQUIRES_NEW, Propagation.NOT_SUPPORTED, Propagation.NEVER);

    private final ListenerMethod where;
    private final TransactionAttribute attribute;

    private ListenerTransaction(ListenerMethod where, TransactionAttribute attribute) {
        this.where = where;
        this.attribute = attribute;
    }

    /** Returns the transaction of Spring's annotation or of Jakarta's, on the method, its class, or an interface. */
    static Optional<ListenerTransaction> of(ListenerMethod where, @Nullable ConfigurableListableBeanFactory beans) {
        return HAS_TRANSACTIONS
                ? Optional.ofNullable(attribute(where, beans))
                        .map(attribute -> new ListenerTransaction(where, attribute))
                : Optional.empty();
    }

    private static @Nullable TransactionAttribute attribute(
            ListenerMethod where, @Nullable ConfigurableListableBeanFactory beans) {
        AnnotationTransactionAttributeSource source = new AnnotationTransactionAttributeSource(false);
        if (beans != null) {
            source.setEmbeddedValueResolver(beans::resolveEmbeddedValue);
        }
        try {
            return source.getTransactionAttribute(where.method(), where.targetClass());
        } catch (IllegalArgumentException unresolved) {
            return null; // a timeout with a placeholder, before placeholders are resolved: this start fails anyway
        }
    }

    /** @throws InvalidDelayListenerException if the propagation leaves the transaction of the record */
    void requireJoining() {
        for (Propagation propagation : APART) {
            if (propagation.value() == attribute.getPropagationBehavior()) {
                throw where.problem(
                        "it is idempotent, and @Transactional with the propagation " + propagation
                                + " keeps its effects out of the transaction that records the message",
                        "Remove the propagation, or remove 'idempotent'.");
            }
        }
    }

    /**
     * A transaction manager that Spring does not find fails each call, and that of another store is unknown: neither is checked.
     *
     * @throws InvalidDelayListenerException if the transaction manager is another one than that of the record
     */
    void requireManagerOf(IdempotencyStore store, ConfigurableListableBeanFactory beans) {
        TransactionManager manager = new Managers(beans).of(attribute, where.targetClass());
        if (manager != null && store instanceof JdbcIdempotencyStore jdbc && !jdbc.isJoinedBy(manager)) {
            throw where.problem(
                    "it is idempotent, and its @Transactional uses another transaction manager than the store of its records,"
                            + " so a crash between the two commits would repeat its effects",
                    "Name the transaction manager of the store in @Transactional, or remove the annotation. Or set"
                            + " delay-queue.idempotency.transaction-manager to that of the method, and put"
                            + " @DelayQueueDataSource on its DataSource.");
        }
    }

    /** Chooses a transaction manager as Spring does at each call. */
    private static final class Managers extends TransactionAspectSupport {

        Managers(ConfigurableListableBeanFactory beans) {
            setBeanFactory(beans);
            TransactionAspectSupport aspect =
                    beans.getBeanProvider(TransactionAspectSupport.class).getIfUnique();
            setTransactionManager(aspect == null ? null : aspect.getTransactionManager());
        }

        @Nullable TransactionManager of(TransactionAttribute attribute, Class<?> type) {
            try {
                return determineTransactionManager(attribute, type);
            } catch (BeansException | IllegalStateException unknown) {
                return null;
            }
        }
    }
}
