package io.easykit.cache.autoconfigure;

import io.easykit.cache.EntryStore;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.cache.redis.ScriptLoader;
import io.easykit.redis.DedicatedConnections;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The cache's own connection to the application's Redis. Deliberately no {@code RedisConnectionFactory} to the
 * application, which would otherwise lose Boot's own.
 *
 * <p>Works from the moment it is made, so that beans may use the cache while they start; may be stopped and started as
 * often as one likes.
 */
final class RedisConnections implements SmartLifecycle {

    /** That of the application's own connection factory. */
    static final int PHASE = 0;

    private static final Logger log = LoggerFactory.getLogger(RedisConnections.class);

    private final @Nullable LettuceConnectionFactory own;
    private final RedisEntryStore store;
    private final ScriptLoader scripts;
    private volatile boolean running;

    RedisConnections(RedisConnectionFactory application, String keyPrefix, Duration commandTimeout) {
        this.own = application instanceof LettuceConnectionFactory lettuce
                ? DedicatedConnections.copyOf(lettuce, commandTimeout)
                : null;
        if (own != null) {
            own.afterPropertiesSet();
        } else {
            log.info(
                    "easy-cache: Redis is used through {}, which is not Lettuce: its timeouts apply, not"
                            + " easy-cache.command-timeout",
                    application.getClass().getName());
        }
        this.store = new RedisEntryStore(own != null ? own : application, keyPrefix, commandTimeout);
        this.scripts = new ScriptLoader(store);
    }

    EntryStore store() {
        return store;
    }

    /**
     * @throws io.easykit.cache.StoreUnavailableException if Redis does not answer
     */
    void ping() {
        store.ping();
    }

    @Override
    public synchronized void start() {
        if (own != null && !own.isRunning()) {
            own.start();
        }
        scripts.start();
        running = true;
    }

    @Override
    public synchronized void stop() {
        scripts.stop();
        if (own != null) {
            own.stop();
        }
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
