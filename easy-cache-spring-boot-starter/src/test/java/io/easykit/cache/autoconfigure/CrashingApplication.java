package io.easykit.cache.autoconfigure;

import io.easykit.cache.annotation.UpdateCache;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Updates a name in a separate process and stops at one point of the update, to be killed there.
 *
 * <p>Arguments: the annotation to use ({@code easy} or {@code spring}), the point, and the settings of the application.
 */
final class CrashingApplication {

    static final String AP = "crash-ap";
    static final String CP = "crash-cp";
    static final String SPRING = "crash-spring";

    private CrashingApplication() {}

    /** The point at which the process stops. */
    enum Point {
        IN_THE_METHOD,
        BEFORE_THE_COMMIT,
        AFTER_THE_COMMIT,
        AFTER_THE_UPDATE
    }

    public static void main(String[] arguments) {
        Point point = Point.valueOf(arguments[1]);
        try (ConfigurableApplicationContext context =
                new SpringApplication(Configuration.class).run(settings(arguments))) {
            if (arguments[0].equals("easy")) {
                context.getBean(EasyNames.class).rename(1, "new", point);
            } else {
                context.getBean(SpringNames.class).rename(1, "new", point);
            }
            stopAt(Point.AFTER_THE_UPDATE, point);
        }
    }

    private static String[] settings(String[] arguments) {
        String[] settings = new String[arguments.length - 2];
        System.arraycopy(arguments, 2, settings, 0, settings.length);
        return settings;
    }

    private static void change(JdbcClient jdbc, long id, String name, Point point) {
        jdbc.sql("update name set text = ? where id = ?").params(name, id).update();
        TransactionSynchronizationManager.registerSynchronization(new StopInTransaction(point));
        stopAt(Point.IN_THE_METHOD, point);
    }

    /** Prints its position, and stays there. */
    private static void stopAt(Point here, Point wanted) {
        if (here == wanted) {
            System.out.println("stopped " + here);
            while (true) {
                try {
                    Thread.currentThread().join(Duration.ofMinutes(1).toMillis());
                } catch (InterruptedException again) {
                    Thread.interrupted();
                }
            }
        }
    }

    @SpringBootApplication(proxyBeanMethods = false)
    @EnableCaching
    static class Configuration {

        @Bean
        EasyNames easyNames(JdbcClient jdbc) {
            return new EasyNames(jdbc);
        }

        @Bean
        SpringNames springNames(JdbcClient jdbc) {
            return new SpringNames(jdbc);
        }

        @Bean
        RedisCacheManager springCaches(RedisConnectionFactory factory) {
            return RedisCacheManager.create(factory);
        }
    }

    static class EasyNames {

        private final JdbcClient jdbc;

        EasyNames(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @UpdateCache(prefix = AP, keys = "#id")
        @UpdateCache(prefix = CP, keys = "#id")
        @Transactional
        public void rename(long id, String name, Point point) {
            change(jdbc, id, name, point);
        }
    }

    static class SpringNames {

        private final JdbcClient jdbc;

        SpringNames(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @CacheEvict(cacheNames = SPRING, key = "#id")
        @Transactional
        public void rename(long id, String name, Point point) {
            change(jdbc, id, name, point);
        }
    }

    /** Called last before the commit, and first after it. */
    private record StopInTransaction(Point point) implements TransactionSynchronization {

        @Override
        public int getOrder() {
            return Ordered.LOWEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            stopAt(Point.BEFORE_THE_COMMIT, point);
        }

        @Override
        public void afterCommit() {
            stopAt(Point.AFTER_THE_COMMIT, point);
        }
    }
}
