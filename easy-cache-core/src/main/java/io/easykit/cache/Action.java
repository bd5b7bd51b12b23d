package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * Changes the data behind entries.
 *
 * @param <T> result type
 * @param <X> exception type; an exception reaches the caller as the very same object
 */
@FunctionalInterface
public interface Action<T, X extends Throwable> {

    @Nullable T run() throws X;
}
