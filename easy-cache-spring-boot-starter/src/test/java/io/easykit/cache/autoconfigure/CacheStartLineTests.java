package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.autoconfigure.Declarations.User;
import io.easykit.cache.autoconfigure.Declarations.Valid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;

/** The lines that an application logs about its caches at the start. */
@ExtendWith(OutputCaptureExtension.class)
class CacheStartLineTests {

    private final ApplicationContextRunner runner = Declarations.application();

    @Test
    void saysOnceWhatIsCachedAndHowOldItCanBe(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.caches.stock.update-lease=1m")
                .withBean(Valid.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("Declarations.Valid.find(long) -> ec:user::{#id} on default, AP, ttl 10m,"
                        + " worst staleness 1500ms while every node reaches Redis (30s after a crash of an"
                        + " updater, +5s while Redis is away; after an update on a node without Redis:"
                        + " until that node reaches it again, or the ttl of 10m if it dies before; after"
                        + " a fail-over of Redis that lost the update: until its node has repeated it,"
                        + " or the ttl of 10m if that node died); without a transaction around the"
                        + " method, keys over #result are invalidated when it returns, or after the ttl"
                        + " of 10m if the node dies between commit and return")
                .containsOnlyOnce("Valid.stock(String, String) -> ec:stock::{#shop}:{#sku} on default, CP, ttl 90s,"
                        + " never stale (not stored for 1m after a crash of an updater), except after a"
                        + " fail-over of Redis that lost the update: until its node has repeated it, or"
                        + " the ttl of 90s if that node died");
    }

    @Test
    void saysThatACacheIsSerial(CapturedOutput output) {
        runner.withPropertyValues(
                        "easy-cache.caches.user.serial=true",
                        "easy-cache.caches.user.serial-wait=5s",
                        "easy-cache.defaults.serial-queue=50")
                .withBean(Users.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("; reads and updates of one key run in order of arrival in this JVM (turn within 5s,"
                        + " at most 50 waiting)");
    }

    static class Users {

        @Cacheable(prefix = "user", keys = "#userId")
        public User getUserById(Long userId) {
            return new User(userId, "Ada");
        }
    }

    @Test
    void saysWhatTheDocumentationPrints(CapturedOutput output) throws IOException {
        String printed = Files.readAllLines(Path.of("..", "docs", "easy-cache", "consistency.md")).stream()
                .filter(line -> line.startsWith("easy-cache: UserService."))
                .findFirst()
                .orElseThrow();
        runner.withBean(Users.class).run(context -> assertThat(context).hasNotFailed());
        assertThat(output).containsOnlyOnce(printed.replace("easy-cache: UserService.", "CacheStartLineTests.Users."));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    easy-cache.caches.user.near-ttl=2s      | worst staleness 2s while every node reaches Redis (near-ttl 2s; 30s after a crash of an updater, +5s while Redis is away; after an update on a node without Redis: until that node reaches it again, or the ttl of 10m if it dies before, plus the near-ttl of 2s; after a fail-over of Redis that lost the update: until its node has repeated it, or the ttl of 10m if that node died, plus the near-ttl of 2s)
                    easy-cache.caches.user.stale-on-error=1h | or the ttl of 10m if that node died, plus the stale-on-error of 1h while its loads fail)
                    easy-cache.caches.user.stale-on-error=2h | ; an expired value, never an invalidated one, for 2h more if its load fails
                    easy-cache.outbox=jdbc                  | +5s while Redis is away; after an update on a node without Redis: 2500ms through the outbox; after a fail-over of Redis
                    easy-cache.degraded.ap-updates=refuse   | +5s while Redis is away; updates on a node without Redis are refused; after a fail-over of Redis
                    easy-cache.degraded.cp-updates=proceed  | of 90s if that node died, and after an update on a node without Redis: until that node reaches it again, or the ttl of 90s if it dies before
                    """)
    void saysHowOldAValueCanBeAfterAnUpdateWithoutRedis(String setting, String line, CapturedOutput output) {
        runner.withPropertyValues(setting).withBean(Valid.class).run(context -> assertThat(context)
                .hasNotFailed());
        assertThat(output).contains(line);
    }

    @Test
    void warnsOfSettingsThatNoMethodUses(CapturedOutput output) {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("usr", Map.of("easy-cache.caches[usr:v2].ttl", "1m"))))
                .withBean(Valid.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).contains("settings for 'usr:v2', but no @Cacheable or @UpdateCache has that prefix");
    }
}
