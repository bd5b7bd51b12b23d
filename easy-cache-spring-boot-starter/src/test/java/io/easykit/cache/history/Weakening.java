package io.easykit.cache.history;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The protocol as shipped, or without one of its protections, to see whether the checkers notice. */
enum Weakening {
    NONE,
    /** A value is stored although its key was invalidated since its load began. */
    STORE_WITHOUT_FENCE,
    /** An update only invalidates, after its commit. */
    UPDATE_WITHOUT_PREPARE,
    /** An update is prepared, but its end is not sent. */
    SKIPPED_INVALIDATION;

    private boolean skips(String method) {
        return switch (this) {
            case UPDATE_WITHOUT_PREPARE -> method.equals("prepare");
            case SKIPPED_INVALIDATION -> method.startsWith("invalidate");
            default -> false;
        };
    }

    /**
     * Returns the store with this weakness, which records the calls that fail.
     *
     * @param raw a connection to the same Redis
     */
    EntryStore of(EntryStore store, RedisConnectionFactory raw, Recorder recorder) {
        return (EntryStore) Proxy.newProxyInstance(
                Weakening.class.getClassLoader(), new Class<?>[] {EntryStore.class}, (proxy, method, arguments) -> {
                    if (skips(method.getName())) {
                        return null;
                    }
                    if (this == STORE_WITHOUT_FENCE && method.getName().equals("store")) {
                        restoreToken(raw, (CacheKey<?>) arguments[0], (LoadLease) arguments[1]);
                    }
                    return call(store, method, arguments, recorder);
                });
    }

    private static Object call(EntryStore store, Method method, Object[] arguments, Recorder recorder)
            throws Throwable {
        long began = System.nanoTime();
        try {
            return method.invoke(store, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof StoreUnavailableException) {
                recorder.storeFailed(began, System.nanoTime());
            }
            throw e.getCause();
        }
    }

    private static void restoreToken(RedisConnectionFactory raw, CacheKey<?> key, LoadLease lease) {
        try (RedisConnection connection = raw.getConnection()) {
            connection.hashCommands().hSet(bytes("ec:" + key.name()), bytes("f"), lease.id());
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
