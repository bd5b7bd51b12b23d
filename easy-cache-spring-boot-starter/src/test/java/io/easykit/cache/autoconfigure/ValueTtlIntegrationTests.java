package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Each token is valid for as many seconds as its number. */
@ExtendWith(OutputCaptureExtension.class)
class ValueTtlIntegrationTests {

    private static final Path PAGE = Path.of("..", "docs", "easy-cache", "annotations.md");

    @AutoClose
    private final RawRedis redis = RedisServer.shared().connect();

    record Token(long id, Duration validFor, String text) {

        static Token of(long seconds) {
            return new Token(seconds, Duration.ofSeconds(seconds), seconds + "s");
        }

        public long millis() {
            return validFor.toMillis();
        }
    }

    static class Tokens {

        private final AtomicInteger loads = new AtomicInteger();

        public int loads() {
            return loads.get();
        }

        @Cacheable(prefix = "token", keys = "#id", ttl = "#result.validFor")
        public Token find(long id) {
            loads.incrementAndGet();
            return Token.of(id);
        }

        @Cacheable(prefix = "number", keys = "#id", ttl = "#result.millis()")
        public Optional<Token> number(long id) {
            return id == 0 ? Optional.empty() : Optional.of(Token.of(id));
        }

        @Cacheable(prefix = "large", keys = "#id", ttl = "T(java.math.BigInteger).TWO.pow(#result.id)")
        public Token large(long id) {
            return Token.of(id);
        }

        @Cacheable(prefix = "text", keys = "#id", ttl = "#result.text")
        public CompletableFuture<Token> text(long id) {
            return CompletableFuture.completedFuture(Token.of(id));
        }

        @Cacheable(prefix = "choice", keys = "#id", ttl = "#result.id > 5000 ? null : #result.millis() / 2")
        public Token choice(long id) {
            return Token.of(id);
        }

        @Cacheable(prefix = "bean", keys = "#id", ttl = "@lives.of(#result)")
        public Token byBean(long id) {
            return Token.of(id);
        }

        @Cacheable(prefix = "token", keys = "#ids", batch = true, ttl = "#result.validFor")
        public Map<Long, Token> findAll(Collection<Long> ids) {
            return ids.stream().collect(Collectors.toMap(id -> id, Token::of));
        }

        @Cacheable(prefix = "broken", keys = "#id", ttl = "#result.text.substring(1)")
        public Token broken(long id) {
            loads.incrementAndGet();
            return Token.of(id);
        }
    }

    /** A bean of the application. */
    public static class Lives {

        public Object of(Token token) {
            return token.validFor().plusSeconds(100);
        }
    }

    private void run(Consumer<Tokens> test) {
        RedisServer.shared().flush();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withBean(Tokens.class)
                .withBean("lives", Lives.class)
                .withPropertyValues(
                        "spring.data.redis.url=" + RedisServer.shared().uri(),
                        "easy-cache.command-timeout=5s",
                        "easy-cache.defaults.ttl=1h",
                        "easy-cache.defaults.ttl-jitter=0")
                .run(context -> test.accept(context.getBean(Tokens.class)));
    }

    /** Rounded up to whole minutes, so that the time that a test takes does not matter. */
    private Duration life(String key) {
        long millis = (Long) redis.command("PTTL", "ec:" + key);
        return millis < 0 ? Duration.ZERO : Duration.ofMinutes((millis + 59_999) / 60_000);
    }

    @Test
    void eachValueLivesAsLongAsItIsValid() {
        run(tokens -> {
            tokens.find(600);
            tokens.find(1_200);
            tokens.find(7_200);
            assertThat(life("token::600")).hasMinutes(10);
            assertThat(life("token::1200")).hasMinutes(20);
            assertThat(life("token::7200")).as("the ttl of the cache").hasMinutes(60);

            tokens.find(0);
            assertThat(tokens.find(0)).isEqualTo(Token.of(0));
            assertThat(tokens.loads()).as("one is not stored").isEqualTo(5);
            assertThat(tokens.find(600)).isEqualTo(Token.of(600));
            assertThat(tokens.loads()).isEqualTo(5);
        });
    }

    @Test
    void aTtlIsADurationANumberATextOrNone() {
        run(tokens -> {
            assertThat(tokens.number(600)).contains(Token.of(600));
            assertThat(tokens.number(0)).isEmpty();
            assertThat(tokens.text(600).join()).isEqualTo(Token.of(600));
            tokens.choice(1_200);
            tokens.choice(6_000);
            tokens.byBean(500);
            tokens.large(64);
            assertThat(life("large::64")).as("more than a number has").hasMinutes(60);
            assertThat(life("number::600")).hasMinutes(10);
            assertThat(life("number::0")).as("null-ttl").hasMinutes(1);
            assertThat(life("text::600")).hasMinutes(10);
            assertThat(life("choice::1200")).hasMinutes(10);
            assertThat(life("choice::6000")).hasMinutes(60);
            assertThat(life("bean::500")).hasMinutes(10);
        });
    }

    @Test
    void eachElementOfABatchHasItsOwn() {
        run(tokens -> {
            assertThat(tokens.findAll(List.of(600L, 1_200L, 0L))).hasSize(3);
            assertThat(life("token::600")).hasMinutes(10);
            assertThat(life("token::1200")).hasMinutes(20);
            assertThat(life("token::0")).isLessThanOrEqualTo(Duration.ofMinutes(3));
            tokens.find(0);
            assertThat(tokens.loads()).as("not stored").isEqualTo(1);
        });
    }

    @Test
    void anExpressionThatFailsKeepsTheValueFromBeingStored(CapturedOutput output) {
        run(tokens -> {
            assertThat(tokens.broken(7)).isEqualTo(Token.of(7));
            assertThat(tokens.broken(7)).isEqualTo(Token.of(7));
            assertThat(tokens.broken(8)).isEqualTo(Token.of(8));
            assertThat(tokens.loads()).isEqualTo(3);
        });
        assertThat(output)
                .containsOnlyOnce(
                        "The TTL of the value of broken::7 cannot be computed, so the value is returned and not"
                                + " cached: java.lang.IllegalArgumentException: its text is not a duration with a unit")
                .doesNotContain("The TTL of the value of broken::8");
    }

    @Test
    void theDocumentationHasTheExample() throws IOException {
        assertThat(Files.readString(PAGE))
                .contains(
                        "@Cacheable(prefix = \"token\", keys = \"#id\", ttl = \"#result.validFor\")\npublic Token find(long id)");
    }
}
