package io.easykit.delayqueue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Decides what follows a failed run: an exception of the handler, or a call of {@link Acknowledgment#fail(Throwable)}. Not
 * called for {@code fail} with a wait and for {@code reject}, which are decisions already, nor for a payload that cannot be
 * read, a lost lease, and a run that its node interrupts to stop.
 */
@FunctionalInterface
public interface ErrorHandler {

    /** Decides as if there were no error handler. */
    ErrorHandler NONE = (message, error) -> ErrorAction.byDefault();

    /**
     * Decides for one message, each of a batch by itself. Runs on the thread of the failed run, or on the one that called
     * {@code fail}, and must return soon: the message keeps its permit meanwhile. If it throws or returns null, the action is
     * {@link ErrorAction#byDefault()}, and a warning is logged. Until it returns, calls of the message's
     * {@link Acknowledgment} change nothing.
     */
    @Nullable ErrorAction onError(DelayMessage<?> message, Throwable error);

    /** Begins a handler with an action for each type of exception. */
    static ByType.Builder byType() {
        return new ByType.Builder();
    }

    /**
     * Decides by the type of the exception. The exception is looked up first, then its causes from the outside in, because
     * frameworks wrap exceptions. The first of them that has a rule decides, by the rule for its most specific type. Rules for
     * {@code Throwable}, {@code Exception}, {@code RuntimeException} and {@code Error} fit nearly everything, so they are used if no
     * other rule fits the exception or a cause.
     */
    final class ByType implements ErrorHandler {

        private static final Set<Class<? extends Throwable>> GENERAL =
                Set.of(Throwable.class, Exception.class, RuntimeException.class, Error.class);

        private final Map<Class<? extends Throwable>, Function<Throwable, @Nullable ErrorAction>> rules;
        private final ErrorAction otherwise;

        private ByType(Builder builder) {
            this.rules = Map.copyOf(builder.rules);
            this.otherwise = builder.otherwise;
        }

        @Override
        public @Nullable ErrorAction onError(DelayMessage<?> message, Throwable error) {
            List<Throwable> chain = chain(error);
            for (Throwable each : chain) {
                Class<?> type = ruleFor(each);
                if (type != null && !GENERAL.contains(type)) {
                    return rule(type).apply(each);
                }
            }
            for (Throwable each : chain) {
                Class<?> general = ruleFor(each);
                if (general != null) {
                    return rule(general).apply(each);
                }
            }
            return otherwise;
        }

        private Function<Throwable, @Nullable ErrorAction> rule(Class<?> type) {
            return Objects.requireNonNull(rules.get(type));
        }

        private @Nullable Class<?> ruleFor(Throwable error) {
            Class<?> type = error.getClass();
            while (type != null && !rules.containsKey(type)) {
                type = type.getSuperclass();
            }
            return type;
        }

        /** The exception and its causes. A chain may lead back into itself. */
        private static List<Throwable> chain(Throwable error) {
            List<Throwable> chain = new ArrayList<>();
            Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
            for (Throwable each = error; each != null && seen.add(each); each = each.getCause()) {
                chain.add(each);
            }
            return chain;
        }

        /** Collects rules. */
        public static final class Builder {

            private final Map<Class<? extends Throwable>, Function<Throwable, @Nullable ErrorAction>> rules =
                    new HashMap<>();
            private ErrorAction otherwise = ErrorAction.byDefault();

            Builder() {}

            /**
             * After this exception or a subclass of it.
             *
             * @throws IllegalArgumentException if the type has a rule already
             */
            public Builder on(Class<? extends Throwable> type, ErrorAction action) {
                Objects.requireNonNull(action, "An error handler with null for an action: give one, such as dead().");
                return add(type, error -> action);
            }

            /**
             * As {@link #on(Class, ErrorAction)}, with an action that depends on the exception, such as on a time that it names.
             *
             * @param action gets the exception, or the cause, that has the type of the rule
             */
            public <E extends Throwable> Builder on(Class<E> type, Function<? super E, @Nullable ErrorAction> action) {
                return add(type, error -> action.apply(type.cast(error)));
            }

            /** For all other exceptions; {@link ErrorAction#byDefault()} unless given. */
            public Builder otherwise(ErrorAction action) {
                otherwise = Objects.requireNonNull(action, "otherwise(null): give an action, such as dead().");
                return this;
            }

            public ErrorHandler build() {
                return new ByType(this);
            }

            private Builder add(Class<? extends Throwable> type, Function<Throwable, @Nullable ErrorAction> rule) {
                if (rules.putIfAbsent(type, rule) != null) {
                    throw new IllegalArgumentException(
                            "There are two rules for " + type.getName() + ": give one for each type.");
                }
                return this;
            }
        }
    }
}
