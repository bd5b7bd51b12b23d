package io.easykit.cache.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.easykit.boot.JdbcSchema;
import io.easykit.boot.SchemaMode;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.store.Outbox.State;
import io.easykit.cache.store.OutboxException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The outbox on H2 in each of its modes, and on the database at {@value #URL}, if set, with its user and password in
 * the URL.
 */
@ParameterizedClass
@MethodSource("databases")
class JdbcOutboxTests {

    private static final String URL = "easykit.outbox.url";
    private static final Duration RETENTION = Duration.ofSeconds(30);
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Parameter
    private String url;

    /** The transactions that have begun on this thread and have not ended, the latest first. */
    private final Deque<TransactionExecution> begun = new ArrayDeque<>();

    private DataSource dataSource;
    private DataSource otherDatabase;
    private JdbcClient jdbc;
    private TransactionTemplate transaction;
    private JdbcOutbox outbox;

    static List<String> databases() {
        List<String> urls = new ArrayList<>(
                List.of("jdbc:h2:mem:%s", "jdbc:h2:mem:%s;MODE=MySQL", "jdbc:h2:mem:%s;MODE=PostgreSQL"));
        String real = System.getProperty(URL);
        if (real != null) {
            urls.add(real);
        }
        return urls;
    }

    @BeforeEach
    void create() {
        dataSource = database();
        otherDatabase = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        jdbc = JdbcClient.create(dataSource);
        transaction = new TransactionTemplate(reporting(dataSource));
        jdbc.sql("drop table if exists easy_cache_outbox").update();
        install(dataSource);
        outbox = new JdbcOutbox(dataSource, "ec:", begun::peek);
    }

    private DataSource database() {
        return new DriverManagerDataSource(
                url.contains(":h2:") ? url.formatted(UUID.randomUUID()) + ";DB_CLOSE_DELAY=-1" : url);
    }

    private DataSourceTransactionManager reporting(DataSource of) {
        DataSourceTransactionManager manager = new DataSourceTransactionManager(of);
        manager.addListener(new TransactionExecutionListener() {
            @Override
            public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
                begun.push(transaction);
            }

            @Override
            public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
                begun.remove(transaction);
            }

            @Override
            public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
                begun.remove(transaction);
            }
        });
        return manager;
    }

    private static void install(DataSource dataSource) {
        OutboxSchema schema = new OutboxSchema(
                dataSource, new JdbcSchema.Settings("easy-cache.jdbc", SchemaMode.ALWAYS, OutboxSchema.LOCATION, null));
        schema.setResourceLoader(new DefaultResourceLoader());
        schema.initializeDatabase();
    }

    // The table

    @Test
    void theScriptMayRunAgain() {
        outbox.add(message("m", "user::1"), false, Duration.ZERO);
        install(dataSource);
        assertThat(outbox.check()).isTrue();
        assertThat(keys()).containsExactly("user::1");
    }

    @Test
    void aMissingTableIsNoticed() {
        jdbc.sql("drop table easy_cache_outbox").update();
        assertThatThrownBy(() -> outbox.check()).isInstanceOf(OutboxException.class);
    }

    @Test
    void aDatabaseThatCannotBeReachedIsNotTakenForOneWithoutTable() {
        assertThat(new JdbcOutbox(new DriverManagerDataSource("jdbc:h2:tcp://127.0.0.1:1/none"), "ec:", begun::peek)
                        .check())
                .isFalse();
    }

    /** The pool has no free connection when the start is busy. */
    @Test
    void aDatabaseThatGivesUpForNowIsNotTakenForOneWithoutTable() {
        AtomicInteger connections = new AtomicInteger();
        DataSource busy = new DelegatingDataSource(dataSource) {
            @Override
            public Connection getConnection() throws SQLException {
                if (connections.incrementAndGet() > 1) {
                    throw new SQLTransientConnectionException("no connection is free");
                }
                return super.getConnection();
            }
        };

        assertThat(new JdbcOutbox(busy, "ec:", begun::peek).check()).isFalse();
        assertThat(connections).hasValueGreaterThan(1);
    }

    @Test
    void aQueryThatIsNotAnsweredInTimeIsNotTakenForAMissingTable() {
        DataSource slow = beforeEach("due_at <=", () -> {
            throw new IllegalStateException(new SQLTimeoutException("no answer in time"));
        });

        assertThat(new JdbcOutbox(slow, "ec:", begun::peek).check()).isFalse();
    }

    @Test
    void whatAPoolThrowsIsAnOutboxException() {
        JdbcOutbox without = new JdbcOutbox(
                new DriverManagerDataSource() {
                    @Override
                    public Connection getConnection() {
                        throw new IllegalStateException("no connection");
                    }
                },
                "ec:",
                begun::peek);
        assertThat(without.check()).isFalse();
        assertThatThrownBy(() -> without.add(message("m", "user::1"), false, RETENTION))
                .isInstanceOf(OutboxException.class)
                .hasMessage("no connection");
    }

    @Test
    void allNodesOnATableHaveOneIdentity() throws Exception {
        CountDownLatch start = new CountDownLatch(1);
        ExecutorService nodes = Executors.newFixedThreadPool(4);
        try {
            List<Future<String>> ids = IntStream.range(0, 4)
                    .mapToObj(i -> nodes.submit(() -> {
                        start.await();
                        return new JdbcOutbox(dataSource, "ec:", begun::peek).id();
                    }))
                    .toList();
            start.countDown();
            assertThat(Set.of(ids.get(0).get()))
                    .containsOnly(ids.get(1).get(), ids.get(2).get(), ids.get(3).get(), outbox.id());
        } finally {
            nodes.shutdownNow();
        }
    }

    @Test
    void anotherTableHasAnotherIdentity() {
        install(otherDatabase);
        assertThat(new JdbcOutbox(otherDatabase, "ec:", begun::peek).id()).isNotEqualTo(outbox.id());
    }

    /** H2 keeps the timeout of a statement for all later ones of the connection. */
    @Test
    void leavesTheQueryTimeoutOfAConnectionAsItWas() throws Exception {
        transaction.executeWithoutResult(status -> {
            assertThat(outbox.add(message("joined", "user::1"), true, RETENTION))
                    .isTrue();
            assertThat(queryTimeout(DataSourceUtils.getConnection(dataSource))).isZero();
        });
        try (Connection connection = dataSource.getConnection()) {
            JdbcOutbox pooled = new JdbcOutbox(new SingleConnectionDataSource(connection, true), "ec:", begun::peek);
            pooled.backlog("default");
            assertThat(queryTimeout(connection)).isZero();
        }
    }

    private static int queryTimeout(Connection connection) {
        try (Statement any = connection.createStatement()) {
            return any.getQueryTimeout();
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** As of requests with an open session in view, which update outside a transaction. */
    @Test
    void threadsThatHoldAConnectionDoNotWaitForEachOthersConnection() throws Exception {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setDataSource(dataSource);
            pool.setMaximumPoolSize(2);
            pool.setConnectionTimeout(Duration.ofSeconds(20).toMillis());
            JdbcOutbox pooled = new JdbcOutbox(pool, "ec:", begun::peek, () -> true);
            CyclicBarrier bothHoldOne = new CyclicBarrier(2);
            ExecutorService requests = Executors.newFixedThreadPool(2);
            try {
                List<Future<Boolean>> added = Stream.of("a", "b")
                        .map(id -> requests.submit(() -> addWithAHeldConnection(pooled, pool, id, bothHoldOne)))
                        .toList();
                assertThat(List.of(added.get(0).get(), added.get(1).get())).contains(true);
            } finally {
                requests.shutdownNow();
            }
        }
    }

    private static boolean addWithAHeldConnection(
            JdbcOutbox outbox, DataSource pool, String id, CyclicBarrier bothHoldOne) throws Exception {
        try (Connection held = pool.getConnection()) {
            assertThat(held.isClosed()).isFalse();
            bothHoldOne.await();
            outbox.add(message(id, "user::1"), false, RETENTION);
            return true;
        } catch (OutboxException refused) {
            return false;
        }
    }

    // Transactions

    @Test
    void aMessageIsPartOfTheTransaction() {
        transaction.executeWithoutResult(status -> {
            assertThat(outbox.add(message("m", "user::1"), true, RETENTION)).isTrue();
            assertThat(due()).as("before the commit").isEmpty();
        });
        assertThat(due()).extracting(Due::state).containsExactly(State.WAITING);
    }

    @Test
    void aRollbackLeavesNothing() {
        transaction.executeWithoutResult(status -> {
            outbox.add(message("m", "user::1"), true, RETENTION);
            status.setRollbackOnly();
        });
        assertThat(count()).isZero();
    }

    @Test
    void aTransactionThroughAProxyOfTheDataSourceIsJoined() {
        outbox = new JdbcOutbox(new TransactionAwareDataSourceProxy(dataSource), "ec:", begun::peek);
        transaction.executeWithoutResult(status -> {
            assertThat(outbox.add(message("m", "user::1"), true, RETENTION)).isTrue();
            assertThat(due()).as("on a connection of its own").isEmpty();
        });
        assertThat(due()).hasSize(1);
    }

    @Test
    void aMessageThatMustNotDependOnTheTransactionIsCommittedAtOnce() {
        transaction.executeWithoutResult(status -> {
            assertThat(outbox.add(message("m", "user::1"), false, RETENTION)).isFalse();
            assertThat(due()).extracting(Due::state).containsExactly(State.OPEN);
            status.setRollbackOnly();
        });
        assertThat(count()).isEqualTo(1);
    }

    @Test
    void aReadOnlyTransactionIsNotJoined() {
        transaction.setReadOnly(true);
        transaction.executeWithoutResult(status ->
                assertThat(outbox.add(message("m", "user::1"), true, RETENTION)).isFalse());
        assertThat(due()).extracting(Due::state).containsExactly(State.OPEN);
    }

    @Test
    void theTransactionOfAnotherDataSourceIsNotJoined() {
        new TransactionTemplate(reporting(otherDatabase)).executeWithoutResult(status -> {
            assertThat(outbox.add(message("m", "user::1"), true, RETENTION)).isFalse();
            status.setRollbackOnly();
        });
        assertThat(count()).isEqualTo(1);
    }

    /** The connection of the outer transaction stays bound, but does not commit with the inner one. */
    @Test
    void theTransactionAroundOneOfAnotherDataSourceIsNotJoined() {
        TransactionTemplate inner = new TransactionTemplate(reporting(otherDatabase));
        transaction.executeWithoutResult(outer -> {
            inner.executeWithoutResult(status -> assertThat(outbox.add(message("m", "user::1"), true, RETENTION))
                    .isFalse());
            assertThat(outbox.add(message("n", "user::2"), true, RETENTION)).isTrue();
            outer.setRollbackOnly();
        });
        assertThat(keys()).containsExactly("user::1");
    }

    @Test
    void aTransactionThatItsManagerDoesNotReportIsNotJoined() {
        new TransactionTemplate(new DataSourceTransactionManager(dataSource)).executeWithoutResult(status -> {
            assertThat(outbox.add(message("m", "user::1"), true, RETENTION)).isFalse();
            status.setRollbackOnly();
        });
        assertThat(count()).isEqualTo(1);
    }

    /** Its connection is bound to the thread, but its writes are never committed. */
    @Test
    void aConnectionThatIsOnlyUsedInTheTransactionOfAnotherDataSourceIsNotJoined() {
        DriverManagerDataSource manual = new DriverManagerDataSource(((DriverManagerDataSource) dataSource).getUrl()) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                connection.setAutoCommit(false);
                return connection;
            }
        };
        JdbcOutbox onManual = new JdbcOutbox(manual, "ec:", begun::peek);
        new TransactionTemplate(reporting(otherDatabase)).executeWithoutResult(status -> {
            JdbcClient.create(manual).sql("select 1").query(Integer.class).single();
            assertThat(onManual.add(message("m", "user::1"), true, RETENTION)).isFalse();
        });
        assertThat(count()).isEqualTo(1);
    }

    @Test
    void withoutATransactionAMessageIsCommittedAtOnce() {
        assertThat(outbox.add(message("m", "user::1"), true, RETENTION)).isFalse();
        assertThat(due()).extracting(Due::state).containsExactly(State.OPEN);
    }

    @Test
    void anInnerTransactionIsJoinedByItself() {
        TransactionTemplate inner = new TransactionTemplate(reporting(dataSource));
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        transaction.executeWithoutResult(outer -> {
            inner.executeWithoutResult(status -> assertThat(outbox.add(message("m", "user::1"), true, RETENTION))
                    .isTrue());
            outer.setRollbackOnly();
        });
        assertThat(due()).hasSize(1);
    }

    /** Ids are not ordered: the one written first is committed last. */
    @Test
    void whatIsCommittedLateIsSeen() {
        transaction.executeWithoutResult(status -> {
            outbox.add(message("a", "user::1"), true, RETENTION);
            onAnotherThread(() -> {
                outbox.add(message("b", "user::2"), false, Duration.ZERO);
                assertThat(keys()).containsExactly("user::2");
                outbox.delivered(List.of("b"), RETENTION);
                assertThat(due()).isEmpty();
            });
        });
        assertThat(keys()).containsExactly("user::1");
    }

    // Messages

    @Test
    void keysComeBackAsTheyWere() {
        List<String> keys = List.of("user::1", "user:v2::Zoë:\\:,\0", "stock::😀", "a".repeat(2000) + "::1");
        outbox.add(new Message("m", "trade", keys), false, Duration.ZERO);
        assertThat(outbox.due("trade", 10)).containsExactly(new Due(new Message("m", "trade", keys), State.WAITING));
        assertThat(outbox.due("other", 10)).isEmpty();
        assertThat(outbox.due("Trade", 10)).isEmpty();
    }

    @Test
    void otherKeyspacesAreLeftAlone() {
        outbox.add(message("m", "user::1"), false, Duration.ZERO);
        assertThat(new JdbcOutbox(dataSource, "shop:", begun::peek).due("default", 10))
                .isEmpty();
    }

    @Test
    void aMessageIsNeverCutInTwo() {
        List<String> many = IntStream.range(0, 2500).mapToObj(i -> "user::" + i).toList();
        outbox.add(new Message("big", "default", many), false, Duration.ZERO);
        outbox.add(message("small", "user::x"), false, Duration.ZERO);

        List<Due> due = due();
        assertThat(due.get(0).message().keys()).isEqualTo(many);
        outbox.delivered(List.of("big"), RETENTION);
        assertThat(keys()).containsExactly("user::x");
    }

    @Test
    void whatIsNoKeyComesAsNoKey() {
        jdbc.sql("insert into easy_cache_outbox (message_id, seq, cluster_id, entry_key, written_at, due_at, delivered)"
                        + " values ('x', 0, 'ec:default', null, current_timestamp, current_timestamp, 0)")
                .update();
        assertThat(keys()).containsExactly("");
    }

    @Test
    void messagesAreCounted() {
        assertThat(outbox.backlog("default")).isEqualTo(new OutboxBacklog(0, 0, Duration.ZERO));
        outbox.add(new Message("a", "default", List.of("user::1", "user::2")), false, Duration.ZERO);
        outbox.add(message("b", "user::3"), false, Duration.ofSeconds(30));
        outbox.add(message("c", "user::4"), false, Duration.ZERO);
        outbox.add(new Message("d", "other", List.of("user::5")), false, Duration.ZERO);
        outbox.delivered(List.of("c"), RETENTION);
        jdbc.sql("update easy_cache_outbox set written_at = current_timestamp - interval '60' second"
                        + " where message_id <> 'b'")
                .update();

        OutboxBacklog backlog = outbox.backlog("default");
        assertThat(backlog.waiting()).isEqualTo(3);
        assertThat(backlog.delivered()).isEqualTo(1);
        assertThat(backlog.oldest()).isBetween(Duration.ofSeconds(59), Duration.ofSeconds(90));
    }

    @Test
    void deliveredMessagesRestAndThenExpire() {
        outbox.add(message("m", "user::1"), false, Duration.ZERO);
        outbox.delivered(List.of("m"), RETENTION);
        assertThat(due()).isEmpty();
        outbox.delete(List.of("none"));
        assertThat(count()).isEqualTo(1);

        makeDue();
        assertThat(due()).extracting(Due::state).containsExactly(State.EXPIRED);
        outbox.delete(List.of("m"));
        assertThat(count()).isZero();
    }

    @Test
    void deliveredMessagesWaitAgainWhenTheyAreToBeRedelivered() {
        List<String> many = IntStream.range(0, 700).mapToObj(i -> "user::" + i).toList();
        List<String> ids = List.of("a", "b", "c");
        ids.forEach(id -> outbox.add(new Message(id, "default", many), false, Duration.ZERO));
        outbox.delivered(ids, RETENTION);
        outbox.redeliver("other");
        assertThat(due()).isEmpty();

        outbox.redeliver("default");
        assertThat(keys()).hasSize(1400);
        outbox.delete(ids);
        assertThat(due()).extracting(Due::state).containsOnly(State.WAITING);
    }

    @Test
    void anOpenMessageIsPostponedAndClosed() {
        outbox.add(message("m", "user::1"), false, RETENTION);
        outbox.postpone(List.of("m"), RETENTION);
        assertThat(due()).isEmpty();
        outbox.close(List.of("m"));
        assertThat(due()).extracting(Due::state).containsExactly(State.WAITING);
    }

    @Test
    void anOpenMessageEndsWithItsLease() {
        outbox.add(message("m", "user::1"), false, SECOND);
        await().until(() -> due().get(0).state() == State.WAITING);
    }

    /** The update took longer than its lease. */
    @Test
    void aMessageThatWasDeliveredBeforeItIsClosedIsDeliveredAgain() {
        outbox.add(message("m", "user::1"), false, RETENTION);
        outbox.delivered(List.of("m"), RETENTION);
        outbox.close(List.of("m"));
        assertThat(due()).extracting(Due::state).containsExactly(State.WAITING);
    }

    @Test
    void durationsMayBeLong() {
        outbox.add(message("m", "user::1"), false, Duration.ofDays(30));
        assertThat(due()).extracting(Due::state).containsExactly(State.OPEN);
    }

    /** Another node delivers them between the two queries of a page. */
    @Test
    void aPageWhoseMessagesHaveJustBeenDeletedIsNotTheLastOne() {
        List<String> ids = IntStream.range(0, 6).mapToObj(i -> "m" + i).toList();
        ids.forEach(id -> outbox.add(message(id, "user::" + id), false, Duration.ZERO));
        outbox.delivered(ids, RETENTION);
        Deque<String> deleted = new ArrayDeque<>(ids.subList(0, 4));
        JdbcOutbox reader =
                new JdbcOutbox(beforeEach("message_id in", () -> outbox.delete(next(deleted, 2))), "ec:", begun::peek);
        List<String> read = new ArrayList<>();
        for (List<Message> page = reader.all("default", "", 2); !page.isEmpty(); ) {
            page.forEach(message -> read.add(message.id()));
            page = reader.all("default", read.get(read.size() - 1), 2);
        }
        assertThat(deleted).isEmpty();
        assertThat(read).contains("m4", "m5");
    }

    private static List<String> next(Deque<String> ids, int count) {
        return Stream.generate(ids::poll).limit(count).filter(Objects::nonNull).toList();
    }

    /** The data source, with an action before each query that contains these words. */
    private DataSource beforeEach(String words, Runnable action) {
        return new DelegatingDataSource(dataSource) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                return (Connection) Proxy.newProxyInstance(
                        getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                            boolean isQuery = method.getName().equals("prepareStatement");
                            if (isQuery && String.valueOf(arguments[0]).contains(words)) {
                                action.run();
                            }
                            return method.invoke(connection, arguments);
                        });
            }
        };
    }

    private static Message message(String id, String key) {
        return new Message(id, "default", List.of(key));
    }

    private List<Due> due() {
        return outbox.due("default", 100);
    }

    private List<String> keys() {
        return due().stream().flatMap(due -> due.message().keys().stream()).toList();
    }

    private int count() {
        return jdbc.sql("select count(*) from easy_cache_outbox where message_id <> 'identity'")
                .query(Integer.class)
                .single();
    }

    private void makeDue() {
        jdbc.sql("update easy_cache_outbox set due_at = current_timestamp - interval '1' second")
                .update();
    }

    private static void onAnotherThread(Runnable action) {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            other.submit(action).get();
        } catch (Exception failed) {
            throw new AssertionError(failed);
        } finally {
            other.shutdownNow();
        }
    }
}
