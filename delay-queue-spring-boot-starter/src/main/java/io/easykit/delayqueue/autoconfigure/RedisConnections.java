package io.easykit.delayqueue.autoconfigure;

import io.easykit.redis.OwnConnections;
import java.time.Duration;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The queue's dedicated connections to the application's Redis. Not a {@code RedisConnectionFactory} bean: the
 * application would lose the one of Spring Boot.
 *
 * <p>Open from the construction of this bean to its destruction, so that beans may send in {@code @PostConstruct} and
 * {@code @PreDestroy}. Beans that depend on this one are destroyed before it. A stop without closing the context, as of
 * a cached test context, closes the connections until the next start.
 */
final class RedisConnections implements SmartLifecycle, DisposableBean, ApplicationListener<ContextClosedEvent> {

    /** Starts before, and stops after, every bean that may send. */
    static final int PHASE = Integer.MIN_VALUE / 2;

    private final OwnConnections own;
    private final ApplicationContext context;
    private volatile boolean running;
    private volatile boolean closing;

    RedisConnections(RedisConnectionFactory application, Duration commandTimeout, ApplicationContext context) {
        this.context = context;
        this.own = OwnConnections.of(application, commandTimeout, "delay-queue.command-timeout");
        own.start();
    }

    RedisConnectionFactory factory() {
        return own.factory();
    }

    @Override
    public synchronized void start() {
        own.start();
        running = true;
    }

    /** Called before the stop. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (event.getApplicationContext() == context) {
            closing = true;
        }
    }

    @Override
    public synchronized void stop() {
        if (!closing) {
            own.stop();
        }
        running = false;
    }

    @Override
    public void destroy() {
        own.destroy();
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
