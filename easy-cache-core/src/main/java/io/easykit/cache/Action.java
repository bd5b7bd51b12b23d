package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * What changes the data behind entries.
 *
 * @param <T> what it returns
 * @param <X> what it throws; reaches the caller as the very same object
 */
@FunctionalInterface
public interface Action<T, X extends Throwable> {

    @Nullable T run() throws X;
}
