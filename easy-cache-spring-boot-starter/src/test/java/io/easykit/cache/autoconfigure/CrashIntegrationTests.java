package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.autoconfigure.CrashingApplication.Update;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;

/** After a crash in the middle of an update, nothing stale remains for longer than the lease. */
class CrashIntegrationTests {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final CacheOptions OPTIONS =
            CacheOptions.builder().updateLease(LEASE).build();
    private static final CacheSpec<String> AP =
            CacheSpec.of(CrashingApplication.AP, String.class).withOptions(OPTIONS);
    private static final CacheSpec<String> CP = CacheSpec.of(CrashingApplication.CP, String.class)
            .withOptions(OPTIONS.toBuilder().consistency(Consistency.CP).build());

    private static RedisServer redis;
    private static LettuceConnectionFactory factory;
    private static RedisCacheManager springCaches;

    @TempDir
    Path directory;

    private EasyCacheEngine cache;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start();
        factory = new LettuceConnectionFactory(redis.host(), redis.port());
        factory.afterPropertiesSet();
        factory.start();
        springCaches = RedisCacheManager.create(factory);
    }

    @AfterAll
    static void stopRedis() {
        factory.destroy();
        redis.close();
    }

    @BeforeEach
    void cacheTheOldNames() {
        redis.flush();
        cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(factory, PATIENCE))
                .build();
        JdbcClient jdbc = database();
        jdbc.sql("create table name (id bigint primary key, text varchar(20))").update();
        for (Update update : Update.values()) {
            jdbc.sql("insert into name values (?, 'old')").param(update.id()).update();
            fetch(AP, update);
            fetch(CP, update);
            springCaches.getCache(CrashingApplication.SPRING).put(update.id(), loadName(update));
        }
    }

    @AfterEach
    void stop() {
        cache.stop();
    }

    @Test
    void killLeavesNothingOldBeyondTheLeaseWhereSpringsEvictionNeverComes() {
        kill(List.of(Update.values()));

        assertNothingOldRemains(Map.of(
                Update.EASY_IN_THE_METHOD, "old",
                Update.EASY_BEFORE_THE_COMMIT, "old",
                Update.EASY_AFTER_THE_COMMIT, "new",
                Update.EASY_AFTER_THE_UPDATE, "new"));
        // For comparison: the same crash with Spring's annotation.
        assertThat(loadName(Update.SPRING_AFTER_THE_COMMIT)).isEqualTo("new");
        assertThat(springCaches
                        .getCache(CrashingApplication.SPRING)
                        .get(Update.SPRING_AFTER_THE_COMMIT.id(), String.class))
                .isEqualTo("old");
    }

    @RepeatedTest(25)
    @Tag("heavy")
    void neitherDoManyKillsBetweenCommitAndInvalidation() {
        kill(List.of(Update.EASY_AFTER_THE_COMMIT));
        assertNothingOldRemains(Map.of(Update.EASY_AFTER_THE_COMMIT, "new"));
    }

    /** @param names the names in the database after the kill */
    private void assertNothingOldRemains(Map<Update, String> names) {
        names.forEach((update, now) -> {
            assertThat(loadName(update)).as("%s, database", update).isEqualTo(now);
            assertThat(fetch(CP, update)).as("%s, CP, at once", update).isEqualTo(now);
        });
        await().atMost(LEASE.plus(PATIENCE))
                .until(() -> names.keySet().stream().allMatch(update -> isAtRest(AP, update) && isAtRest(CP, update)));
        names.forEach((update, now) -> {
            assertThat(fetch(AP, update)).as("%s, AP, after the lease", update).isEqualTo(now);
            assertThat(fetch(CP, update)).as("%s, CP, after the lease", update).isEqualTo(now);
        });
    }

    private String fetch(CacheSpec<String> spec, Update update) {
        return cache.fetch(spec.key(update.id()), () -> loadName(update));
    }

    /** Reads until the marks of the crashed update are gone: a value is stored again, with no other field. */
    private boolean isAtRest(CacheSpec<String> spec, Update update) {
        fetch(spec, update);
        String key = "ec:" + spec.key(update.id()).name();
        try (var raw = redis.connect()) {
            return Long.valueOf(1).equals(raw.command("HLEN", key))
                    && Long.valueOf(1).equals(raw.command("HEXISTS", key, "v" + spec.fingerprint()));
        }
    }

    private void kill(List<Update> updates) {
        try (ChildJvm child = ChildJvm.start(
                CrashingApplication.class,
                Update.argument(updates),
                "--spring.datasource.url=" + url(),
                "--spring.data.redis.host=" + redis.host(),
                "--spring.data.redis.port=" + redis.port(),
                "--spring.main.web-application-type=none",
                "--easy-cache.command-timeout=" + PATIENCE.toSeconds() + "s",
                "--easy-cache.external-prefixes=" + CrashingApplication.AP + "," + CrashingApplication.CP,
                "--easy-cache.caches." + CrashingApplication.AP + ".update-lease=" + LEASE.toSeconds() + "s",
                "--easy-cache.caches." + CrashingApplication.CP + ".consistency=CP",
                "--easy-cache.caches." + CrashingApplication.CP + ".update-lease=" + LEASE.toSeconds() + "s")) {
            child.awaitLine(CrashingApplication.ALL_STOPPED::equals, ChildJvm.START);
            child.kill();
        }
    }

    private String loadName(Update update) {
        return database()
                .sql("select text from name where id = ?")
                .param(update.id())
                .query(String.class)
                .single();
    }

    /** Opened and closed each time, because only one process at a time can open the file. */
    private JdbcClient database() {
        JdbcDataSource source = new JdbcDataSource();
        source.setUrl(url());
        return JdbcClient.create(source);
    }

    private String url() {
        return "jdbc:h2:file:" + directory.resolve("names") + ";WRITE_DELAY=0";
    }
}
