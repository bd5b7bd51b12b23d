package io.easykit.cache.springcache;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CachedValue;
import io.easykit.cache.EasyCache;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.FillTicket;
import io.easykit.cache.InvalidCacheCallException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.support.SimpleValueWrapper;

/**
 * A Spring cache over the entries of one prefix, for calls by code. Annotated methods do not come here, as far as
 * {@link SpringCacheInterceptor} runs them.
 *
 * <p>A {@code put} stores only with the ticket of a miss of its thread, and only if no update has overtaken it. Any other
 * {@code put} invalidates.
 */
final class SpringCache implements Cache {

    private final String name;
    private final AdapterParts parts;

    SpringCache(String name, AdapterParts parts) {
        this.name = name;
        this.parts = parts;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public EasyCache getNativeCache() {
        return parts.cache();
    }

    /** The cache with the type of its values; of type {@code Object} if nothing declares it. */
    CacheSpec<Object> spec() {
        return parts.spec(name);
    }

    boolean isOf(AdapterParts some) {
        return parts.equals(some);
    }

    CacheKey<Object> key(@Nullable Object key) {
        return SpringKeys.of(spec(), key);
    }

    private CacheKey<Object> readableKey(@Nullable Object key) {
        CacheSpec<Object> spec = spec();
        if (spec.type() == Object.class) {
            throw new InvalidCacheCallException(
                    name,
                    "The cache '" + name
                            + "' cannot be read: no @Cacheable method declares the type of its values, and no"
                            + " class name is read from Redis. Define a bean, for example CacheSpec.of(\"" + name
                            + "\", User.class).",
                    null);
        }
        return SpringKeys.of(spec, key);
    }

    @Override
    public @Nullable ValueWrapper get(Object key) {
        CacheKey<Object> entry = readableKey(key);
        ValueWrapper cached = peek(entry);
        if (cached != null) {
            return cached;
        }
        FillTicket<Object> ticket = parts.cache().startFill(entry);
        if (ticket != null) {
            parts.tickets().keep(ticket);
        }
        return null;
    }

    private @Nullable ValueWrapper peek(CacheKey<Object> entry) {
        CachedValue<Object> cached = parts.cache().peek(entry);
        return cached == null ? null : new SimpleValueWrapper(cached.value());
    }

    @Override
    @SuppressWarnings("unchecked") // checked before
    public <T> @Nullable T get(Object key, @Nullable Class<T> type) {
        ValueWrapper cached = get(key);
        Object value = cached == null ? null : cached.get();
        if (value != null && type != null && !type.isInstance(value)) {
            throw new IllegalStateException("The value of key '" + key + "' in the cache '" + name + "' is a "
                    + value.getClass().getName() + ", not a " + type.getName());
        }
        return (T) value;
    }

    /** The loader runs once for all readers, on every node. */
    @Override
    @SuppressWarnings("unchecked") // the loader's own value, or one of the declared type
    public <T> @Nullable T get(Object key, Callable<T> valueLoader) {
        try {
            return (T) parts.cache().fetch(readableKey(key), valueLoader::call, parts::mayStore);
        } catch (EasyCacheException refused) {
            throw refused;
        } catch (Throwable failure) {
            throw new ValueRetrievalException(key, valueLoader, failure);
        }
    }

    @Override
    public CompletableFuture<?> retrieve(Object key) {
        CacheKey<Object> entry = readableKey(key);
        return parts.futures().start(() -> peek(entry));
    }

    @Override
    @SuppressWarnings("unchecked") // as for a blocking loader
    public <T> CompletableFuture<T> retrieve(Object key, Supplier<CompletableFuture<T>> valueLoader) {
        CacheKey<Object> entry = readableKey(key);
        CompletableFuture<?> value = parts.cache().async().<Object>fetch(entry, valueLoader, parts::mayStore);
        return (CompletableFuture<T>) value;
    }

    @Override
    public void put(Object key, @Nullable Object value) {
        CacheKey<Object> entry = key(key);
        FillTicket<Object> ticket = parts.tickets().take(entry);
        if (ticket == null) {
            parts.updates().invalidate(List.of(entry));
        } else if (!fill(ticket, value)) {
            parts.cache().invalidate(entry);
        }
    }

    private boolean fill(FillTicket<Object> ticket, @Nullable Object value) {
        try (ticket) {
            return parts.mayStore(value) && ticket.tryFill(value);
        }
    }

    /**
     * Stores only after a miss of this thread.
     *
     * @throws InvalidCacheCallException if nothing is cached and nothing could be stored
     */
    @Override
    public @Nullable ValueWrapper putIfAbsent(Object key, @Nullable Object value) {
        CacheKey<Object> entry = readableKey(key);
        FillTicket<Object> ticket = parts.tickets().take(entry);
        if (ticket != null && fill(ticket, value)) {
            return null;
        }
        ValueWrapper present = peek(entry);
        if (present == null) {
            throw new InvalidCacheCallException(
                    name,
                    "Nothing is stored in '" + name
                            + "': this thread has no right to store the value. It has had no miss, another reader loads the"
                            + " entry, an update has overtaken the value, null is not cached, or Redis is away. Call"
                            + " get(key, Callable), whose loader is fenced, instead of putIfAbsent.",
                    null);
        }
        return present;
    }

    @Override
    public void evict(Object key) {
        CacheKey<Object> entry = key(key);
        parts.tickets().drop(entry);
        parts.updates().invalidate(List.of(entry));
    }

    /** Returns false: whether there was a value is not known. */
    @Override
    public boolean evictIfPresent(Object key) {
        evict(key);
        return false;
    }

    @Override
    public void clear() {
        parts.updates().invalidate(List.of(spec().all()));
    }

    /** Returns false: whether there were values is not known. */
    @Override
    public boolean invalidate() {
        clear();
        return false;
    }
}
