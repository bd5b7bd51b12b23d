package io.easykit.delayqueue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.boot.JdbcSchema;
import io.easykit.boot.SchemaMode;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.IsolationLevelDataSourceAdapter;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Records in a table: in H2, or in a running database with {@code -Pdatabases -Deasykit.idempotency.url=jdbc:postgresql://…}.
 */
class JdbcIdempotencyStoreTests {

    private static final String URL = "easykit.idempotency.url";
    private static final String TOPIC = "orders";
    private static final Duration RETENTION = Duration.ofMinutes(10);

    private final AtomicInteger begun = new AtomicInteger();
    private final DataSource dataSource = new DriverManagerDataSource(url());
    private final JdbcClient jdbc = JdbcClient.create(dataSource);
    private final JdbcIdempotencyStore store = store(dataSource);

    private static String url() {
        String real = System.getProperty(URL);
        return real != null ? real : "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=500";
    }

    @BeforeEach
    void createTables() {
        jdbc.sql("drop table if exists delay_queue_handled").update();
        jdbc.sql("drop table if exists effects").update();
        jdbc.sql("create table effects (name varchar(50))").update();
        install();
    }

    private void install() {
        JdbcSchema schema = new JdbcSchema(
                dataSource,
                new JdbcSchema.Settings(
                        "delay-queue.idempotency",
                        SchemaMode.ALWAYS,
                        "classpath:io/easykit/delayqueue/jdbc/idempotency-@@platform@@.sql",
                        null));
        schema.setResourceLoader(new DefaultResourceLoader());
        schema.initializeDatabase();
    }

    private JdbcIdempotencyStore store(DataSource of) {
        return new JdbcIdempotencyStore(of, new CountingTransactions(of), RETENTION);
    }

    @Test
    void runsOnceForEachMessage() throws Exception {
        assertThat(run(store, "a")).isTrue();
        assertThat(run(store, "a")).isFalse();
        assertThat(run(store, "b")).isTrue();
        assertThat(store.runOnce("mails", "a", () -> effect("mail"))).isTrue();

        assertThat(effects()).containsExactlyInAnyOrder("a", "b", "mail");
        assertThat(records()).isEqualTo(3);
    }

    /** As a URL of MySQL with {@code useAffectedRows=true}, where a row that has the new value already does not count. */
    @Test
    void anUpdateThatChangesNothingCountsAsConfirmed() throws Exception {
        JdbcIdempotencyStore changedRows = store(new DelegatingDataSource(dataSource) {
            @Override
            public Connection getConnection() throws SQLException {
                return countingNoUpdates(super.getConnection());
            }
        });

        assertThat(run(changedRows, "a")).isTrue();
        assertThat(run(changedRows, "a")).isFalse();
        assertThat(effects()).containsExactly("a");
    }

    private static Connection countingNoUpdates(Connection connection) {
        return proxy(
                Connection.class,
                connection,
                (method, result, arguments) -> method.equals("prepareStatement")
                                && ((String) arguments[0]).startsWith("update " + IdempotencyTable.NAME)
                        ? proxy(
                                PreparedStatement.class,
                                (PreparedStatement) result,
                                (name, count, none) -> name.equals("executeUpdate") ? 0 : count)
                        : result);
    }

    private interface Change {
        @Nullable Object of(String method, @Nullable Object result, Object @Nullable [] arguments);
    }

    private static <T> T proxy(Class<T> type, T behind, Change change) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        return change.of(method.getName(), method.invoke(behind, arguments), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    /** Ids that a text column would refuse, cut, or take for equal. */
    @Test
    void tellsAllIdsApart() throws Exception {
        List<String> ids = List.of(
                "a", "A", "a ", "ä", "a\u0000", "\ud83d\ude00".repeat(128) + "/0123456789abcdef", "ｘ".repeat(512));
        for (String id : ids) {
            assertThat(store.runOnce(TOPIC, id, () -> effect("x"))).isTrue();
            assertThat(store.runOnce(TOPIC, id, () -> effect("x"))).isFalse();
        }

        assertThat(effects()).hasSize(ids.size());
    }

    @Test
    void rollsBackTheRecordWithTheEffect() throws Exception {
        for (Throwable error : List.of(new IllegalStateException("x"), new IOException("x"), new AssertionError("x"))) {
            assertThatThrownBy(() -> store.runOnce(TOPIC, "a", () -> {
                        effect("a");
                        JdbcIdempotencyStoreTests.<RuntimeException>sneak(error);
                    }))
                    .isSameAs(error);
            assertThat(effects()).isEmpty();
            assertThat(records()).isZero();
        }

        assertThat(run(store, "a")).isTrue();
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(Throwable error) throws E {
        throw (E) error;
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                TransactionDefinition.ISOLATION_READ_COMMITTED,
                TransactionDefinition.ISOLATION_REPEATABLE_READ,
                TransactionDefinition.ISOLATION_SERIALIZABLE
            })
    void aSecondDeliveryWaitsForTheCommitOfTheFirst(int isolation) throws Exception {
        DataSource isolated = isolated(isolation);
        CountDownLatch commit = new CountDownLatch(1);
        Future<Boolean> first = held(isolated, commit, null);

        Future<Boolean> second = start(() -> run(store(isolated), isolated));
        await().until(() -> begun.get() >= 2);
        commit.countDown();

        assertThat(first.get(20, TimeUnit.SECONDS)).isTrue();
        assertThat(second.get(20, TimeUnit.SECONDS)).isFalse();
        assertThat(effects()).containsExactly("first");
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                TransactionDefinition.ISOLATION_READ_COMMITTED,
                TransactionDefinition.ISOLATION_REPEATABLE_READ,
                TransactionDefinition.ISOLATION_SERIALIZABLE
            })
    void aSecondDeliveryRunsAfterTheRollbackOfTheFirst(int isolation) throws Exception {
        DataSource isolated = isolated(isolation);
        CountDownLatch rollback = new CountDownLatch(1);
        Future<Boolean> first = held(isolated, rollback, new IllegalStateException("no stock"));

        Future<Boolean> second = start(() -> run(store(isolated), isolated));
        await().until(() -> begun.get() >= 2);
        rollback.countDown();

        assertThatThrownBy(() -> first.get(20, TimeUnit.SECONDS)).hasRootCauseMessage("no stock");
        assertThat(second.get(20, TimeUnit.SECONDS)).isTrue();
        assertThat(effects()).containsExactly("a");
    }

    /** A failed run is retried; then it finds the record. */
    @Test
    void aRunFailsIfTheFirstOneHoldsTheLockTooLong() throws Exception {
        CountDownLatch commit = new CountDownLatch(1);
        Future<Boolean> first = held(dataSource, commit, null);

        assertThatThrownBy(() -> run(store, "a")).isInstanceOf(Exception.class);

        commit.countDown();
        assertThat(first.get(20, TimeUnit.SECONDS)).isTrue();
        assertThat(run(store, "a")).isFalse();
        assertThat(effects()).containsExactly("first");
    }

    private DataSource isolated(int isolation) {
        IsolationLevelDataSourceAdapter adapter = new IsolationLevelDataSourceAdapter();
        adapter.setTargetDataSource(dataSource);
        adapter.setIsolationLevel(isolation);
        return adapter;
    }

    /** Starts a run that has made its effect and waits; then it commits or fails. */
    private Future<Boolean> held(DataSource of, CountDownLatch end, @Nullable RuntimeException failure)
            throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Future<Boolean> run = start(() -> store(of).runOnce(TOPIC, "a", () -> {
            effect("first", of);
            held.countDown();
            end.await(30, TimeUnit.SECONDS);
            if (failure != null) {
                throw failure;
            }
        }));
        assertThat(held.await(20, TimeUnit.SECONDS)).isTrue();
        return run;
    }

    private static Future<Boolean> start(Callable<Boolean> work) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    /** A table that refuses each row would lose all messages if that counted as a duplicate. */
    @Test
    void anInsertThatFailsIsNoProof() {
        jdbc.sql("alter table delay_queue_handled add constraint refuses check (topic <> 'orders')")
                .update();

        assertThatThrownBy(() -> run(store, "a")).isInstanceOf(Exception.class);

        assertThat(effects()).isEmpty();
    }

    /** As MySQL and H2 do for the victim of a deadlock. The handler goes on, and has lost its record. */
    @Test
    void failsIfTheDatabaseHasRolledBackBehindTheHandler() throws Exception {
        assertThatThrownBy(() -> store.runOnce(TOPIC, "a", () -> {
                    effect("lost");
                    rollBackInTheDatabase();
                    effect("a");
                }))
                .hasMessageContaining("rolled back the record");

        assertThat(effects()).isEmpty();
        assertThat(run(store, "a")).isTrue();
    }

    private void rollBackInTheDatabase() throws SQLException {
        Connection connection = DataSourceUtils.getConnection(dataSource);
        connection.rollback();
        DataSourceUtils.releaseConnection(connection, dataSource);
    }

    @Test
    void failsIfItsTransactionIsMarkedAsRollbackOnly() {
        JdbcIdempotencyStore marked = afterBegin(transaction -> ((TransactionStatus) transaction).setRollbackOnly());

        assertThatThrownBy(() -> run(marked, "a")).isInstanceOf(UnexpectedRollbackException.class);

        assertThat(effects()).isEmpty();
        assertThat(records()).isZero();
    }

    @Test
    void refusesConnectionsThatCommitEachStatement() {
        JdbcIdempotencyStore committing = afterBegin(transaction -> {
            try {
                DataSourceUtils.getConnection(dataSource).setAutoCommit(true);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });

        assertThatThrownBy(() -> run(committing, "a")).hasMessageContaining("commit each statement");
        assertThatThrownBy(committing::check).hasMessageContaining("commit each statement");
        assertThat(effects()).isEmpty();
        assertThat(records()).isZero();
    }

    private JdbcIdempotencyStore afterBegin(Consumer<TransactionExecution> action) {
        JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
        manager.setTransactionExecutionListeners(List.of(new TransactionExecutionListener() {
            @Override
            public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
                action.accept(transaction);
            }
        }));
        return new JdbcIdempotencyStore(dataSource, manager, RETENTION);
    }

    /** Applications with different retentions share the table. */
    @Test
    void keepsTheRecordsOfAnotherApplicationForItsOwnRetention() throws Exception {
        JdbcIdempotencyStore patient =
                new JdbcIdempotencyStore(dataSource, new CountingTransactions(dataSource), Duration.ofDays(30));
        run(store, "short");
        run(patient, "long");
        age(RETENTION.plusSeconds(1));

        assertThat(store.deleteExpired(10)).isEqualTo(1);
        assertThat(patient.deleteExpired(10)).isZero();

        assertThat(run(patient, "long")).isFalse();
        assertThat(run(store, "short")).isTrue();
    }

    @Test
    void theAgeOfARecordCountsFromTheEndOfTheHandler() throws Exception {
        assertThat(store.runOnce(TOPIC, "a", () -> age(Duration.ofSeconds(601), dataSource)))
                .isTrue();

        assertThat(store.deleteExpired(10)).isZero();
    }

    @Test
    void commitsApartFromATransactionAroundIt() {
        TransactionTemplate outer = new TransactionTemplate(new JdbcTransactionManager(dataSource));

        outer.executeWithoutResult(status -> {
            try {
                assertThat(run(store, "a")).isTrue();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            status.setRollbackOnly();
        });

        assertThat(effects()).containsExactly("a");
        assertThat(records()).isEqualTo(1);
    }

    /** In H2 always, which needs no other user to log in. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "select, update, delete",
                "select, insert, delete",
                "select, insert, update",
                "insert, update, delete"
            })
    void aMissingRightIsNoticedAtTheStart(String rights) {
        String url = "jdbc:h2:mem:" + UUID.randomUUID();
        JdbcClient admin = JdbcClient.create(new DriverManagerDataSource(url + ";DB_CLOSE_DELAY=-1"));
        admin.sql(
                        "create table delay_queue_handled (topic varchar(128), unique_id varbinary(600), expires_at timestamp(3))")
                .update();
        admin.sql("create user shop password 'x'").update();
        admin.sql("grant select, insert, update, delete on delay_queue_handled to shop")
                .update();
        JdbcIdempotencyStore limited = store(new DriverManagerDataSource(url, "shop", "x"));
        assertThat(limited.check()).isTrue();

        admin.sql("revoke select, insert, update, delete on delay_queue_handled from shop")
                .update();
        admin.sql("grant " + rights + " on delay_queue_handled to shop").update();

        assertThatThrownBy(limited::check).hasMessageContaining("delay_queue_handled cannot be used");
    }

    @Test
    void refusesATransactionManagerOfAnotherDatabase() {
        DataSource other = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID());
        JdbcIdempotencyStore wrong = new JdbcIdempotencyStore(dataSource, new JdbcTransactionManager(other), RETENTION);

        assertThatThrownBy(() -> run(wrong, "a")).hasMessageContaining("does not manage the transactions");
        assertThatThrownBy(wrong::check).hasMessageContaining("does not manage the transactions");
        assertThat(effects()).isEmpty();
    }

    @Test
    void deletesOnlyRecordsThatAreOlderThanTheRetention() throws Exception {
        for (int i = 0; i < 5; i++) {
            run(store, "old " + i);
        }
        age(Duration.ofSeconds(601));
        run(store, "young");
        age(Duration.ofSeconds(590));
        run(store, "new");

        assertThat(store.deleteExpired(3)).isEqualTo(3);
        assertThat(store.deleteExpired(3)).isEqualTo(2);
        assertThat(store.deleteExpired(3)).isZero();
        assertThat(run(store, "young")).isFalse();
        assertThat(run(store, "new")).isFalse();
        assertThat(run(store, "old 1")).isTrue();
    }

    @Test
    void deletesInTheBackgroundWhileTheApplicationRuns() throws Exception {
        IdempotencyCleanup cleanup = new IdempotencyCleanup(Duration.ofMillis(20));
        cleanup.use(store);
        run(store, "old");
        age(Duration.ofSeconds(601));
        assertThat(records()).isEqualTo(1);

        for (int i = 0; i < 2; i++) {
            cleanup.start();
            await().until(() -> records() == 0);
            cleanup.stop();
            run(store, "old " + i);
            age(Duration.ofSeconds(601));
        }

        assertThat(records()).isEqualTo(1);
        assertThat(cleanup.isRunning()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void deletesAgainAfterAnError(boolean inTransaction) throws Exception {
        AtomicInteger errors = new AtomicInteger(1);
        DataSource failing = new DelegatingDataSource(dataSource) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection real = super.getConnection();
                return inTransaction ? failingOnce(real, errors) : real;
            }
        };
        JdbcIdempotencyStore weak = new JdbcIdempotencyStore(
                failing,
                new JdbcTransactionManager(failing) {
                    @Override
                    protected Object doGetTransaction() {
                        if (!inTransaction && errors.getAndDecrement() > 0) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
                        return super.doGetTransaction();
                    }
                },
                RETENTION);
        run(store, "old");
        age(Duration.ofSeconds(601));
        IdempotencyCleanup cleanup = new IdempotencyCleanup(Duration.ofMillis(20));
        cleanup.use(weak);

        cleanup.start();

        await().until(() -> records() == 0);
        assertThat(errors.get()).isLessThan(1);
        cleanup.stop();
    }

    @Test
    void aCheckThatFailsWithAnErrorLeavesNoTransactionToItsThread() {
        AtomicInteger errors = new AtomicInteger(1);
        JdbcIdempotencyStore weak = store(new DelegatingDataSource(dataSource) {
            @Override
            public Connection getConnection() throws SQLException {
                return failingOnce(super.getConnection(), errors);
            }
        });

        assertThatThrownBy(weak::check).isInstanceOf(OutOfMemoryError.class);

        assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                .isFalse();
        assertThat(weak.check()).isTrue();
    }

    private static Connection failingOnce(Connection real, AtomicInteger errors) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement") && errors.getAndDecrement() > 0) {
                        throw new OutOfMemoryError("Java heap space");
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void theScriptMayRunAgain() throws Exception {
        run(store, "a");
        install();

        assertThat(run(store, "a")).isFalse();
    }

    private boolean run(JdbcIdempotencyStore in, String id) throws Exception {
        return in.runOnce(TOPIC, id, () -> effect(id));
    }

    private static boolean run(JdbcIdempotencyStore in, DataSource of) throws Exception {
        return in.runOnce(TOPIC, "a", () -> effect("a", of));
    }

    private void effect(String name) {
        jdbc.sql("insert into effects values (?)").param(name).update();
    }

    /** In the transaction of a store on this data source. */
    private static void effect(String name, DataSource of) {
        JdbcClient.create(of).sql("insert into effects values (?)").param(name).update();
    }

    private void age(Duration age) {
        age(age, dataSource);
    }

    private static void age(Duration age, DataSource of) {
        JdbcClient.create(of)
                .sql("update delay_queue_handled set expires_at = expires_at - interval '" + age.toSeconds()
                        + "' second")
                .update();
    }

    private List<String> effects() {
        return jdbc.sql("select name from effects").query(String.class).list();
    }

    private int records() {
        return jdbc.sql("select count(*) from delay_queue_handled")
                .query(Integer.class)
                .single();
    }

    /** Counts the transactions that have begun. */
    private final class CountingTransactions extends JdbcTransactionManager {

        private static final long serialVersionUID = 1;

        CountingTransactions(DataSource of) {
            super(of);
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            super.doBegin(transaction, definition);
            begun.incrementAndGet();
        }
    }
}
