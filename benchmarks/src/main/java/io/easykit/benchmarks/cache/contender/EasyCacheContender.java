package io.easykit.benchmarks.cache.contender;

import io.easykit.cache.EasyCache;
import io.easykit.cache.Transactions;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** easy-cache's {@code @Cacheable} in a Spring Boot application. */
final class EasyCacheContender {

    private EasyCacheContender() {}

    /** The configuration of a user. */
    static Contender open(Setup setup) {
        return open(setup, Duration.ZERO);
    }

    static Contender openNear(Setup setup) {
        return open(setup, Duration.ofSeconds(1));
    }

    private static Contender open(Setup setup, Duration nearTtl) {
        ConfigurableApplicationContext context = run(
                beans -> beans.registerBean(Cached.class, () -> new Cached(setup.database())),
                "--spring.data.redis.host=" + setup.host(),
                "--spring.data.redis.port=" + setup.port(),
                "--easy-cache.defaults.near-ttl=" + nearTtl.toMillis() + "ms",
                "--easy-cache.defaults.load-lease=" + setup.loadLease().toMillis() + "ms");
        return Contender.of(context.getBean(Cached.class), context::close);
    }

    /** With a manually built cache. */
    static Contender over(Function<Transactions, EasyCache> cache, Products database, String... settings) {
        ConfigurableApplicationContext context = runOver(cache, database, settings);
        return Contender.of(context.getBean(Cached.class), context::close);
    }

    /** The same with a list as cached value, which a caller could change. */
    static Contender listsOver(Function<Transactions, EasyCache> cache, Products database) {
        ConfigurableApplicationContext context = runOver(cache, database);
        Cached cached = context.getBean(Cached.class);
        return Contender.of(id -> cached.products(id).get(0), context::close);
    }

    private static ConfigurableApplicationContext runOver(
            Function<Transactions, EasyCache> cache, Products database, String... settings) {
        return run(
                beans -> {
                    beans.registerBean(EasyCache.class, () -> cache.apply(beans.getBean(Transactions.class)));
                    beans.registerBean(Cached.class, () -> new Cached(database));
                },
                settings);
    }

    private static ConfigurableApplicationContext run(Consumer<GenericApplicationContext> beans, String... settings) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false)
                .initializers(empty -> beans.accept((GenericApplicationContext) empty))
                .run(settings);
    }

    @Configuration
    @EnableAutoConfiguration(exclude = DelayQueueAutoConfiguration.class)
    static class Application {}

    static class Cached implements Products {
        private final Products database;

        Cached(Products database) {
            this.database = database;
        }

        @Override
        @Cacheable(prefix = "product", keys = "#id")
        public Product product(long id) {
            return database.product(id);
        }

        @Cacheable(prefix = "products", keys = "#id")
        public List<Product> products(long id) {
            return List.of(database.product(id));
        }
    }
}
