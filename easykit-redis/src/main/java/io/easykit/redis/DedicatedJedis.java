package io.easykit.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisSentinelPool;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/**
 * Copies the application's Jedis connection factory for a product's own use: the same servers, credentials and TLS,
 * with a separate pool of connections that
 * <ul>
 *   <li>fail a command that gets no reply within the command timeout, with all steps of the driver ({@link BoundedCalls});
 *   <li>are closed when a call got no reply, or reached a server that is not a master ({@link #failed}). The next call
 *       connects again: with Sentinel to the present master, otherwise to the present owner of the address.
 *   <li>are closed when they were idle for a minute or so, before a server or a firewall does it in silence.
 * </ul>
 *
 * In a cluster a call is tried twice, over two connections. Then the topology is read again.
 */
final class DedicatedJedis extends JedisConnectionFactory {

    private static final Logger log = LoggerFactory.getLogger(DedicatedJedis.class);

    /** Jedis reads the topology again after the last attempt. */
    private static final int ATTEMPTS = 2;

    /** Time after which an idle connection is closed. */
    private static final Duration IDLE = Duration.ofMinutes(1);

    private final JedisSettings client;
    private final BoundedCalls bounded;
    private volatile @Nullable Pool<Jedis> pool;

    private DedicatedJedis(RedisStandaloneConfiguration server, JedisSettings client) {
        super(server, client);
        this.client = client;
        this.bounded = new BoundedCalls(client.timeout());
    }

    private DedicatedJedis(RedisSentinelConfiguration sentinels, JedisSettings client) {
        super(sentinels, client);
        this.client = client;
        this.bounded = new BoundedCalls(client.timeout());
    }

    private DedicatedJedis(RedisClusterConfiguration cluster, JedisSettings client) {
        super(cluster, client);
        this.client = client;
        this.bounded = new BoundedCalls(client.timeout());
    }

    /**
     * Returns a factory that has not been started. The caller starts, stops and destroys it; the original is not changed.
     *
     * @param commandTimeout maximum time of a call, with the time to get a connection; at least 1 ms
     */
    public static JedisConnectionFactory copyOf(JedisConnectionFactory original, Duration commandTimeout) {
        return copyOf(original, commandTimeout, IDLE);
    }

    /** @param idle time after which an idle connection is closed */
    static JedisConnectionFactory copyOf(JedisConnectionFactory original, Duration commandTimeout, Duration idle) {
        if (commandTimeout.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "The command timeout is " + commandTimeout + ". It must be at least 1 ms.");
        }
        JedisConnectionFactory copy =
                newFactory(original, new JedisSettings(original.getClientConfiguration(), commandTimeout, idle));
        copy.setPhase(original.getPhase());
        // The client of Jedis 7 hides its pool, so its connections could not be closed after a failure.
        copy.setUseUnifiedJedis(false);
        copy.setEarlyStartup(false);
        copy.afterPropertiesSet();
        return copy;
    }

    private static JedisConnectionFactory newFactory(JedisConnectionFactory original, JedisSettings client) {
        RedisSentinelConfiguration sentinels = original.getSentinelConfiguration();
        if (sentinels != null) {
            return new DedicatedJedis(sentinels, client);
        }
        RedisClusterConfiguration cluster = original.getClusterConfiguration();
        if (cluster != null) {
            return new DedicatedJedis(withAttempts(cluster), client);
        }
        RedisStandaloneConfiguration server = original.getStandaloneConfiguration();
        return new DedicatedJedis(
                server == null ? new RedisStandaloneConfiguration(original.getHostName(), original.getPort()) : server,
                client);
    }

    private static RedisClusterConfiguration withAttempts(RedisClusterConfiguration cluster) {
        RedisClusterConfiguration copy = new RedisClusterConfiguration();
        copy.setClusterNodes(cluster.getClusterNodes());
        copy.setUsername(cluster.getUsername());
        copy.setPassword(cluster.getPassword());
        copy.setMaxRedirects(ATTEMPTS);
        return copy;
    }

    /** Makes the calls. A call over a connection of this factory itself may wait for each step of the driver. */
    BoundedCalls bounded() {
        return bounded;
    }

    @Override
    public void destroy() {
        bounded.close();
        super.destroy();
    }

    @Override
    protected Pool<Jedis> createRedisPool() {
        Pool<Jedis> created = super.createRedisPool();
        pool = created;
        return created;
    }

    @SuppressWarnings("deprecation") // Spring Data 4 still uses this class of Jedis.
    @Override
    protected Pool<Jedis> createRedisSentinelPool(RedisSentinelConfiguration sentinels) {
        NamedNode master = sentinels.getMaster();
        if (master == null || master.getName() == null) {
            throw new IllegalStateException(
                    "The sentinels need the name of the master: spring.data.redis.sentinel.master");
        }
        Pool<Jedis> created = new JedisSentinelPool(
                master.getName(),
                sentinels.getSentinels().stream().map(DedicatedJedis::address).collect(Collectors.toSet()),
                client.limits(),
                new JedisOfMaster(client.config(getDatabase(), sentinels.getUsername(), sentinels.getPassword())),
                client.config(0, sentinels.getSentinelUsername(), sentinels.getSentinelPassword()));
        pool = created;
        return created;
    }

    private static HostAndPort address(RedisNode node) {
        return new HostAndPort(node.getRequiredHost(), node.getRequiredPort());
    }

    /** Whether {@link #cut} works for connections of this factory: not in a cluster, and not for those of an application. */
    static boolean canCut(JedisConnectionFactory connections) {
        return connections instanceof DedicatedJedis && !connections.isRedisClusterAware();
    }

    /**
     * Closes the socket of a connection, which ends a call that waits in it.
     *
     * @return false if the socket is not known
     */
    static boolean cut(RedisConnection connection) {
        if (!(connection.getNativeConnection() instanceof Jedis jedis)) {
            return false;
        }
        try {
            jedis.disconnect();
        } catch (JedisConnectionException e) {
            log.debug("The socket of a connection was not closed cleanly", e);
        }
        return true;
    }

    /**
     * Removes a connection from its pool, in place of its return. {@link RedisConnection#close} sends an {@code UNSUBSCRIBE}, for
     * which a connection that was cut connects again, and would go back to the pool with the reply of that. Does nothing in a
     * cluster.
     */
    static void discard(RedisConnection connection) {
        if (connection.getNativeConnection() instanceof Jedis jedis) {
            jedis.getConnection().setBroken();
            jedis.close();
        }
    }

    /**
     * Closes the idle connections if a call failed for a reason that affects all of them. Otherwise each of them would
     * fail a call after its server was restarted or demoted.
     *
     * @param failure failure of a call over this factory
     */
    public void failed(Throwable failure) {
        Pool<Jedis> present = pool;
        if (present != null && concernsAll(failure)) {
            present.clear();
        }
    }

    private static boolean concernsAll(Throwable failure) {
        ErrorReply error = ErrorReply.of(failure);
        if (error != null) {
            return error.isMendedByAnotherServer();
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof IOException || cause instanceof JedisConnectionException) {
                return true;
            }
        }
        return false;
    }
}
