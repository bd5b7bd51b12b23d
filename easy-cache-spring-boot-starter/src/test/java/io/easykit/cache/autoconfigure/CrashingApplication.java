package io.easykit.cache.autoconfigure;

import io.easykit.cache.annotation.UpdateCache;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
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
 * Updates names in a separate process, which is killed when each update has stopped at its point.
 *
 * <p>Each update has a thread and a name of its own. Arguments: the updates, and the settings of the application. The
 * line {@link #ALL_STOPPED} is printed when all have stopped.
 */
final class CrashingApplication {

    static final String AP = "crash-ap";
    static final String CP = "crash-cp";
    static final String SPRING = "crash-spring";
    static final String ALL_STOPPED = "all have stopped";

    private CrashingApplication() {}

    /** A point at which an update stops. */
    enum Point {
        IN_THE_METHOD,
        BEFORE_THE_COMMIT,
        AFTER_THE_COMMIT,
        AFTER_THE_UPDATE
    }

    /** One update, with easykit's annotation or with Spring's. */
    enum Update {
        EASY_IN_THE_METHOD(11, Point.IN_THE_METHOD),
        EASY_BEFORE_THE_COMMIT(12, Point.BEFORE_THE_COMMIT),
        EASY_AFTER_THE_COMMIT(13, Point.AFTER_THE_COMMIT),
        EASY_AFTER_THE_UPDATE(14, Point.AFTER_THE_UPDATE),
        SPRING_AFTER_THE_COMMIT(15, Point.AFTER_THE_COMMIT);

        private final long id;
        private final Point point;

        Update(long id, Point point) {
            this.id = id;
            this.point = point;
        }

        /** Id of the name that it changes. */
        long id() {
            return id;
        }

        /** The first argument for these updates. */
        static String argument(List<Update> updates) {
            return updates.stream().map(Update::name).collect(Collectors.joining(","));
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        List<Update> updates =
                Stream.of(arguments[0].split(",", -1)).map(Update::valueOf).toList();
        String[] settings = List.of(arguments).subList(1, arguments.length).toArray(String[]::new);
        ConfigurableApplicationContext context = new SpringApplication(Configuration.class).run(settings);
        CountDownLatch onTheWay = new CountDownLatch(updates.size());
        for (Update update : updates) {
            Stop stop = new Stop(update.point, onTheWay);
            new Thread(() -> {
                        rename(context, update, stop);
                        stop.at(Point.AFTER_THE_UPDATE);
                    })
                    .start();
        }
        onTheWay.await();
        System.out.println(ALL_STOPPED);
    }

    private static void rename(ConfigurableApplicationContext context, Update update, Stop stop) {
        if (update == Update.SPRING_AFTER_THE_COMMIT) {
            context.getBean(SpringNames.class).rename(update.id(), "new", stop);
        } else {
            context.getBean(EasyNames.class).rename(update.id(), "new", stop);
        }
    }

    private static void change(JdbcClient jdbc, long id, String name, Stop stop) {
        jdbc.sql("update name set text = ? where id = ?").params(name, id).update();
        TransactionSynchronizationManager.registerSynchronization(new StopInTransaction(stop));
        stop.at(Point.IN_THE_METHOD);
    }

    /** The end of the way of one update. */
    record Stop(Point point, CountDownLatch onTheWay) {

        /** Counts the update as stopped, and stays there. */
        void at(Point here) {
            if (here == point) {
                onTheWay.countDown();
                while (true) {
                    LockSupport.park();
                }
            }
        }
    }

    /** Scans nothing: the configurations of the starter are in this package. */
    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
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
        public void rename(long id, String name, Stop stop) {
            change(jdbc, id, name, stop);
        }
    }

    static class SpringNames {

        private final JdbcClient jdbc;

        SpringNames(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @CacheEvict(cacheNames = SPRING, key = "#id")
        @Transactional
        public void rename(long id, String name, Stop stop) {
            change(jdbc, id, name, stop);
        }
    }

    /** Called last before the commit, and first after it. */
    private record StopInTransaction(Stop stop) implements TransactionSynchronization {

        @Override
        public int getOrder() {
            return Ordered.LOWEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            stop.at(Point.BEFORE_THE_COMMIT);
        }

        @Override
        public void afterCommit() {
            stop.at(Point.AFTER_THE_COMMIT);
        }
    }
}
