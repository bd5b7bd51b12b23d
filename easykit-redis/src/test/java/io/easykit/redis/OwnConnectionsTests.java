package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SimpleBeanTargetSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.util.Pool;

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

    @Test
    void warnsOfMethodsThatTheCopyDoesNotHave() {
        assertThat(warnings(new OfAnotherServer()))
                .singleElement()
                .asString()
                .startsWith(OfAnotherServer.class.getName() + " overrides createClient, getConnection.")
                .contains("put @Primary on it");
    }

    @Test
    void warnsOfThemAlsoWithJedisAndBehindAProxy() {
        JedisConnectionFactory ofAnotherPool = new JedisConnectionFactory(SERVER) {
            @Override
            protected Pool<Jedis> createRedisPool() {
                throw new UnsupportedOperationException();
            }
        };
        assertThat(warnings((RedisConnectionFactory) new ProxyFactory(ofAnotherPool).getProxy()))
                .singleElement()
                .asString()
                .startsWith(ofAnotherPool.getClass().getName() + " overrides createRedisPool.");
    }

    /** Its configuration is copied. */
    @Test
    void doesNotWarnOfASubclassThatOnlySetsItsConfiguration() {
        assertThat(warnings(new OfTheSameServer())).isEmpty();
        assertThat(warnings(new LettuceConnectionFactory(SERVER))).isEmpty();
        assertThat(warnings(new JedisConnectionFactory(SERVER))).isEmpty();
    }

    private static List<String> warnings(RedisConnectionFactory application) {
        Logger log = (Logger) LoggerFactory.getLogger(OwnConnections.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        log.addAppender(lines);
        lines.start();
        try {
            OwnConnections.of(application, TIMEOUT, "setting").destroy();
        } finally {
            log.detachAppender(lines);
        }
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    private static class OfTheSameServer extends LettuceConnectionFactory {

        OfTheSameServer() {
            super(SERVER);
        }

        @Override
        public void afterPropertiesSet() {
            setPhase(ownPhase());
            super.afterPropertiesSet();
        }

        int ownPhase() {
            return 1;
        }
    }

    private static final class OfAnotherServer extends OfTheSameServer {

        @Override
        protected AbstractRedisClient createClient() {
            return RedisClient.create("redis://other.example");
        }

        @Override
        public RedisConnection getConnection() {
            return super.getConnection();
        }

        @Override
        int ownPhase() {
            return 2;
        }
    }

    private static void assertCopied(RedisConnectionFactory application) {
        OwnConnections own = OwnConnections.of(application, TIMEOUT, "setting");
        assertThat(own.factory()).isInstanceOfSatisfying(LettuceConnectionFactory.class, copy -> {
            assertThat(copy.getHostName()).isEqualTo("redis.example");
            assertThat(DedicatedConnections.commandTimeoutOf(copy)).isEqualTo(TIMEOUT);
        });
    }
}
