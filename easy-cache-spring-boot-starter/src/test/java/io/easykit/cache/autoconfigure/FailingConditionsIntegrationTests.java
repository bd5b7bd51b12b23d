package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.expression.spel.SpelEvaluationException;
import reactor.core.publisher.Mono;

/** Expressions over the result that fail when the method has already run. */
@ExtendWith(OutputCaptureExtension.class)
class FailingConditionsIntegrationTests {

    record Book(long id, String title) {}

    static class Books {

        private final AtomicInteger calls = new AtomicInteger();

        public int calls() {
            return calls.get();
        }

        private @Nullable Book find(long id) {
            calls.incrementAndGet();
            return id == 0 ? null : new Book(id, "Emma");
        }

        @Cacheable(prefix = "book", keys = "#id", unless = "#result.title == null")
        public @Nullable Book now(long id) {
            return find(id);
        }

        @Cacheable(prefix = "later", keys = "#id", unless = "#result.title == null")
        public CompletableFuture<@Nullable Book> later(long id) {
            return CompletableFuture.completedFuture(find(id));
        }

        @Cacheable(prefix = "mono", keys = "#id", unless = "#result.title == null")
        public Mono<Book> mono(long id) {
            return Mono.justOrEmpty(find(id));
        }

        @UpdateCache(prefix = "book", keys = "#id", condition = "#result.title == 'new'")
        public @Nullable Book update(long id) {
            return null;
        }
    }

    private void run(Consumer<Books> test) {
        RedisServer.shared().flush();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withBean(Books.class)
                .withPropertyValues(
                        "spring.data.redis.url=" + RedisServer.shared().uri(), "easy-cache.command-timeout=5s")
                .run(context -> test.accept(context.getBean(Books.class)));
    }

    @Test
    void anUnlessThatFailsKeepsTheValueOutOfTheCache(CapturedOutput output) {
        run(books -> {
            assertThat(books.now(0)).isNull();
            assertThat(books.now(0)).isNull();
            assertThat(books.later(0).join()).isNull();
            assertThat(books.mono(0).block()).isNull();
            assertThat(books.calls()).as("nothing is stored").isEqualTo(4);

            assertThat(books.now(1)).isEqualTo(books.now(1));
            assertThat(books.calls()).isEqualTo(5);
        });
        assertThat(output)
                .containsOnlyOnce("unless = '#result.title == null' of @Cacheable " + Books.class.getName()
                        + ".now(long) cannot be evaluated, so the value is returned and not cached: EL1007E")
                .contains("write #result?.name");
    }

    @Test
    void anUpdateWhoseConditionFailsInvalidates() {
        run(books -> {
            books.now(1);
            assertThatThrownBy(() -> books.update(1)).isInstanceOf(SpelEvaluationException.class);
            books.now(1);
            assertThat(books.calls()).as("it was invalidated").isEqualTo(2);
        });
    }
}
