package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.autoconfigure.CrashingApplication.Point;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;

/** After a crash in the middle of an update, nothing stale remains for longer than the lease. */
class CrashIntegrationTests {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final CacheOptions OPTIONS =
            CacheOptions.builder().updateLease(LEASE).build();
    private static final CacheKey<String> AP = CacheSpec.of(CrashingApplication.AP, String.class)
            .withOptions(OPTIONS)
            .key(1);
    private static final CacheKey<String> CP = CacheSpec.of(CrashingApplication.CP, String.class)
            .withOptions(OPTIONS.toBuilder().consistency(Consistency.CP).build())
            .key(1);

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
    void cacheTheOldName() {
        redis.flush();
        cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(factory, PATIENCE))
                .build();
        JdbcClient jdbc = database();
        jdbc.sql("create table name (id bigint primary key, text varchar(20))").update();
        jdbc.sql("insert into name values (1, 'old')").update();
        cache.fetch(AP, this::loadName);
        cache.fetch(CP, this::loadName);
        springCaches.getCache(CrashingApplication.SPRING).put(1L, loadName());
    }

    @AfterEach
    void stop() {
        cache.stop();
    }

    @ParameterizedTest
    @EnumSource(Point.class)
    void killLeavesNothingOldBeyondTheLease(Point point) {
        kill("easy", point);
        String now = loadName();
        assertThat(now).isEqualTo(point.compareTo(Point.AFTER_THE_COMMIT) < 0 ? "old" : "new");
        assertThat(cache.fetch(CP, this::loadName)).as("CP, at once").isEqualTo(now);
        await().atMost(LEASE.plus(PATIENCE)).until(() -> isAtRest(AP) && isAtRest(CP));
        assertThat(cache.fetch(AP, this::loadName)).as("AP, after the lease").isEqualTo(now);
        assertThat(cache.fetch(CP, this::loadName)).as("CP, after the lease").isEqualTo(now);
    }

    @RepeatedTest(25)
    @Tag("heavy")
    void neitherDoManyKillsBetweenCommitAndInvalidation() {
        killLeavesNothingOldBeyondTheLease(Point.AFTER_THE_COMMIT);
    }

    /** For comparison: the same crash with Spring's annotation. */
    @Test
    void springsEvictionNeverComesWhenTheKillIsBetweenCommitAndEviction() {
        kill("spring", Point.AFTER_THE_COMMIT);
        assertThat(loadName()).isEqualTo("new");
        assertThat(springCaches.getCache(CrashingApplication.SPRING).get(1L, String.class))
                .isEqualTo("old");
    }

    /** Reads until the marks of the crashed update are gone: a value is stored again, with no other field. */
    private boolean isAtRest(CacheKey<String> key) {
        cache.fetch(key, this::loadName);
        try (var raw = redis.connect()) {
            return Long.valueOf(1).equals(raw.command("HLEN", "ec:" + key.name()))
                    && Long.valueOf(1)
                            .equals(raw.command(
                                    "HEXISTS",
                                    "ec:" + key.name(),
                                    "v" + key.spec().fingerprint()));
        }
    }

    private void kill(String updater, Point point) {
        try (ChildJvm child = ChildJvm.start(
                CrashingApplication.class,
                updater,
                point.name(),
                "--spring.datasource.url=" + url(),
                "--spring.data.redis.host=" + redis.host(),
                "--spring.data.redis.port=" + redis.port(),
                "--spring.main.web-application-type=none",
                "--easy-cache.command-timeout=" + PATIENCE.toSeconds() + "s",
                "--easy-cache.external-prefixes=" + CrashingApplication.AP + "," + CrashingApplication.CP,
                "--easy-cache.caches." + CrashingApplication.AP + ".update-lease=" + LEASE.toSeconds() + "s",
                "--easy-cache.caches." + CrashingApplication.CP + ".consistency=CP",
                "--easy-cache.caches." + CrashingApplication.CP + ".update-lease=" + LEASE.toSeconds() + "s")) {
            child.awaitLine(("stopped " + point)::equals, PATIENCE);
            child.kill();
        }
    }

    private String loadName() {
        return database()
                .sql("select text from name where id = 1")
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
