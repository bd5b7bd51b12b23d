package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A Redis user with the documented permissions only. */
class PermissionsIntegrationTests {

    private static final Path DOCUMENTATION = Path.of("..", "docs", "easy-cache", "operations.md");

    private final CacheSpec<String> spec = CacheSpec.of("user", String.class);
    private final CacheKey<String> key = spec.key(1);

    @ParameterizedTest
    @ValueSource(strings = {"ec:", "shop:ec:"})
    void doesEverythingWithTheDocumentedPermissions(String keyPrefix) throws IOException {
        try (RedisServer server = RedisServer.start();
                RawRedis redis = server.connect()) {
            redis.command(documentedRule(keyPrefix).split(" "));
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(
                            AopAutoConfiguration.class,
                            DataRedisAutoConfiguration.class,
                            EasyCacheAutoConfiguration.class))
                    .withPropertyValues(
                            "spring.data.redis.url=redis://shop:secret@" + server.host() + ":" + server.port(),
                            "spring.application.name=shop",
                            "easy-cache.key-prefix=" + keyPrefix.replace("shop", "${spring.application.name}"),
                            "easy-cache.command-timeout=5s",
                            "easy-cache.require-redis-at-start=true")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        EntryStore store =
                                context.getBean(RedisConnections.class).store();
                        readAndUpdate(context.getBean(EasyCache.class));
                        callEachOperation(store, redis, keyPrefix);
                    });
            assertThat(redis.command("ACL", "LOG")).isEqualTo(List.of());
            assertThat(redis.snapshot().keySet()).isNotEmpty().allMatch(name -> name.startsWith(keyPrefix));
        }
    }

    @Test
    void sendsAndReceivesHintsWithTheDocumentedRuleForThem() throws IOException {
        try (RedisServer server = RedisServer.start();
                RawRedis redis = server.connect()) {
            redis.command(documentedRule("ec:").split(" "));
            redis.command(documentedRules().get(1).split(" "));
            new ApplicationContextRunner()
                    .withConfiguration(
                            AutoConfigurations.of(DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                    .withPropertyValues(
                            "spring.data.redis.url=redis://shop:secret@" + server.host() + ":" + server.port(),
                            "easy-cache.command-timeout=5s",
                            "easy-cache.near.hints=true")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        await().until(() -> redis.command("PUBSUB", "NUMSUB", "ec:near") instanceof List<?> reply
                                && reply.get(1).equals(1L));
                        CacheOptions near = CacheOptions.builder()
                                .nearTtl(Duration.ofSeconds(1))
                                .build();
                        EasyCache cache = context.getBean(EasyCache.class);
                        cache.invalidate(List.of(spec.withOptions(near).key(1)));
                        cache.invalidate(List.of(spec.withOptions(near).all()));
                    });
            // Two try the permission and the subscription, and one more each 10 s.
            assertThat(redis.info("commandstats").get("cmdstat_publish")).matches("calls=([4-9]|\\d{2,}),.*");
            assertThat(redis.command("ACL", "LOG")).isEqualTo(List.of());
        }
    }

    private static String documentedRule(String keyPrefix) throws IOException {
        return documentedRules().get(0).replace("ec:*", keyPrefix + "*");
    }

    private static List<String> documentedRules() throws IOException {
        try (var lines = Files.lines(DOCUMENTATION)) {
            return lines.filter(line -> line.startsWith("ACL SETUSER ")).toList();
        }
    }

    private void readAndUpdate(EasyCache cache) {
        assertThat(cache.fetch(key, () -> "Ada")).isEqualTo("Ada");
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("Ada");
        cache.update(List.of(key), () -> null);
        assertThatThrownBy(() -> cache.fetch(spec.key(2), () -> {
                    throw new IllegalStateException("no such user");
                }))
                .hasMessage("no such user");
    }

    private void callEachOperation(EntryStore store, RawRedis redis, String keyPrefix) {
        CacheKey<String> other = spec.key(3);
        LoadLease lease = leaseOf(store.fetch(other, 0));
        store.releaseLoad(other, lease);
        Envelope value = Envelope.wrap(new byte[] {1, 'v', '1'}, 0);
        assertThat(store.store(other, leaseOf(store.fetch(other, 0)), value, Duration.ofMinutes(1)))
                .isTrue();
        assertThat(store.read(other, 0).fresh()).isTrue();
        store.prepare(List.of(other), "token", Duration.ofSeconds(30));
        store.invalidate(List.of(other), "token");
        store.invalidateNow(List.of(other), "token");
        await().until(() -> store.store(other, leaseOf(store.fetch(other, 0)), value, Duration.ofMinutes(1)));
        store.removeUnreadable(other, value);
        redis.command("SET", keyPrefix + other.name(), "no hash");
        assertThat(store.read(other, 0).value()).isNull();
        assertThat(redis.command("EXISTS", keyPrefix + other.name())).isEqualTo(0L);
        Map<String, Long> raised = store.raiseEpochs(0, Map.of("user", 0L), "");
        assertThat(store.epochs(0).raised()).isEqualTo(raised);
        assertThat(store.takeWorkLease("outbox", "me", Duration.ofMinutes(1), false))
                .isZero();
        store.probe();
    }

    private static LoadLease leaseOf(Fetched fetched) {
        return ((Fetched.Leased) fetched).lease();
    }
}
