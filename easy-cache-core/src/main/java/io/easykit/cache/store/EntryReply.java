package io.easykit.cache.store;

import static java.util.Objects.requireNonNull;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The reply to one of several calls: a value or a failure.
 *
 * @param value null if there is a failure
 * @param failure null if there is a value
 */
public record EntryReply<T>(@Nullable T value, @Nullable StoreUnavailableException failure) {

    public static <T> EntryReply<T> failed(StoreUnavailableException failure) {
        return new EntryReply<>(null, failure);
    }

    /** Makes a call, and keeps its failure. */
    public static <T> EntryReply<T> of(Supplier<T> call) {
        try {
            return new EntryReply<>(requireNonNull(call.get()), null);
        } catch (StoreUnavailableException away) {
            return failed(away);
        }
    }

    /**
     * Returns the value.
     *
     * @throws StoreUnavailableException if there is a failure
     */
    public T get() {
        if (failure != null) {
            throw failure;
        }
        return requireNonNull(value);
    }
}
