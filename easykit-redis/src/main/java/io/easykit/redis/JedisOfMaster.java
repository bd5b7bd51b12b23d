package io.easykit.redis;

import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisFactory;

/**
 * Makes connections that know the address of their own server, for a pool that follows sentinels. The pool compares the address of
 * a connection with that of the present master before each use. With the factory of Jedis all connections share one address, so
 * one that was in use while another master was elected would stay on the former master. That one acknowledges writes until the
 * sentinels demote it, and loses them then.
 */
@SuppressWarnings("deprecation") // Spring Data 4 still uses this class of Jedis.
final class JedisOfMaster extends JedisFactory {

    private final DefaultJedisSocketFactory present;
    private final JedisClientConfig config;

    JedisOfMaster(JedisClientConfig config) {
        this(new DefaultJedisSocketFactory(config), config);
    }

    /** @param present has the address of the present master, which the pool changes */
    private JedisOfMaster(DefaultJedisSocketFactory present, JedisClientConfig config) {
        super(present, config);
        this.present = present;
        this.config = config;
    }

    @Override
    public PooledObject<Jedis> makeObject() {
        DefaultJedisSocketFactory own = new DefaultJedisSocketFactory(present.getHostAndPort(), config);
        return new DefaultPooledObject<>(new Jedis(own, config));
    }
}
