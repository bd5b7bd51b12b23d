package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.easykit.cache.annotation.Cacheable;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import io.micrometer.context.ContextSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.cache.interceptor.SimpleKey;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;

class EasyCacheHintsTests {

    record Amount(long cents) {}

    record Price(Amount amount) {}

    record Query(String text) {}

    static class Part {

        private Amount hidden = new Amount(0);

        @Override
        public String toString() {
            return hidden.toString();
        }
    }

    static class Whole extends Part {}

    sealed interface Shape permits Circle {}

    record Circle(int radius) implements Shape {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes(@JsonSubTypes.Type(value = Card.class, name = "card"))
    interface Payment {}

    record Card(String number) implements Payment {}

    record Spring(String name) {}

    record Later(String name) {}

    interface Prices<T> {

        @Cacheable(prefix = "price", keys = "#query.text")
        Optional<Map<String, T>> find(Query query);
    }

    static class EuroPrices implements Prices<Price[]> {

        @Override
        public Optional<Map<String, Price[]>> find(Query query) {
            return Optional.empty();
        }

        @Cacheable(prefix = "whole", keys = "#id")
        public Whole whole(long id) {
            return new Whole();
        }

        @Cacheable(prefix = "shape", keys = "#id")
        public List<Shape> shapes(long id) {
            return List.of();
        }

        @Cacheable(prefix = "payment", keys = "#id")
        public Payment payment(long id) {
            return new Card("" + id);
        }

        @Cacheable(prefix = "later", keys = "#id")
        public CompletableFuture<Optional<Later>> later(long id) {
            return CompletableFuture.completedFuture(Optional.empty());
        }

        @org.springframework.cache.annotation.Cacheable("spring")
        public Spring spring(long id) {
            return new Spring("" + id);
        }
    }

    record Rate(String currency) {}

    @org.springframework.cache.annotation.Cacheable("rate")
    static class Rates {

        public Rate rate(String currency) {
            return new Rate(currency);
        }
    }

    record Stock(int pieces) {}

    interface StockClient {

        @Cacheable(prefix = "stock", keys = "#id")
        Stock find(long id);
    }

    /** As repositories and HTTP clients are made. */
    static class Stocks implements FactoryBean<StockClient> {

        @Override
        public StockClient getObject() {
            return id -> new Stock(1);
        }

        @Override
        public Class<?> getObjectType() {
            return StockClient.class;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class})
    static class Application {

        @Bean
        EuroPrices prices() {
            return new EuroPrices();
        }

        @Bean
        Rates rates() {
            return new Rates();
        }

        @Bean
        Stocks stocks() {
            return new Stocks();
        }
    }

    private static final RuntimeHints HINTS = hints();

    private static RuntimeHints hints() {
        AnnotationConfigApplicationContext source = new AnnotationConfigApplicationContext();
        source.register(Application.class);
        TestGenerationContext generation = new TestGenerationContext(EasyCacheHintsTests.class);
        new ApplicationContextAotGenerator().processAheadOfTime(source, generation);
        return generation.getRuntimeHints();
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Price.class,
                Amount.class,
                Query.class,
                Whole.class,
                Later.class,
                Part.class,
                Shape.class,
                Circle.class,
                Payment.class,
                Card.class,
                Spring.class,
                Rate.class,
                Stock.class
            })
    void nameAllThatAnnotatedMethodsStore(Class<?> type) {
        assertThat(reflection()
                        .onType(type)
                        .withMemberCategories(
                                MemberCategory.ACCESS_DECLARED_FIELDS,
                                MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
                                MemberCategory.INVOKE_DECLARED_METHODS))
                .accepts(HINTS);
    }

    @Test
    void nameNothingElse() {
        assertThat(reflection().onType(EuroPrices.class).withMemberCategory(MemberCategory.ACCESS_DECLARED_FIELDS))
                .rejects(HINTS);
        assertThat(reflection().onType(String.class).withMemberCategory(MemberCategory.ACCESS_DECLARED_FIELDS))
                .rejects(HINTS);
    }

    @Test
    void keepTheScriptsAndTables() throws IOException {
        List<String> files = List.of(
                "../easy-cache-core/src/main/resources/io/easykit/cache/redis",
                "src/main/resources/io/easykit/cache/jdbc");
        for (String folder : files) {
            try (Stream<Path> all = Files.list(Path.of(folder))) {
                assertThat(all).isNotEmpty().allMatch(file -> resource()
                        .forResource(folder.replaceFirst(".*/resources/", "") + "/" + file.getFileName())
                        .test(HINTS));
            }
        }
    }

    @Test
    void allowTheProxiesAndReflectionOfTheCache() {
        assertThat(proxies().forInterfaces(ClientResources.class)).accepts(HINTS);
        assertThat(reflection().onFieldAccess(LettuceConnectionFactory.class, "configuration"))
                .accepts(HINTS);
        assertThat(reflection().onFieldAccess(RedisClusterClient.class, "initialUris"))
                .accepts(HINTS);
        assertThat(reflection().onType(SimpleKey.class)).accepts(HINTS);
        assertThat(reflection().onFieldAccess(SimpleKey.class, "params")).accepts(HINTS);
        // Their presence is checked by name.
        assertThat(reflection().onType(ConnectionHolder.class)).accepts(HINTS);
        assertThat(reflection().onType(ContextSnapshot.class)).accepts(HINTS);
    }
}
