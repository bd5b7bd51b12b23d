package io.easykit.cache.autoconfigure;

import io.easykit.cache.redis.NearHintSubscription;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.cache.redis.ScriptLoader;
import io.easykit.cache.store.EntryStore;
import io.easykit.redis.OwnConnections;
import java.time.Duration;
import java.util.List;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The cache's dedicated connection to the application's Redis. Not a {@code RedisConnectionFactory} bean: the
 * application would lose the one of Spring Boot.
 *
 * <p>Usable from its construction, so that beans may use the cache while they start. Can be stopped and started
 * repeatedly.
 */
final class RedisConnections implements SmartLifecycle, DisposableBean {

    /** Phase of the application's own connection factory. */
    static final int PHASE = 0;

    /** Within this time after the first call, and until the first reply, a call may take longer than the command timeout. */
    static final Duration SLOW_START = Duration.ofSeconds(2);

    private final OwnConnections own;
    private final RedisEntryStore store;
    private final ScriptLoader scripts;
    private final NearHintSubscription hints;
    private volatile boolean running;

    /** @param nearHints whether invalidations are published to the near levels of other nodes, and theirs are received */
    RedisConnections(RedisConnectionFactory application, String keyPrefix, Duration commandTimeout, boolean nearHints) {
        this.own = OwnConnections.of(application, commandTimeout, "easy-cache.command-timeout");
        own.start();
        this.store = nearHints
                ? RedisEntryStore.withHints(own.factory(), keyPrefix, commandTimeout)
                : new RedisEntryStore(own.factory(), keyPrefix, commandTimeout);
        store.allowSlowStart(SLOW_START);
        this.scripts = new ScriptLoader(store);
        this.hints = new NearHintSubscription(own.factory(), store);
    }

    EntryStore store() {
        return store;
    }

    /** @throws io.easykit.cache.store.StoreUnavailableException if Redis does not reply */
    void ping() {
        store.ping();
    }

    @Override
    public synchronized void start() {
        own.start();
        scripts.start();
        hints.start();
        running = true;
    }

    @Override
    public synchronized void stop() {
        running = false;
        StopSteps.make(List.of(hints::stop, scripts::stop, own::stop));
    }

    /** Ends the threads of the connections as well. Also called if the start of the application failed. */
    @Override
    public synchronized void destroy() {
        StopSteps.make(List.of(this::stop, own::destroy));
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
