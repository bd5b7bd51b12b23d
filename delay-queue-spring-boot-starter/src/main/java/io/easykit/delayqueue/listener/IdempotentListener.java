package io.easykit.delayqueue.listener;

import io.easykit.boot.BeanChoice;
import io.easykit.boot.Explained;
import io.easykit.boot.Problem;
import io.easykit.boot.SettingChecks;
import io.easykit.delayqueue.IdempotencyStore;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Checks the listeners whose method runs once for each message, and finds the store of their records. */
final class IdempotentListener {

    private IdempotentListener() {}

    /**
     * Returns the store, or one that is never called if the bean of the listener does not exist yet.
     *
     * @throws InvalidDelayListenerException if the method cannot run once, or there is no store
     */
    static IdempotencyStore store(
            ListenerMethod where,
            ListenerAttributes attributes,
            ListenerSignature signature,
            @Nullable ConfigurableListableBeanFactory beans) {
        requireOneMessage(where, attributes);
        requireAutomaticSettlement(where, signature);
        Optional<ListenerTransaction> transaction = ListenerTransaction.of(where, beans);
        transaction.ifPresent(ListenerTransaction::requireJoining);
        List<String> names = beans == null
                ? List.of()
                : BeanChoice.nearest(beans, IdempotencyStore.class).names();
        if (beans == null || names.size() != 1) {
            throw where.problem(
                    "it is idempotent, and there "
                            + (names.isEmpty()
                                    ? "is no IdempotencyStore bean"
                                    : "are several IdempotencyStore beans, and none of them is primary: " + names),
                    names.isEmpty()
                            ? "Add spring-boot-starter-jdbc (or -data-jpa) and a DataSource, or define a bean of this type,"
                                    + " or remove 'idempotent'." + remedyOfTests(attributes, beans)
                            : "Put @Primary on the one to use.");
        }
        if (where.isType()) {
            return (topic, uniqueId, handler) -> {
                throw new IllegalStateException("This listener is only checked, in a start that fails");
            };
        }
        IdempotencyStore store = bean(where, names.get(0), beans);
        transaction.ifPresent(own -> own.requireManagerOf(store, beans));
        return store;
    }

    private static String remedyOfTests(
            ListenerAttributes attributes, @Nullable ConfigurableListableBeanFactory beans) {
        return beans == null
                ? ""
                : SliceRemedy.of(
                        beans,
                        "In a slice without the database set "
                                + SettingChecks.element("delay-queue.topics", attributes.topic())
                                + ".idempotent=false, or use @AutoConfigureTestDelayQueue with a slice that has it.");
    }

    private static IdempotencyStore bean(ListenerMethod where, String name, ConfigurableListableBeanFactory beans) {
        try {
            return beans.getBean(name, IdempotencyStore.class);
        } catch (BeansException unusable) {
            throw unusable(where, unusable);
        }
    }

    private static void requireOneMessage(ListenerMethod where, ListenerAttributes attributes) {
        if (attributes.batchSize() != null) {
            throw where.problem(
                    "it is idempotent, and takes batches: one message that fails would roll back the effects of all",
                    "Remove batchSize and take one message, or remove 'idempotent'.");
        }
    }

    private static void requireAutomaticSettlement(ListenerMethod where, ListenerSignature signature) {
        if (signature.manual()) {
            throw where.problem(
                    "it is idempotent, and has an Acknowledgment parameter: a message that it settles before the commit"
                            + " could lose its effect",
                    "Remove the parameter: return to acknowledge, throw to fail. Or remove 'idempotent'.");
        }
    }

    private static InvalidDelayListenerException unusable(ListenerMethod where, BeansException failure) {
        List<Problem> problems = Stream.<Throwable>iterate(failure, cause -> cause != null, Throwable::getCause)
                .filter(Explained.class::isInstance)
                .findFirst()
                .map(cause -> ((Explained) cause).problems())
                .orElseThrow(() -> failure);
        return where.problem(
                "it is idempotent, and its store cannot be used: "
                        + problems.stream()
                                .map(Problem::description)
                                .map(text -> text.replaceFirst("\\.$", ""))
                                .collect(Collectors.joining("; ")),
                problems.stream().map(Problem::remedy).collect(Collectors.joining(" ")),
                failure);
    }
}
