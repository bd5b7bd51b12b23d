package io.easykit.cache;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A value that is cached, as {@link EasyCache#peek} finds it.
 *
 * @param value     null if "nothing" is cached
 * @param remaining how long it may still be returned, if nothing invalidates it; null if it comes from the local level, while
 *     Redis is away
 * @param stale     whether it was invalidated and is only returned inside the stale window
 * @param <V> the value
 */
public record CachedValue<V>(@Nullable V value, @Nullable Duration remaining, boolean stale) {}
