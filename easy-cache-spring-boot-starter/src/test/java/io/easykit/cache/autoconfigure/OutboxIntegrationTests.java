package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.CrashingApplication.Update;
import io.easykit.cache.store.Outbox;
import io.easykit.test.ChildJvm;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Applications on one database and one Redis: {@code a} is cut off from Redis, {@code b} and {@code c} are not.
 *
 * <p>The stale window is a minute, and so are the other two limits. A value that is fresh earlier was invalidated
 * through the outbox.
 */
class OutboxIntegrationTests {

    private static final String DATABASE = "outbox";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Part of the query of each round; a round without messages has no other query. */
    private static final String IDLE_QUERY = "due_at <= current_timestamp(3) order by due_at";

    private static final AtomicInteger STATEMENTS = new AtomicInteger();

    private static Server h2;
    private static RedisServer redis;
    private static TcpProxy proxyOfA;
    private static TcpProxy proxyOfOthers;
    private static JdbcClient jdbc;
    private static ConfigurableApplicationContext a;
    private static ConfigurableApplicationContext b;
    private static ConfigurableApplicationContext c;

    private final Names cutOff = a.getBean(Names.class);
    private final Names names = b.getBean(Names.class);

    static class Names {

        private final JdbcClient jdbc;

        Names(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Cacheable(prefix = CrashingApplication.AP, keys = "#id")
        public String find(long id) {
            return jdbc.sql("select text from name where id = ?")
                    .param(id)
                    .query(String.class)
                    .single();
        }

        @UpdateCache(prefix = CrashingApplication.AP, keys = "#id")
        @Transactional
        public void rename(long id, String text, boolean succeed) {
            renameWithoutTransaction(id, text);
            if (!succeed) {
                throw new IllegalStateException("rolled back");
            }
        }

        @UpdateCache(prefix = CrashingApplication.AP, keys = "#id")
        public void renameWithoutTransaction(long id, String text) {
            jdbc.sql("update name set text = ? where id = ?").params(text, id).update();
        }

        @UpdateCache(prefix = CrashingApplication.AP, keys = "#id")
        @Transactional("other")
        public void changeInAnotherDatabase(long id) {}

        @UpdateCache(prefix = CrashingApplication.AP, keys = "#id")
        @Transactional
        public void rollBackAround(long id, Runnable work) {
            work.run();
            throw new IllegalStateException("rolled back");
        }

        @UpdateCache(prefix = CrashingApplication.AP, keys = "#result")
        public long renameById(long id, String text) {
            renameWithoutTransaction(id, text);
            return id;
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    static class Application {

        @Bean
        Names names(JdbcClient jdbc) {
            return new Names(jdbc);
        }

        @Bean
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            return new DataSourceTransactionManager(dataSource);
        }

        @Bean(defaultCandidate = false)
        PlatformTransactionManager other() {
            JdbcDataSource database = new JdbcDataSource();
            database.setUrl("jdbc:h2:mem:outbox-other");
            return new DataSourceTransactionManager(database);
        }

        @Bean
        DataSource dataSource() {
            JdbcDataSource source = new JdbcDataSource();
            source.setUrl(url());
            return new DelegatingDataSource(source) {
                @Override
                public Connection getConnection() throws SQLException {
                    return CountingConnections.of(super.getConnection(), IDLE_QUERY, STATEMENTS);
                }
            };
        }
    }

    @BeforeAll
    static void start() throws SQLException {
        h2 = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        redis = RedisServer.start();
        proxyOfA = TcpProxy.to(redis);
        proxyOfOthers = TcpProxy.to(redis);
        JdbcDataSource source = new JdbcDataSource();
        source.setUrl(url());
        jdbc = JdbcClient.create(source);
        jdbc.sql("create table name (id bigint primary key, text varchar(20))").update();
        jdbc.sql("insert into name values (1, 'old')").update();
        b = application(proxyOfOthers);
        c = application(proxyOfOthers);
        proxyOfA.cut();
        a = application(proxyOfA);
    }

    @AfterAll
    static void stop() {
        a.close();
        b.close();
        c.close();
        proxyOfA.close();
        proxyOfOthers.close();
        redis.close();
        h2.stop();
    }

    private static String url() {
        return "jdbc:h2:tcp://127.0.0.1:" + h2.getPort() + "/mem:" + DATABASE + ";DB_CLOSE_DELAY=-1";
    }

    private static ConfigurableApplicationContext application(TcpProxy proxy) {
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + proxy.host(),
                        "spring.data.redis.port=" + proxy.port(),
                        "spring.main.web-application-type=none",
                        "easy-cache.command-timeout=" + (proxy == proxyOfA ? "250ms" : "10s"),
                        "easy-cache.defaults.stale-window=1m",
                        "easy-cache.defaults.update-lease=1m",
                        "easy-cache.outbox=jdbc",
                        "easy-cache.jdbc.initialize-schema=always")
                .run();
    }

    @BeforeEach
    void cacheTheOldName() {
        await().atMost(PATIENCE).until(() -> waiting() == 0);
        jdbc.sql("update name set text = 'old' where id = 1").update();
        redis.flush();
        assertThat(names.find(1)).isEqualTo("old");
    }

    @Test
    void anUpdateOfANodeThatIsCutOffIsSeenByTheOthers() {
        cutOff.rename(1, "new", true);
        await().atMost(PATIENCE).until(() -> names.find(1).equals("new"));
        assertThat(c.getBean(Names.class).find(1)).isEqualTo("new");
    }

    @Test
    void soIsOneWithoutATransaction() {
        cutOff.renameWithoutTransaction(1, "new");
        await().atMost(PATIENCE).until(() -> names.find(1).equals("new"));
    }

    @Test
    void soIsOneWhoseKeyIsKnownAfterTheMethod() {
        cutOff.renameById(1, "new");
        await().atMost(PATIENCE).until(() -> names.find(1).equals("new"));
    }

    @Test
    void aRollbackLeavesNothing() {
        int before = rows();
        assertThatThrownBy(() -> cutOff.rename(1, "new", false)).hasMessage("rolled back");
        assertThat(rows()).isEqualTo(before);
        assertThat(names.find(1)).isEqualTo("old");
    }

    /** The connection of the outer transaction is bound while the inner one commits. */
    @Test
    void aMessageDoesNotDependOnATransactionAroundThatOfItsUpdate() {
        in("transactionManager", outer -> {
            cutOff.changeInAnotherDatabase(2);
            outer.setRollbackOnly();
        });
        assertThat(rows(2))
                .as("one for the commit of the inner transaction, and one for the end of the outer one")
                .isEqualTo(2);
    }

    @Test
    void aMessageDoesNotDependOnItsOwnTransactionIfAnotherOneCommitsInside() {
        assertThatThrownBy(() -> cutOff.rollBackAround(3, () -> in("other", inner -> {})))
                .hasMessage("rolled back");
        assertThat(rows(3)).isEqualTo(1);
    }

    private static void in(String manager, Consumer<TransactionStatus> work) {
        new TransactionTemplate(a.getBean(manager, PlatformTransactionManager.class)).executeWithoutResult(work);
    }

    private static int rows(long id) {
        return jdbc.sql("select count(*) from easy_cache_outbox where entry_key in (?, ?)")
                .params(name(CrashingApplication.AP, id), name(CrashingApplication.CP, id))
                .query(Integer.class)
                .single();
    }

    private static byte[] name(String prefix, long id) {
        return bytes(CacheSpec.of(prefix, String.class).key(id).name());
    }

    @Test
    void nothingIsWrittenWhileRedisIsWellAndAllNodesTogetherQueryOnceASecond() {
        // If the holder loses its lease on a busy machine, its successor queries once more.
        await().pollInterval(Duration.ZERO).atMost(PATIENCE).until(() -> {
            jdbc.sql("delete from easy_cache_outbox where cluster_id <> ''").update();
            Duration took = fourQueries();
            assertThat(rows()).as("the identity").isEqualTo(1);
            return took.compareTo(Duration.ofMillis(1500)) > 0;
        });
    }

    /** Returns the duration of four queries. The first two may come from a holder and its successor. */
    private Duration fourQueries() {
        long begin = System.nanoTime();
        int before = STATEMENTS.get();
        await().atMost(PATIENCE).until(() -> {
            names.rename(1, "new", true);
            c.getBean(Names.class).rename(1, "old", true);
            return STATEMENTS.get() - before >= 4;
        });
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    /** The new master has the old value and never received the invalidation. */
    @Test
    void whatAFailoverHasLostIsDeliveredAgain() {
        try (RedisServer next = RedisServer.start();
                RawRedis from = redis.connect();
                RawRedis to = next.connect()) {
            byte[] key = ("ec:"
                            + CacheSpec.of(CrashingApplication.AP, String.class)
                                    .key(1L)
                                    .name())
                    .getBytes(StandardCharsets.UTF_8);
            // A node that takes the lease of the outbox delivers the messages of other tests again.
            byte[] value = await().atMost(PATIENCE)
                    .until(
                            () -> names.find(1).equals("old") ? (byte[]) from.command(bytes("DUMP"), key) : null,
                            Objects::nonNull);
            to.command(bytes("RESTORE"), key, bytes("600000"), value);
            cutOff.rename(1, "new", true);
            await().atMost(PATIENCE).until(() -> names.find(1).equals("new"));
            await().atMost(PATIENCE).until(() -> waiting() == 0);

            proxyOfOthers.retarget(next);
            await().atMost(PATIENCE)
                    .until(() -> to.command(bytes("EXISTS"), key).equals(0L) || isNew(to, key));
            assertThat(names.find(1)).isEqualTo("new");
        } finally {
            proxyOfOthers.retarget(redis);
        }
        await().atMost(PATIENCE)
                .until(() -> b.getBean(EasyCache.class)
                                .availability(CacheSpec.DEFAULT_CLUSTER)
                                .state()
                        == State.AVAILABLE);
    }

    private static boolean isNew(RawRedis redis, byte[] key) {
        return ((List<?>) redis.command(bytes("HVALS"), key))
                .stream().anyMatch(value -> new String((byte[]) value, StandardCharsets.ISO_8859_1).contains("new"));
    }

    @Test
    void aNodeThatIsCutOffAndDiesLeavesAMessageIfItHasCommitted() {
        Update committed = Update.EASY_AFTER_THE_COMMIT;
        Update uncommitted = Update.EASY_BEFORE_THE_COMMIT;
        for (Update update : List.of(committed, uncommitted)) {
            jdbc.sql("merge into name values (?, 'old')").param(update.id()).update();
            assertThat(names.find(update.id())).isEqualTo("old");
        }
        try (ChildJvm child = ChildJvm.start(
                CrashingApplication.class,
                Update.argument(List.of(committed, uncommitted)),
                "--spring.datasource.url=" + url(),
                "--spring.datasource.username=",
                "--spring.data.redis.port=1",
                "--spring.main.web-application-type=none",
                "--easy-cache.external-prefixes=" + CrashingApplication.AP + "," + CrashingApplication.CP,
                "--easy-cache.outbox=jdbc")) {
            child.awaitLine(CrashingApplication.ALL_STOPPED::equals, ChildJvm.START);
            child.kill();
        }
        await().atMost(PATIENCE).until(() -> names.find(committed.id()).equals("new"));
        assertThat(rows(uncommitted.id())).isZero();
        assertThat(names.find(uncommitted.id())).isEqualTo("old");
    }

    @Test
    void anUpdateIsRefusedWhenTheMessageCannotBeWritten() {
        jdbc.sql("alter table easy_cache_outbox rename to elsewhere").update();
        try {
            assertThatThrownBy(() -> cutOff.rename(1, "new", true)).isInstanceOf(CacheUnavailableException.class);
            assertThatThrownBy(() -> cutOff.renameWithoutTransaction(1, "new"))
                    .isInstanceOf(CacheUnavailableException.class);
        } finally {
            jdbc.sql("alter table elsewhere rename to easy_cache_outbox").update();
        }
        assertThat(jdbc.sql("select text from name where id = 1")
                        .query(String.class)
                        .single())
                .isEqualTo("old");
    }

    @Test
    void theOutboxIsABean() {
        assertThat(a.getBean(Outbox.class).id())
                .isEqualTo(b.getBean(Outbox.class).id());
    }

    private static int rows() {
        return jdbc.sql("select count(*) from easy_cache_outbox")
                .query(Integer.class)
                .single();
    }

    private static int waiting() {
        return jdbc.sql("select count(*) from easy_cache_outbox where delivered = 0 and cluster_id <> ''")
                .query(Integer.class)
                .single();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
