package io.easykit.delayqueue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.boot.JdbcSchema;
import io.easykit.boot.SchemaMode;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.store.SendOutbox.Backlog;
import io.easykit.delayqueue.store.SendOutbox.Lease;
import io.easykit.delayqueue.store.SendOutbox.Owner;
import io.easykit.delayqueue.store.SendOutbox.Row;
import io.easykit.delayqueue.store.SendOutbox.RowId;
import io.easykit.delayqueue.store.SendOutbox.Send;
import io.easykit.delayqueue.store.SendOutbox.Written;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.support.Bytes;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
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
class JdbcSendOutboxTests {

    private static final String URL = "easykit.outbox.url";

    @Parameter
    private String url;

    /** The transactions that have begun on this thread and have not ended, the latest first. */
    private final Deque<TransactionExecution> begun = new ArrayDeque<>();

    private boolean committed;
    private DataSource dataSource;
    private JdbcClient jdbc;
    private TransactionTemplate transaction;
    private JdbcSendOutbox outbox;

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
        dataSource = new DriverManagerDataSource(
                url.contains(":h2:") ? url.formatted(UUID.randomUUID()) + ";DB_CLOSE_DELAY=-1" : url);
        jdbc = JdbcClient.create(dataSource);
        jdbc.sql("drop table if exists delay_queue_outbox").update();
        jdbc.sql("drop table if exists delay_queue_outbox_lease").update();
        transaction = new TransactionTemplate(reporting(dataSource));
        install();
        outbox = outbox("dq:");
    }

    private JdbcSendOutbox outbox(String queue) {
        return new JdbcSendOutbox(
                dataSource, queue, () -> begun.isEmpty() ? null : new SendOutboxTransaction(begun.peek(), committed));
    }

    private DataSourceTransactionManager reporting(DataSource of) {
        DataSourceTransactionManager manager = new DataSourceTransactionManager(of);
        manager.setNestedTransactionAllowed(true);
        manager.addListener(new TransactionExecutionListener() {
            @Override
            public void afterBegin(TransactionExecution execution, @Nullable Throwable failure) {
                begun.push(execution);
            }

            @Override
            public void afterCommit(TransactionExecution execution, @Nullable Throwable failure) {
                begun.remove(execution);
            }

            @Override
            public void afterRollback(TransactionExecution execution, @Nullable Throwable failure) {
                begun.remove(execution);
            }
        });
        return manager;
    }

    private void install() {
        SendOutboxSchema schema = new SendOutboxSchema(
                dataSource,
                new JdbcSchema.Settings("delay-queue.outbox", SchemaMode.ALWAYS, SendOutboxSchema.LOCATION, null));
        schema.setResourceLoader(new DefaultResourceLoader());
        schema.initializeDatabase();
    }

    private static Written row(String topic, String id, long nonce) {
        return new Written(
                new Send(topic, id, nonce, 5_000_000_000_000L, true, 1000 + nonce, null),
                Bytes.of(new byte[] {1, 2, (byte) nonce}));
    }

    private void commit(Written... rows) {
        transaction.executeWithoutResult(status -> outbox.write("me", List.of(rows)));
    }

    private List<Row> rows() {
        return outbox.rows("me", 0, Set.of(), 100);
    }

    private List<String> ids() {
        return rows().stream().map(row -> row.send().id()).toList();
    }

    @Test
    void theScriptMayRunAgain() {
        commit(row("t", "a", 1));
        install();
        assertThat(outbox.check()).isTrue();
        assertThat(ids()).containsExactly("a");
    }

    @Test
    void aMissingTableIsNoticed() {
        jdbc.sql("drop table delay_queue_outbox_lease").update();
        assertThatThrownBy(outbox::check).isInstanceOf(SendOutboxException.class);
    }

    @Test
    void anUnreachableDatabaseIsNoMissingTable() {
        DataSource away = new DriverManagerDataSource("jdbc:h2:tcp://localhost:1/none");
        assertThat(new JdbcSendOutbox(away, "dq:", () -> null).check()).isFalse();
    }

    @Test
    void keepsAllPartsOfAMessageInTheOrderOfTheSends() {
        Send plain = new Send("orders", "größe ", -7, 1, false, 2, null);
        Send waiting = new Send("a/b:c", "b", Long.MIN_VALUE, 9, true, 3, new ReplicaWait(2, Duration.ofMillis(1500)));
        byte[] large = new byte[300_000];
        large[299_999] = 5;
        commit(new Written(plain, Bytes.of(large)), new Written(waiting, Bytes.of(new byte[] {-1})));

        List<Row> rows = rows();
        assertThat(rows).extracting(Row::send).containsExactly(plain, waiting);
        assertThat(rows).extracting(Row::size).containsExactly(300_000, 1);
        List<RowId> numbers = rows.stream().map(Row::id).toList();
        assertThat(outbox.frames(numbers))
                .hasSize(2)
                .containsEntry(numbers.get(0), Bytes.of(large))
                .containsEntry(numbers.get(1), Bytes.of(new byte[] {-1}));
        outbox.delete(numbers.subList(0, 1));
        assertThat(ids()).containsExactly("b");
        assertThat(outbox.frames(numbers)).containsOnlyKeys(numbers.get(1));
    }

    /** A database that has lost commits gives the numbers of their rows again. */
    @Test
    void takesNoOtherRowWithTheSameNumber() {
        commit(row("t", "a", 1));
        long number = rows().get(0).number();
        RowId lost = new RowId(number, 2);

        assertThat(outbox.frames(List.of(lost))).isEmpty();
        outbox.delete(List.of(lost));

        assertThat(ids()).containsExactly("a");
    }

    /** H2 keeps the timeout of a statement for all later ones of the connection. */
    @Test
    void leavesTheQueryTimeoutOfAConnectionAsItWas() throws Exception {
        transaction.executeWithoutResult(status -> {
            outbox.write("me", List.of(row("t", "a", 1)));
            assertThat(queryTimeout(DataSourceUtils.getConnection(dataSource))).isZero();
        });
        try (Connection connection = dataSource.getConnection()) {
            JdbcSendOutbox pooled =
                    new JdbcSendOutbox(new SingleConnectionDataSource(connection, true), "dq:", () -> null);
            assertThat(pooled.backlog().rows()).isOne();
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

    @Test
    void readsInPagesAndLeavesOutTopics() {
        commit(row("t", "a", 1), row("u", "b", 2), row("t", "c", 3), row("v", "d", 4));

        List<Row> first = outbox.rows("me", 0, Set.of("u"), 2);
        assertThat(first).extracting(row -> row.send().id()).containsExactly("a", "c");
        assertThat(outbox.rows("me", first.get(1).number(), Set.of("u", "x"), 2))
                .extracting(row -> row.send().id())
                .containsExactly("d");
        assertThat(outbox.rows("another", 0, Set.of(), 100)).isEmpty();
        assertThat(outbox("other-queue:").rows("me", 0, Set.of(), 100)).isEmpty();
    }

    @Test
    void showsRowsAfterTheCommitOnly() {
        transaction.executeWithoutResult(status -> {
            assertThat(outbox.write("me", List.of(row("t", "a", 1)))).isTrue();
            assertThat(ids()).isEmpty();
        });
        assertThat(ids()).containsExactly("a");
    }

    @Test
    void forgetsRowsOfARollback() {
        transaction.executeWithoutResult(status -> {
            outbox.write("me", List.of(row("t", "a", 1)));
            status.setRollbackOnly();
        });
        assertThat(ids()).isEmpty();
    }

    @Test
    void forgetsRowsOfARollbackToASavepoint() {
        transaction.executeWithoutResult(status -> {
            outbox.write("me", List.of(row("t", "a", 1)));
            Object savepoint = status.createSavepoint();
            outbox.write("me", List.of(row("t", "b", 2)));
            status.rollbackToSavepoint(savepoint);
        });
        assertThat(ids()).containsExactly("a");
    }

    @Test
    void withdrawsRowsOfItsTransaction() {
        commit(row("t", "a", 1));
        transaction.executeWithoutResult(status -> {
            outbox.write("me", List.of(row("t", "b", 2), row("t", "c", 3)));
            assertThat(outbox.withdraw("me", List.of(2L, 99L))).isEqualTo(1);
            assertThat(outbox.withdraw("me", List.of(2L))).isZero();
        });
        assertThat(ids()).containsExactly("a", "c");
    }

    /** MySQL and MariaDB lock gaps of an index, unless a row is found by its primary key. */
    @Test
    void aTransactionThatHasWithdrawnARowHoldsUpNoOther() {
        commit(row("t", "a", -1000), row("t", "b", 1000));
        begun.clear();
        transaction.executeWithoutResult(status -> {
            outbox.write("me", List.of(row("t", "c", 2)));
            assertThat(outbox.withdraw("me", List.of(2L))).isEqualTo(1);
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> insertBeside(3));
            assertThat(other).succeedsWithin(Duration.ofSeconds(10));
        });
        assertThat(ids()).containsExactly("a", "b", "other");
    }

    /** MariaDB finds several rows of a small table by a scan, which waits for the rows of others. */
    @Test
    void anOpenTransactionHoldsUpNoDeletionOfOtherRows() {
        transaction.executeWithoutResult(status -> {
            outbox.write("other", List.of(row("t", "open", 99)));
            CompletableFuture<Void> relay = CompletableFuture.runAsync(() -> {
                for (long nonce = 1; nonce <= 8; nonce++) {
                    insertBeside(nonce);
                }
                outbox.delete(rows().stream().map(Row::id).toList());
            });
            assertThat(relay).succeedsWithin(Duration.ofSeconds(3));
        });
        assertThat(ids()).isEmpty();
    }

    /** It happens inside the transaction of the application. */
    @Test
    void anOpenTransactionHoldsUpNoWithdrawalOfOtherRows() {
        transaction.executeWithoutResult(status -> {
            outbox.write("other", List.of(row("t", "open", 99)));
            CompletableFuture<Integer> withdrawn = CompletableFuture.supplyAsync(() -> transaction.execute(own -> {
                List<Long> nonces = LongStream.rangeClosed(1, 8).boxed().toList();
                outbox.write(
                        "me",
                        nonces.stream()
                                .map(nonce -> row("t", "m" + nonce, nonce))
                                .toList());
                return outbox.withdraw("me", nonces);
            }));
            assertThat(withdrawn).succeedsWithin(Duration.ofSeconds(3)).isEqualTo(8);
        });
        assertThat(ids()).isEmpty();
    }

    /** Without a pool nobody else restores it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void leavesTheConnectionAsItWasAlsoIfADeletionFails(boolean fails) throws SQLException {
        insertBeside(1);
        List<RowId> stored = rows().stream().map(Row::id).toList();
        try (Connection only = dataSource.getConnection()) {
            dataSource = new SingleConnectionDataSource(only, true);
            outbox = outbox("dq:");
            if (fails) {
                jdbc.sql("drop table delay_queue_outbox").update();
                assertThatExceptionOfType(SendOutboxException.class).isThrownBy(() -> outbox.delete(stored));
            } else {
                outbox.delete(stored);
                assertThat(ids()).as("as others see it").isEmpty();
            }
            assertThat(only.getAutoCommit()).isTrue();
        }
    }

    /** In a transaction of its own, as another node does. */
    private void insertBeside(long nonce) {
        jdbc.sql("insert into delay_queue_outbox (queue, owner, topic, message_id, nonce, due_at, is_delay, sent_at,"
                        + " frame_size, frame) values ('dq:', 'me', 't', ?, ?, 1, 0, 1, 1, ?)")
                .param("other".getBytes(StandardCharsets.UTF_8))
                .param(nonce)
                .param(new byte[] {1})
                .update();
    }

    @Test
    void writesNothingOnceTheTransactionHasCommitted() {
        transaction.executeWithoutResult(status -> {
            committed = true;
            assertThat(outbox.write("me", List.of(row("t", "a", 1)))).isFalse();
        });
        assertThat(ids()).isEmpty();
    }

    @Test
    void withdrawsNothingOnceTheTransactionHasCommitted() {
        transaction.executeWithoutResult(status -> {
            outbox.write("me", List.of(row("t", "a", 1)));
            committed = true;
            assertThat(outbox.withdraw("me", List.of(1L))).isZero();
        });
        assertThat(ids()).containsExactly("a");
    }

    @Test
    void refusesToWriteWhereTheRowWouldNotBePartOfTheTransaction() {
        assertThatThrownBy(() -> outbox.write("me", List.of(row("t", "a", 1))))
                .isInstanceOf(SendOutboxException.class)
                .hasMessageContaining("nothing was sent");

        DataSource other = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        TransactionTemplate foreign = new TransactionTemplate(reporting(other));
        assertThatThrownBy(() -> foreign.execute(status -> outbox.write("me", List.of(row("t", "a", 1)))))
                .isInstanceOf(SendOutboxException.class)
                .hasMessageContaining("DelayQueueDataSource");
        // The connection of the outer transaction is still bound.
        transaction.executeWithoutResult(outer -> assertThatThrownBy(
                        () -> foreign.execute(status -> outbox.write("me", List.of(row("t", "a", 1)))))
                .isInstanceOf(SendOutboxException.class));

        TransactionTemplate readOnly = new TransactionTemplate(reporting(dataSource));
        readOnly.setReadOnly(true);
        assertThatThrownBy(() -> readOnly.execute(status -> outbox.write("me", List.of(row("t", "a", 1)))))
                .isInstanceOf(SendOutboxException.class)
                .hasMessageContaining("read-only");
        assertThat(ids()).isEmpty();
    }

    @Test
    void writesInANewTransactionInsideAnother() {
        TransactionTemplate inner = new TransactionTemplate(transaction.getTransactionManager());
        inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        transaction.executeWithoutResult(outer -> {
            outbox.write("me", List.of(row("t", "outer", 1)));
            inner.executeWithoutResult(status -> outbox.write("me", List.of(row("t", "inner", 2))));
            outer.setRollbackOnly();
        });
        assertThat(ids()).containsExactly("inner");
    }

    @Test
    void givesALeaseToOneHolder() {
        assertThat(outbox.take("me", "me", null)).isTrue();
        assertThat(outbox.take("me", "you", null)).isFalse();
        assertThat(outbox.renew("me", "you")).isFalse();
        assertThat(outbox.renew("me", "me")).isTrue();
        assertThat(outbox.take("me", "you", new Lease("me", 0))).isFalse();
        assertThat(outbox.take("me", "you", new Lease("me", 1))).isTrue();
        assertThat(outbox.renew("me", "me")).isFalse();
        outbox.release("me", "me");
        assertThat(outbox.renew("me", "you")).isTrue();
        outbox.release("me", "you");
        assertThat(outbox.take("me", "me", null)).isTrue();
        assertThat(outbox("other-queue:").take("me", "you", null)).isTrue();
    }

    @Test
    void givesALeaseToOneOfManyThatTakeItAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<Boolean>> taken = IntStream.range(0, 8)
                    .mapToObj(i -> threads.submit(() -> outbox.take("me", "holder" + i, null)))
                    .toList();
            int holders = 0;
            for (Future<Boolean> one : taken) {
                holders += one.get() ? 1 : 0;
            }
            assertThat(holders).isEqualTo(1);
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void namesTheOwnersOfRowsWithTheirLeases() {
        commit(row("t", "a", 1), row("t", "b", 2));
        transaction.executeWithoutResult(status -> outbox.write("you", List.of(row("t", "c", 3))));
        outbox.take("me", "holder", null);
        outbox.take("nobody", "holder", null);

        assertThat(outbox.owners())
                .containsExactlyInAnyOrder(
                        new Owner("me", new Lease("holder", 0)),
                        new Owner("you", null),
                        new Owner("nobody", new Lease("holder", 0)));
        assertThat(outbox("other-queue:").owners()).isEmpty();
    }

    /** The application may catch the exception, and commit the rest of its work. */
    @Test
    void aFailedSendLeavesNoRowAndATransactionThatGoesOn() {
        Written tooLong = row("t".repeat(200), "b", 2);
        transaction.executeWithoutResult(status -> {
            assertThatExceptionOfType(SendOutboxException.class)
                    .isThrownBy(() -> outbox.write("me", List.of(row("t", "a", 1), tooLong)));
            outbox.write("me", List.of(row("t", "c", 3)));
        });
        assertThat(ids()).containsExactly("c");
    }

    /** An application may catch it as well, as some do with an error in a library. */
    @Test
    void anErrorAfterTheInsertLeavesNoRow() {
        dataSource = new DelegatingDataSource(dataSource) {
            @Override
            public Connection getConnection() throws SQLException {
                return erringOnce(super.getConnection());
            }
        };
        outbox = outbox("dq:");
        new TransactionTemplate(reporting(dataSource)).executeWithoutResult(status -> {
            assertThatExceptionOfType(OutOfMemoryError.class)
                    .isThrownBy(() -> outbox.write("me", List.of(row("t", "a", 1))));
            outbox.write("me", List.of(row("t", "b", 2)));
        });
        assertThat(ids()).containsExactly("b");
    }

    /** A connection on which the release of the first savepoint fails with an error. */
    private static Connection erringOnce(Connection real) {
        AtomicBoolean erred = new AtomicBoolean();
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("releaseSavepoint") && erred.compareAndSet(false, true)) {
                        throw new OutOfMemoryError("Java heap space");
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** A local time would be ambiguous for an hour at the end of daylight saving time. */
    @ParameterizedTest
    @ValueSource(strings = {"MySQL", "MariaDB"})
    void readsNoLocalTime(String product) {
        assertThat(JdbcSendOutbox.clock(product)).contains("utc_timestamp(3)").doesNotContain("unix_timestamp");
    }

    @Test
    void readsTheClockOfTheDatabase() {
        long before = System.currentTimeMillis();
        assertThat(outbox.millis()).isBetween(before - 2000, before + 60_000);
    }

    @Test
    void countsTheRowsOfItsQueue() {
        assertThat(outbox.backlog()).isEqualTo(new Backlog(0, 0));
        commit(row("t", "a", 1), row("t", "b", 2));
        assertThat(outbox.backlog()).isEqualTo(new Backlog(2, 1001));
        assertThat(outbox("other-queue:").backlog()).isEqualTo(new Backlog(0, 0));
    }
}
