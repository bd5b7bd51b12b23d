package io.easykit.redis;

import java.time.Duration;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.Advised;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Dedicated connections of a product, made from the application's factory if that is one of Lettuce or Jedis. With any
 * other factory the application's own connections and their timeouts are used.
 */
public final class OwnConnections {

    private static final Logger log = LoggerFactory.getLogger(OwnConnections.class);

    private final RedisConnectionFactory factory;
    private final Runnable start;
    private final Runnable stop;
    private final Runnable destroy;

    private OwnConnections(RedisConnectionFactory factory, Runnable start, Runnable stop, Runnable destroy) {
        this.factory = factory;
        this.start = start;
        this.stop = stop;
        this.destroy = destroy;
    }

    /**
     * Returns connections that are not started.
     *
     * @param commandTimeout maximum time to wait for a reply, at least 1 ms
     * @param setting name of the command timeout, for the log
     */
    public static OwnConnections of(RedisConnectionFactory given, Duration commandTimeout, String setting) {
        RedisConnectionFactory application = withoutProxies(given);
        if (application instanceof LettuceConnectionFactory lettuce) {
            warnOfLostMethods(lettuce, LettuceConnectionFactory.class);
            LettuceConnectionFactory own = DedicatedConnections.copyOf(lettuce, commandTimeout);
            return new OwnConnections(own, own::start, own::stop, own::destroy);
        }
        if (application instanceof JedisConnectionFactory jedis) {
            warnOfLostMethods(jedis, JedisConnectionFactory.class);
            JedisConnectionFactory own = DedicatedJedis.copyOf(jedis, commandTimeout);
            return new OwnConnections(own, own::start, own::stop, own::destroy);
        }
        log.info(
                "Redis is used through {}, which is neither Lettuce nor Jedis. Its own timeouts apply; {} is ignored.",
                application.getClass().getName(),
                setting);
        return new OwnConnections(application, () -> {}, () -> {}, () -> {});
    }

    private static void warnOfLostMethods(RedisConnectionFactory application, Class<?> copied) {
        Set<String> lost = LostMethods.of(application, copied);
        if (!lost.isEmpty()) {
            log.warn(
                    "{} overrides {}. easykit opens connections of its own by the configuration of this factory, without"
                            + " these methods. If they choose the server or the credentials, set both by the"
                            + " configuration classes of Spring Data, or give easykit another RedisConnectionFactory:"
                            + " put @Primary on it, or name it redisConnectionFactory.",
                    application.getClass().getName(),
                    String.join(", ", lost));
        }
    }

    /** The factory behind proxies of a scope or an aspect, whose fields are empty. */
    private static RedisConnectionFactory withoutProxies(RedisConnectionFactory given) {
        Object object = given;
        try {
            while (object instanceof Advised proxy) {
                object = proxy.getTargetSource().getTarget();
            }
        } catch (Exception e) {
            throw new IllegalStateException(
                    "The bean behind the proxy " + given.getClass().getName() + " cannot be found.", e);
        }
        return object instanceof RedisConnectionFactory target ? target : given;
    }

    /** Returns the factory, which is started and stopped by this object. */
    public RedisConnectionFactory factory() {
        return factory;
    }

    /** Opens the connections, unless they are open. */
    public void start() {
        start.run();
    }

    /** Closes the connections. They can be opened again. */
    public void stop() {
        stop.run();
    }

    /** Closes the connections permanently. */
    public void destroy() {
        destroy.run();
    }
}
