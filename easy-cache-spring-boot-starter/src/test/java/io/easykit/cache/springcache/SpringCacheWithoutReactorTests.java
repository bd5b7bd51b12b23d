package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.EasyCache;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EasyCacheSpringCacheAutoConfiguration;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Reactor is optional for an application that brings its own {@link EasyCache}. */
class SpringCacheWithoutReactorTests {

    @Test
    @SuppressWarnings("unchecked") // the program below, by another class loader
    void startsAndRunsAnnotatedMethods() throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader withoutReactor = withoutReactor()) {
            assertThatThrownBy(() -> withoutReactor.loadClass("reactor.core.publisher.Mono"))
                    .isInstanceOf(ClassNotFoundException.class);
            Thread.currentThread().setContextClassLoader(withoutReactor);
            Callable<Integer> program = (Callable<Integer>) withoutReactor
                    .loadClass(Program.class.getName())
                    .getConstructor()
                    .newInstance();
            assertThat(program.call()).isEqualTo(2);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private static URLClassLoader withoutReactor() throws IOException {
        List<URL> path = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!entry.contains("reactor") && !entry.contains("reactive-streams")) {
                path.add(url(entry));
            }
        }
        return new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static URL url(String entry) throws MalformedURLException {
        return new File(entry).toURI().toURL();
    }

    static class Numbers {

        private final AtomicInteger loads = new AtomicInteger();

        @Cacheable("number")
        public Integer next() {
            return loads.incrementAndGet();
        }

        @Cacheable("number")
        public CompletableFuture<Integer> later() {
            return CompletableFuture.completedFuture(loads.incrementAndGet());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @ImportAutoConfiguration({EasyCacheAutoConfiguration.class, EasyCacheSpringCacheAutoConfiguration.class})
    static class Application {

        @Bean
        Numbers numbers() {
            return new Numbers();
        }

        @Bean
        EasyCache easyCache() {
            return EasyCacheEngine.builder(new JacksonValueCodec()).disabled().build();
        }
    }

    /** Starts the application, and returns the second number. */
    public static final class Program implements Callable<Integer> {

        @Override
        public Integer call() {
            try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                    .properties("easy-cache.spring-cache.enabled=true", "spring.main.web-application-type=none")
                    .run()) {
                Numbers numbers = context.getBean(Numbers.class);
                numbers.next();
                return numbers.later().join();
            }
        }
    }
}
