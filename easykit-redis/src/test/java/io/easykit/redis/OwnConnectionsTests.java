package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SimpleBeanTargetSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Proxies of the application's factory, as of a refresh scope or an aspect. */
class OwnConnectionsTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);
    private static final RedisStandaloneConfiguration SERVER = new RedisStandaloneConfiguration("redis.example", 7000);

    @Test
    void copiesTheFactoryBehindAClassProxy() {
        ProxyFactory proxy = new ProxyFactory(new LettuceConnectionFactory(SERVER));
        proxy.setProxyTargetClass(true);
        assertCopied((RedisConnectionFactory) proxy.getProxy());
    }

    @Test
    void copiesTheFactoryBehindAnInterfaceProxy() {
        assertCopied((RedisConnectionFactory) new ProxyFactory(new LettuceConnectionFactory(SERVER)).getProxy());
    }

    @Test
    void copiesTheFactoryBehindAScopedProxyAndAnAspect() {
        StaticListableBeanFactory beans = new StaticListableBeanFactory();
        beans.addBean("scopedTarget.redis", new LettuceConnectionFactory(SERVER));
        SimpleBeanTargetSource scope = new SimpleBeanTargetSource();
        scope.setTargetBeanName("scopedTarget.redis");
        scope.setTargetClass(LettuceConnectionFactory.class);
        scope.setBeanFactory(beans);
        ProxyFactory scoped = new ProxyFactory();
        scoped.setTargetSource(scope);
        scoped.setProxyTargetClass(true);

        assertCopied((RedisConnectionFactory) new ProxyFactory(scoped.getProxy()).getProxy());
    }

    @Test
    void copiesTheFactoryOfJedisBehindAProxy() {
        ProxyFactory proxy = new ProxyFactory(new JedisConnectionFactory(SERVER));
        proxy.setProxyTargetClass(true);
        OwnConnections own = OwnConnections.of((RedisConnectionFactory) proxy.getProxy(), TIMEOUT, "setting");
        assertThat(own.factory()).isInstanceOfSatisfying(DedicatedJedis.class, copy -> assertThat(copy.getHostName())
                .isEqualTo("redis.example"));
    }

    private static void assertCopied(RedisConnectionFactory application) {
        OwnConnections own = OwnConnections.of(application, TIMEOUT, "setting");
        assertThat(own.factory()).isInstanceOfSatisfying(LettuceConnectionFactory.class, copy -> {
            assertThat(copy.getHostName()).isEqualTo("redis.example");
            assertThat(DedicatedConnections.commandTimeoutOf(copy)).isEqualTo(TIMEOUT);
        });
    }
}
