package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.util.AopTestUtils;

/** A load that an update has overtaken is repeated for a CP reader. The method may have changed its arguments before. */
class RepeatedLoadIntegrationTests {

    /** An argument that cannot be copied. */
    static final class Query {

        private String text;

        Query(String text) {
            this.text = text;
        }

        public String getText() {
            return text;
        }
    }

    static class Search {

        private final List<String> loads = new ArrayList<>();
        private Runnable meanwhile = () -> {};

        @Cacheable(prefix = "repeated-query", keys = "#query.text", consistency = Consistency.CP)
        public String byQuery(Query query) {
            String found = load(query.text);
            query.text += "!";
            return found;
        }

        @Cacheable(prefix = "repeated-words", keys = "#words", consistency = Consistency.CP)
        public String byWords(List<String> words) {
            String found = load(String.join(" ", words));
            words.add("!");
            return found;
        }

        @Cacheable(prefix = "repeated-batch", keys = "#texts", batch = true, consistency = Consistency.CP)
        public Map<String, String> byAll(List<String> texts) {
            load(String.join(" ", texts));
            Map<String, String> found = new HashMap<>();
            texts.forEach(text -> found.put(text, "found by " + text));
            texts.clear();
            return found;
        }

        private String load(String text) {
            loads.add(text);
            Runnable once = meanwhile;
            meanwhile = () -> {};
            once.run();
            return "found by " + text;
        }

        @UpdateCache(prefix = "repeated-query", keys = "#text")
        @UpdateCache(prefix = "repeated-words", keys = "#words")
        @UpdateCache(prefix = "repeated-batch", keys = "#text")
        public void update(String text, List<String> words) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    static class Application {

        @Bean
        Search search() {
            return new Search();
        }
    }

    private static ConfigurableApplicationContext context;

    private final Search search = context.getBean(Search.class);
    private final Search target = AopTestUtils.getTargetObject(search);

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        context = new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=10s",
                        "spring.main.web-application-type=none")
                .run();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void updateDuringTheFirstLoad() {
        RedisServer.shared().flush();
        target.loads.clear();
        target.meanwhile = () -> CompletableFuture.runAsync(() -> search.update("a", List.of("a", "b")))
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
    }

    @Test
    void aRepetitionGetsTheArgumentsBeforeTheFirstLoad() {
        assertThat(search.byWords(new ArrayList<>(List.of("a", "b")))).isEqualTo("found by a b");
        assertThat(target.loads).containsExactly("a b", "a b");
        assertThat(search.byWords(new ArrayList<>(List.of("a", "b")))).isEqualTo("found by a b");
        assertThat(target.loads).as("the second read is a hit").hasSize(2);
    }

    @Test
    void aRepetitionOfABatchGetsTheElementsThatTheUpdateHasOvertaken() {
        Map<String, String> found = Map.of("a", "found by a", "b", "found by b");
        assertThat(search.byAll(List.of("a", "b"))).isEqualTo(found);
        assertThat(target.loads).containsExactly("a b", "a");
        assertThat(search.byAll(List.of("a", "b"))).isEqualTo(found);
        assertThat(target.loads).as("the second read has hits").hasSize(2);
    }

    @Test
    void nothingIsRepeatedIfTheKeyHasChangedAndTheArgumentsCannotBeCopied() {
        assertThat(search.byQuery(new Query("a"))).isEqualTo("found by a");
        assertThat(target.loads).containsExactly("a");
        assertThat(search.byQuery(new Query("a"))).isEqualTo("found by a");
    }
}
