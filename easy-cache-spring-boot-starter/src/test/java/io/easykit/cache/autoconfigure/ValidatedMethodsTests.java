package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Positive;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.validation.annotation.Validated;

/** Validation joins the proxy of cached methods, whichever auto-configuration is first. Redis is away: the local level caches. */
@ExtendWith(OutputCaptureExtension.class)
class ValidatedMethodsTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    ValidationAutoConfiguration.class))
            .withBean(Titles.class)
            .withPropertyValues("spring.data.redis.port=1", "easy-cache.circuit-breaker.probe-interval=10ms");

    @Test
    void areCachedAndValidated(CapturedOutput output) {
        runner.run(context -> {
            Titles titles = context.getBean(Titles.class);
            EasyCache cache = context.getBean(EasyCache.class);
            await().until(() -> Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER))
                            .state()
                    == State.UNAVAILABLE);

            assertThat(titles.of(1)).isEqualTo("title 1");
            assertThat(titles.of(1)).isEqualTo("title 1");
            assertThatThrownBy(() -> titles.of(-1)).isInstanceOf(ConstraintViolationException.class);
            assertThatThrownBy(() -> titles.change(-1)).isInstanceOf(ConstraintViolationException.class);
            titles.change(1);
            assertThat(titles.of(1)).isEqualTo("title 2");
        });
        assertThat(output).doesNotContain("not intercepted");
    }

    @Test
    void storeNoValueThatIsInvalid() {
        runner.run(context -> {
            Titles titles = context.getBean(Titles.class);

            Titles.next = " ";
            assertThatThrownBy(() -> titles.named(1)).isInstanceOf(ConstraintViolationException.class);
            Titles.next = "Emma";
            assertThat(titles.named(1)).isEqualTo("Emma");
        });
    }

    @Validated
    static class Titles {

        private static final AtomicInteger LOADS = new AtomicInteger();

        private static @Nullable String next;

        @Cacheable(prefix = "title", keys = "#id")
        public String of(@Positive int id) {
            return "title " + LOADS.incrementAndGet();
        }

        @UpdateCache(prefix = "title", keys = "#id")
        public void change(@Positive int id) {}

        @Cacheable(prefix = "name", keys = "#id")
        public @NotBlank @Nullable String named(int id) {
            return next;
        }
    }
}
