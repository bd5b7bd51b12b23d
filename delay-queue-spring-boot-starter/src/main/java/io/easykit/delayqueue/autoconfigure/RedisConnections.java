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

    /** Comes before the stop. */
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
