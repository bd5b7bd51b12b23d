package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.FillTicket;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An update belongs to the transaction in which its method works. */
class UpdateTransactionsIntegrationTests {

    /** Changes of a row that others may use. */
    static class Stocks {

        private final JdbcClient jdbc;
        private Consumer<Stocks> work = stocks -> {};

        Stocks(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Cacheable(prefix = "stock", keys = "#id", consistency = Consistency.CP)
        public Integer find(long id) {
            return jdbc.sql("select pieces from stock where id = ?")
                    .param(id)
                    .query(Integer.class)
                    .single();
        }

        @UpdateCache(prefix = "stock", keys = "#id")
        public void undeclared(long id) {
            work.accept(this);
        }

        @UpdateCache(prefix = "stock", keys = "#result")
        public long undeclaredByResult(long id) {
            work.accept(this);
            return id;
        }

        /** The second id is null. */
        @UpdateCache(prefix = "stock", keys = "#result.second()")
        @UpdateCache(prefix = "stock", keys = "#result.first()")
        public Pair undeclaredByPartsOfTheResult(long id) {
            work.accept(this);
            return new Pair(id, null);
        }

        @UpdateCache(prefix = "stock", keys = "#id")
        @Transactional
        public void required(long id) {
            work.accept(this);
        }

        @UpdateCache(prefix = "stock", keys = "#id")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void requiresNew(long id) {
            work.accept(this);
        }

        @UpdateCache(prefix = "stock", keys = "#id")
        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        public void notSupported(long id) {
            work.accept(this);
        }

        @UpdateCache(prefix = "stock", keys = "#id")
        @Transactional(propagation = Propagation.NESTED)
        public void nested(long id) {
            work.accept(this);
        }

        void write(long id) {
            jdbc.sql("update stock set pieces = pieces + 1 where id = ?")
                    .param(id)
                    .update();
        }
    }

    record Pair(Long first, @Nullable Long second) {}

    /** The ways to declare the transaction of an update. */
    enum Way {
        UNDECLARED,
        UNDECLARED_BY_RESULT,
        REQUIRED,
        REQUIRES_NEW,
        NOT_SUPPORTED,
        NESTED;

        void update(Stocks stocks, long id) {
            switch (this) {
                case UNDECLARED -> stocks.undeclared(id);
                case UNDECLARED_BY_RESULT ->
                    assertThat(stocks.undeclaredByResult(id)).isEqualTo(id);
                case REQUIRED -> stocks.required(id);
                case REQUIRES_NEW -> stocks.requiresNew(id);
                case NOT_SUPPORTED -> stocks.notSupported(id);
                case NESTED -> stocks.nested(id);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    static class Shop {

        @Bean
        Stocks stocks(JdbcClient jdbc) {
            return new Stocks(jdbc);
        }

        /** Manager of another database: its transactions share the synchronizations of the first manager. */
        @Bean(defaultCandidate = false)
        PlatformTransactionManager other() {
            JdbcDataSource database = new JdbcDataSource();
            database.setUrl("jdbc:h2:mem:update-transactions-other");
            return new DataSourceTransactionManager(database);
        }
    }

    private static final AtomicLong IDS = new AtomicLong();
    private static ConfigurableApplicationContext context;

    /** A rollback invalidates a key at once, but at most once a second. */
    private final long id = IDS.incrementAndGet();

    private final Stocks stocks = context.getBean(Stocks.class);
    private final Stocks target = AopTestUtils.getTargetObject(stocks);
    private final JdbcClient jdbc = context.getBean(JdbcClient.class);
    private final PlatformTransactionManager manager =
            context.getBean("transactionManager", PlatformTransactionManager.class);
    private final PlatformTransactionManager other = context.getBean("other", PlatformTransactionManager.class);
    private final List<String> seen = new ArrayList<>();

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        context = new SpringApplicationBuilder(Shop.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "spring.datasource.url=jdbc:h2:mem:update-transactions",
                        "easy-cache.command-timeout=10s",
                        "easy-cache.circuit-breaker.probe-interval=100ms",
                        "spring.main.web-application-type=none")
                .run();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void fill() {
        RedisServer.shared().flush();
        jdbc.sql("drop table if exists stock").update();
        jdbc.sql("create table stock (id bigint primary key, pieces int)").update();
        jdbc.sql("insert into stock values (?, 0)").param(id).update();
        assertThat(stocks.find(id)).isZero();
        target.work = stocks -> stocks.write(id);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void isVisibleWhenItsTransactionHasCommitted(Way way) {
        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            lookAtCommit();
            way.update(stocks, id);
        });
        shouldBeVisible();
        boolean joins = way != Way.REQUIRES_NEW && way != Way.NOT_SUPPORTED;
        assertThat(seen.stream().anyMatch(field -> field.startsWith("i:"))).isEqualTo(joins);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void isVisibleAtOnceWhenItsWorkIsCommittedInATransactionOfItsOwn(Way way) {
        target.work = any -> {
            in(manager, TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> {
                lookAtCommit();
                target.write(id);
            });
            if (way != Way.UNDECLARED_BY_RESULT) {
                shouldBeVisible();
            }
        };
        assertThatThrownBy(() -> in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
                    way.update(stocks, id);
                    shouldBeVisible();
                    throw new IllegalStateException("rolled back");
                }))
                .hasMessage("rolled back");
        shouldBeVisible();
        if (way != Way.UNDECLARED_BY_RESULT) {
            assertThat(seen).anyMatch(field -> field.startsWith("i:"));
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void isVisibleAfterTheCallWhenItsStoreTakesNoPartInTheTransaction(Way way) {
        target.work = any -> elsewhere(() -> target.write(id));
        assertThatThrownBy(() -> in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
                    way.update(stocks, id);
                    if (way != Way.REQUIRED && way != Way.NESTED) {
                        shouldBeVisible();
                    }
                    throw new IllegalStateException("rolled back");
                }))
                .hasMessage("rolled back");
        shouldBeVisible();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"UNDECLARED", "REQUIRED", "UNDECLARED_BY_RESULT"})
    void isVisibleWhenTheTransactionOfAnotherManagerHasCommittedInside(Way way) {
        in(other, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
                way.update(stocks, id);
                seen.addAll(fields());
            });
            shouldBeVisible();
        });
        shouldBeVisible();
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    }

    /** A method called inside the second transaction works on the connection of the first one, which is still bound. */
    @ParameterizedTest
    @CsvSource({"UNDECLARED, false", "REQUIRED, false", "NESTED, false", "REQUIRED, true"})
    void isVisibleWhenItWorksInATransactionAroundThatOfAnotherManager(Way way, boolean rolledBack) {
        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            new TransactionTemplate(other).executeWithoutResult(status -> {
                way.update(stocks, id);
                if (rolledBack) {
                    status.setRollbackOnly();
                }
            });
            seen.add(elsewhere(() -> stocks.find(id)).toString());
        });
        assertThat(seen).containsExactly("0");
        shouldBeVisible();
        Awaitility.await().pollInterval(Duration.ofMillis(20)).untilAsserted(() -> assertThat(fields())
                .noneMatch(field -> field.startsWith("i:")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void isPreparedBeforeTheCommitAlsoInSomebodysBeforeCommit(boolean declared) {
        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    (declared ? Way.REQUIRED : Way.UNDECLARED).update(stocks, id);
                }
            });
            lookAtCommit();
        });
        assertThat(seen).anyMatch(field -> field.startsWith("i:"));
        shouldBeVisible();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void isVisibleAtOnceWhenItFollowsTheCommit(boolean completed) {
        target.work = any -> elsewhere(() -> target.write(id));
        in(
                manager,
                TransactionDefinition.PROPAGATION_REQUIRED,
                () -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void afterCommit() {
                        run(!completed);
                    }

                    @Override
                    public void afterCompletion(int status) {
                        run(completed);
                    }

                    private void run(boolean now) {
                        if (now) {
                            stocks.undeclared(id);
                            seen.add(elsewhere(() -> stocks.find(id)).toString());
                        }
                    }
                }));
        assertThat(seen).containsExactly("1");
        shouldBeVisible();
    }

    /** Spring releases the connection after all callbacks. This commits their writes. */
    @ParameterizedTest
    @CsvSource({
        "UNDECLARED, true",
        "UNDECLARED, false",
        "REQUIRED, true",
        "REQUIRED, false",
        "UNDECLARED_BY_RESULT, true",
        "UNDECLARED_BY_RESULT, false",
        "REQUIRED_BEFORE, true",
        "UNDECLARED_JOINING, true",
        "UNDECLARED_JOINING, false",
        "REQUIRED_BESIDE, true",
        "REQUIRED_BESIDE, false"
    })
    void isVisibleWhenWorkOnTheConnectionOfAnEndedTransactionIsCommitted(String name, boolean completed) {
        boolean before = name.endsWith("_BEFORE");
        Way way = Way.valueOf(name.replaceFirst("_(BEFORE|JOINING|BESIDE)", ""));
        Runnable work = () -> {
            way.update(stocks, id);
            seen.add(elsewhere(() -> stocks.find(id)).toString());
        };
        target.work = any -> {};
        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            if (before) {
                stocks.required(id);
            }
            target.work = switch (name) {
                // Spring forgets with the end of an inner transaction that one is active.
                case "UNDECLARED_JOINING" ->
                    stocks -> in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> stocks.write(id));
                case "REQUIRED_BESIDE" ->
                    stocks -> {
                        in(manager, TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> {});
                        stocks.write(id);
                    };
                default -> stocks -> stocks.write(id);
            };
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    if (!completed) {
                        work.run();
                    }
                }

                @Override
                public void afterCompletion(int status) {
                    if (completed) {
                        work.run();
                    }
                    seen.add(elsewhere(() -> stocks.find(id)).toString());
                }
            });
        });
        assertThat(seen).containsOnly("0");
        Awaitility.await().pollInterval(Duration.ofMillis(20)).untilAsserted(() -> assertThat(
                        elsewhere(() -> stocks.find(id)))
                .isEqualTo(1));
        Awaitility.await().pollInterval(Duration.ofMillis(20)).untilAsserted(() -> assertThat(fields())
                .noneMatch(field -> field.startsWith("i:")));
        shouldBeVisible();
    }

    /** Spring takes the exception for a failed commit and rolls nothing back. The work is committed with the connection. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"UNDECLARED", "REQUIRED", "NESTED"})
    void isVisibleWhenACallbackMakesSpringLeaveTheTransactionOpen(Way way) {
        assertThatThrownBy(() -> in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
                    way.update(stocks, id);
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void beforeCommit(boolean readOnly) {
                            throw new IllegalTransactionStateException("of another transaction");
                        }

                        @Override
                        public void afterCompletion(int status) {
                            seen.add(elsewhere(() -> stocks.find(id)).toString());
                        }
                    });
                }))
                .hasMessage("of another transaction");
        assertThat(seen).containsExactly("0");
        shouldBeVisible();
    }

    @Test
    void getsNoTicketOnAThreadThatMaySeeOlderData() {
        EasyCache cache = context.getBean(EasyCache.class);
        CacheKey<Integer> key = CacheSpec.of("filled", Integer.class).key(id);
        in(manager, TransactionDefinition.PROPAGATION_SUPPORTS, () -> assertThat(cache.startFill(key))
                .isNull());
        TransactionSynchronizationManager.bindResource("session", "of a web request");
        assertThat(cache.startFill(key)).isNull();
        TransactionSynchronizationManager.unbindResource("session");

        try (FillTicket<Integer> ticket = Objects.requireNonNull(cache.startFill(key))) {
            in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> assertThat(ticket.tryFill(1))
                    .isFalse());
        }
        assertThat(cache.peek(key)).isNull();
    }

    /**
     * Spring does not report the end of such a transaction. A callback that joins it has synchronizations again, and none of
     * them is called before its work is committed.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void isVisibleWhenItJoinsATransactionThatEndedWithoutItsCommit(boolean leftOpen) {
        RuntimeException failure = leftOpen
                ? new IllegalTransactionStateException("before the commit")
                : new IllegalStateException("before the commit");
        assertThatThrownBy(() -> in(
                        manager,
                        TransactionDefinition.PROPAGATION_REQUIRED,
                        () -> TransactionSynchronizationManager.registerSynchronization(
                                new TransactionSynchronization() {
                                    @Override
                                    public void beforeCommit(boolean readOnly) {
                                        throw failure;
                                    }

                                    @Override
                                    public void afterCompletion(int status) {
                                        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
                                            stocks.required(id);
                                            seen.add(elsewhere(() -> stocks.find(id))
                                                    .toString());
                                            seen.addAll(fields());
                                        });
                                    }
                                })))
                .isSameAs(failure);
        assertThat(seen).first().isEqualTo("0");
        assertThat(seen).anyMatch(field -> field.startsWith("i:"));
        shouldBeVisible();
        Awaitility.await().pollInterval(Duration.ofMillis(20)).untilAsserted(() -> assertThat(fields())
                .noneMatch(field -> field.startsWith("i:")));
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    }

    /** The second inner transaction ends before the one whose completion it follows. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void leavesNothingPreparedWhenACallbackOfAnInnerTransactionCommitsAnotherOne(boolean byALoad) {
        long missing = -id;
        jdbc.sql("insert into stock values (?, 0)").param(missing).update();
        target.work = any -> in(manager, TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> {
            target.write(id);
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCompletion(int status) {
                    if (byALoad) {
                        assertThat(stocks.find(missing)).isZero();
                    } else {
                        in(manager, TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> {});
                    }
                }
            });
        });
        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            stocks.required(id);
            assertThat(fields()).isEmpty();
        });
        assertThat(fields()).isEmpty();
        shouldBeVisible();
        assertThat(fields()).singleElement().asString().startsWith("v");
    }

    @Test
    void leavesNothingPreparedWhereTheTransactionOfASavepointIsSuspended() {
        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            in(manager, TransactionDefinition.PROPAGATION_NESTED, () -> {
                in(manager, TransactionDefinition.PROPAGATION_NOT_SUPPORTED, () -> {
                    stocks.undeclared(id);
                    assertThat(fields()).isEmpty();
                    assertThat(stocks.find(id)).isEqualTo(1);
                    assertThat(fields()).singleElement().asString().startsWith("v");
                });
                RedisServer.shared().flush();
                DefaultTransactionDefinition facade =
                        new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
                facade.setReadOnly(true);
                new TransactionTemplate(manager, facade).executeWithoutResult(status -> assertThat(stocks.find(id))
                        .isEqualTo(1));
                assertThat(fields()).singleElement().asString().startsWith("v");
            });
        });
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    }

    @Test
    void isInvalidatedOnceMoreThanNeededWhenItsSavepointIsRolledBack() {
        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            target.work = any -> {
                throw new IllegalStateException("savepoint");
            };
            assertThatThrownBy(() -> stocks.nested(id)).hasMessage("savepoint");
            assertThat(elsewhere(() -> stocks.find(id))).isZero();
        });
        assertThat(fields()).isEmpty();
        assertThat(stocks.find(id)).isZero();
        assertThat(fields()).singleElement().asString().startsWith("v");
    }

    @Test
    void isVisibleAlsoWhereAnotherKeyOfItsResultIsNull() {
        assertThatThrownBy(() -> stocks.undeclaredByPartsOfTheResult(id))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("A key part of 'stock' is null");
        shouldBeVisible();
    }

    @Test
    void staysPreparedWhereATransactionHasNoSynchronization() {
        AbstractPlatformTransactionManager silent = new DataSourceTransactionManager(context.getBean(DataSource.class));
        silent.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
        in(silent, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            stocks.undeclared(id);
            assertThat(elsewhere(() -> stocks.find(id))).isZero();
        });
        assertThat(fields()).anyMatch(field -> field.startsWith("i:")).noneMatch(field -> field.startsWith("v"));
        assertThat(stocks.find(id)).isEqualTo(1);
    }

    /** The connection stays bound, so the method reads what its transaction has written. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTransactionReadsItsOwnUpdateInsideOneOfAnotherManager(boolean cached) {
        target.work = any -> target.write(id);
        if (cached) {
            assertThat(stocks.find(id)).isZero();
        }
        in(manager, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
            stocks.required(id);
            in(other, TransactionDefinition.PROPAGATION_REQUIRED, () -> {
                seen.add("method " + target.find(id));
                seen.add("cache " + stocks.find(id));
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void afterCompletion(int status) {
                        seen.add("callback " + stocks.find(id));
                    }
                });
            });
            in(manager, TransactionDefinition.PROPAGATION_REQUIRES_NEW, () -> seen.add("apart " + stocks.find(id)));
            seen.add("cache " + stocks.find(id));
        });
        assertThat(seen).containsExactly("method 1", "cache 1", "callback 1", "apart 0", "cache 1");
    }

    /** Other nodes read the row, and store it. */
    private void shouldBeVisible() {
        assertThat(elsewhere(() -> stocks.find(id))).isEqualTo(1);
    }

    private void lookAtCommit() {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public int getOrder() {
                return 0;
            }

            @Override
            public void afterCommit() {
                seen.addAll(fields());
            }
        });
    }

    private static void in(PlatformTransactionManager manager, int propagation, Runnable work) {
        new TransactionTemplate(manager, new DefaultTransactionDefinition(propagation))
                .executeWithoutResult(status -> work.run());
    }

    private static void elsewhere(Runnable work) {
        elsewhere(() -> {
            work.run();
            return true;
        });
    }

    private static <T> T elsewhere(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work)
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
    }

    private List<String> fields() {
        try (RawRedis redis = RedisServer.shared().connect()) {
            return ((List<?>) redis.command("HKEYS", "ec:stock::" + id))
                    .stream().map(field -> RawRedis.text((byte[]) field)).toList();
        }
    }
}
