package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** TTLs that each value decides: expressions that cannot work fail the start. */
@ExtendWith(OutputCaptureExtension.class)
class ValueTtlDeclarationTests {

    record Token(String text, Duration validFor, Instant validUntil) {}

    /** Not final, but a value that is restored has this class. */
    public static class Session {

        public Duration getIdle() {
            return Duration.ofMinutes(1);
        }
    }

    static class Valid {

        @Cacheable(prefix = "token", keys = "#id", ttl = "${token.ttl:#result.validFor}")
        public Optional<Token> find(long id) {
            return Optional.empty();
        }

        @Cacheable(prefix = "session", keys = "#id", ttl = "#result.idle")
        public Session session(long id) {
            return new Session();
        }

        @Cacheable(
                prefix = "until",
                keys = "#id",
                ttl = "T(java.time.Duration).between(T(java.time.Instant).now(), #result.validUntil)")
        public Optional<Token> until(long id) {
            return Optional.empty();
        }
    }

    @Test
    void theStartSaysThatValuesDecide(CapturedOutput output) {
        Declarations.application()
                .withPropertyValues("easy-cache.caches.token.ttl=1h")
                .withBean(Valid.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("Valid.find(long) -> ec:token::{#id} on default, AP, ttl of each value, at most 1h, worst")
                .contains("or the ttl of 1h if that node died")
                .contains("Valid.session(long) -> ec:session::{#id} on default, AP, ttl of each value, at most 10m,");
    }

    static class UnknownProperty {

        @Cacheable(prefix = "token", keys = "#id", ttl = "#result.validFour")
        public Optional<Token> find(long id) {
            return Optional.empty();
        }
    }

    static class UnknownPropertyOfClass {

        @Cacheable(prefix = "session", keys = "#id", ttl = "#result.idel")
        public Session session(long id) {
            return new Session();
        }
    }

    static class UnknownPropertyOfElement {

        @Cacheable(prefix = "token", keys = "#ids", batch = true, ttl = "#result.validFour.toMillis()")
        public Map<Long, Token> findAll(Collection<Long> ids) {
            return Map.of();
        }
    }

    @Test
    void anUnknownPropertyFailsTheStart() {
        refuses(UnknownProperty.class, "find(long)", "'#result.validFour' in ttl", "does not have", "accessor");
        refuses(UnknownPropertyOfClass.class, "session(long)", "'idel'", "does not have", "accessor");
        refuses(UnknownPropertyOfElement.class, "findAll(Collection)", "'validFour'", "does not have", "accessor");
    }

    static class NoDuration {

        @Cacheable(prefix = "token", keys = "#id", ttl = "#result.validUntil")
        public Optional<Token> find(long id) {
            return Optional.empty();
        }
    }

    static class OverParameter {

        @Cacheable(prefix = "token", keys = "#id", ttl = "#id")
        public Optional<Token> find(long id) {
            return Optional.empty();
        }
    }

    static class OverCall {

        @Cacheable(prefix = "token", keys = "#id", ttl = "#root.args[0]")
        public Optional<Token> find(long id) {
            return Optional.empty();
        }
    }

    static class Malformed {

        @Cacheable(prefix = "token", keys = "#id", ttl = "#{result.validFor}")
        public Optional<Token> find(long id) {
            return Optional.empty();
        }
    }

    @Test
    void whatIsNoTtlOfAValueFailsTheStart() {
        refuses(NoDuration.class, "'#result.validUntil' in ttl is a java.time.Instant", "Duration).between(");
        refuses(OverParameter.class, "'#id' in ttl uses #id", "value alone", "#result only");
        refuses(OverCall.class, "uses #root", "#result only");
        refuses(Malformed.class, "in ttl is not a SpEL expression", "#name");
    }
}
