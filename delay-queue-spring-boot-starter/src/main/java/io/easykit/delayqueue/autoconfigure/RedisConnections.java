package io.easykit.delayqueue.autoconfigure;

import io.easykit.redis.DedicatedConnections;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The queue's own connections to the application's Redis. Deliberately no {@code RedisConnectionFactory} to the
 * application, which would otherwise lose Boot's own.
 *
 * <p>Open from the construction of this bean to its destruction, so that beans may send in {@code @PostConstruct} and
 * {@code @PreDestroy}: beans that depend on this one are destroyed before it. A stop without the end of the context, as that of
 * a cached test context, closes the connections until the next start.
 */
final class RedisConnections implements SmartLifecycle, DisposableBean, ApplicationListener<ContextClosedEvent> {

    /** Started before, and stopped after, whatever may send. */
    static final int PHASE = Integer.MIN_VALUE / 2;

    private static final Logger log = LoggerFactory.getLogger("delay-queue");

    private final @Nullable LettuceConnectionFactory own;
    private final RedisConnectionFactory factory;
    private final ApplicationContext context;
    private volatile boolean running;
    private volatile boolean closing;

    RedisConnections(RedisConnectionFactory application, Duration commandTimeout, ApplicationContext context) {
        this.context = context;
        if (application instanceof LettuceConnectionFactory lettuce) {
            own = DedicatedConnections.copyOf(lettuce, commandTimeout);
            own.start();
            factory = own;
        } else {
            own = null;
            factory = application;
            log.info(
                    "Redis is used through {}, which is not Lettuce: its timeouts apply, not"
                            + " delay-queue.command-timeout",
                    application.getClass().getName());
        }
    }

    RedisConnectionFactory factory() {
        return factory;
    }

    @Override
    public synchronized void start() {
        if (own != null) {
            own.start();
        }
        running = true;
    }

    /** Comes before the stop. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (event.getApplicationContext() == context) {
            closing = true;
        }
    }

    @Override
    public synchronized void stop() {
        if (own != null && !closing) {
            own.stop();
        }
        running = false;
    }

    @Override
    public void destroy() {
        if (own != null) {
            own.destroy();
        }
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
