package io.easykit.cache.springcache;

import io.easykit.cache.autoconfigure.EnableCacheAndDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.springframework.boot.SpringApplication;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Reads one cold key from ten threads, in a process of its own. Ends its load when all threads of both processes have come. */
final class SpringCacheNode {

    static final int THREADS = 10;
    static final String LOADS = "loads";
    static final String VALUE = "value ";
    static final String DONE = "done";

    private static final String READERS = "readers";

    private SpringCacheNode() {}

    static class Numbers {

        private final StringRedisTemplate redis;

        Numbers(StringRedisTemplate redis) {
            this.redis = redis;
        }

        @Cacheable(cacheNames = "number", sync = true)
        public Long next(String name) {
            Long load = redis.opsForValue().increment(LOADS);
            Awaitility.await().forever().until(() -> Integer.toString(2 * THREADS)
                    .equals(redis.opsForValue().get(READERS)));
            return load;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    @EnableCaching
    static class Application {

        @Bean
        Numbers numbers(StringRedisTemplate redis) {
            return new Numbers(redis);
        }
    }

    public static void main(String[] arguments) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setDefaultProperties(java.util.Map.of(
                "easy-cache.spring-cache.enabled", "true",
                "easy-cache.command-timeout", "30s",
                "easy-cache.caches.number.load-lease", "2m",
                "easy-cache.caches.number.load-wait-timeout", "2m",
                "spring.main.web-application-type", "none"));
        ExecutorService readers = Executors.newFixedThreadPool(THREADS);
        try (ConfigurableApplicationContext context = application.run(arguments)) {
            Numbers numbers = context.getBean(Numbers.class);
            StringRedisTemplate redis = context.getBean(StringRedisTemplate.class);
            List<CompletableFuture<Long>> values = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                values.add(CompletableFuture.supplyAsync(
                        () -> {
                            redis.opsForValue().increment(READERS);
                            return numbers.next("a");
                        },
                        readers));
            }
            values.forEach(value -> System.out.println(VALUE + value.join()));
            System.out.println(DONE);
        } finally {
            readers.shutdown();
        }
    }
}
