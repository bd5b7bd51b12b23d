package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.support.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Stores orders and sends a message for each through the outbox, in a separate process that a test kills. Its arguments are
 * the point at which the relay stops, and the settings of the application.
 *
 * <p>The first order is for the relay, which stops at its point, if Redis is there. Then one order is rolled back, and one follows
 * for each point of a transaction. Its thread stops there. {@link #ALL_STOPPED} is printed when all have stopped.
 *
 * <p>If the setting {@link #GO_ON} names a file, the relay waits only until this file exists. Then it goes on, for example with a
 * Redis that is away by then, and prints {@link #WENT_ON}.
 */
final class OutboxCrashProgram {

    static final String TOPIC = "outbox-orders";
    static final String ALL_STOPPED = "all have stopped";
    static final String AWAY = "AWAY";
    static final String ROLLED_BACK = "ROLLED_BACK";
    static final String GO_ON = "go-on";
    static final String WENT_ON = "the relay went on";

    private static final ThreadLocal<@Nullable Point> STOP = new ThreadLocal<>();
    private static final List<Point> OF_TRANSACTIONS =
            Stream.of(Point.values()).filter(point -> !point.isOfRelay()).toList();
    private static final CountDownLatch ON_THE_WAY = new CountDownLatch(OF_TRANSACTIONS.size());
    private static final CountDownLatch RELAY = new CountDownLatch(1);
    private static volatile @Nullable Point relayStop;
    private static volatile @Nullable Path goOn;

    private OutboxCrashProgram() {}

    /** The points of a message, in temporal order. */
    enum Point {
        /** The order is written, the message is not. */
        BEFORE_THE_SEND,
        /** The row of the message is written too. */
        AFTER_THE_SEND,
        /** The callbacks before the commit begin. */
        AS_THE_COMMIT_BEGINS,
        /** The callbacks have run, and the database is to commit. */
        BEFORE_THE_COMMIT,
        /** The database has committed, and the relay does not know of it. */
        AFTER_THE_COMMIT,
        /** The relay has read the row. */
        BEFORE_THE_STORE,
        /** Redis has the message, and its row is still there. */
        BEFORE_THE_DELETE,
        /** Redis has the message, and its row is gone. */
        AFTER_THE_DELETE;

        boolean isOfRelay() {
            return compareTo(BEFORE_THE_STORE) >= 0;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        String[] settings = Stream.of(arguments).skip(1).toArray(String[]::new);
        boolean isAway = arguments[0].equals(AWAY);
        goOn = Stream.of(settings)
                .filter(setting -> setting.startsWith("--" + GO_ON + "="))
                .map(setting -> Path.of(setting.substring(GO_ON.length() + 3)))
                .findAny()
                .orElse(null);
        relayStop = isAway ? null : Point.valueOf(arguments[0]);
        Orders orders = new SpringApplication(Application.class).run(settings).getBean(Orders.class);
        orders.order(arguments[0]);
        if (!isAway) {
            RELAY.await();
        }
        orders.rollBack(ROLLED_BACK);
        for (Point point : OF_TRANSACTIONS) {
            new Thread(() -> {
                        STOP.set(point);
                        orders.order(point.name());
                    })
                    .start();
        }
        ON_THE_WAY.await();
        System.out.println(ALL_STOPPED);
    }

    private static void reach(Point here) {
        if (here == STOP.get()) {
            ON_THE_WAY.countDown();
            stop();
        }
        if (here == relayStop) {
            RELAY.countDown();
            awaitGoOn();
            System.out.println(WENT_ON);
        }
    }

    private static void awaitGoOn() {
        Path file = goOn;
        if (file == null) {
            stop();
            return;
        }
        try (WatchService created = file.getFileSystem().newWatchService()) {
            file.toAbsolutePath().getParent().register(created, StandardWatchEventKinds.ENTRY_CREATE);
            while (!Files.exists(file)) {
                created.take().reset();
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void stop() {
        while (true) {
            LockSupport.park();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {

        @Bean
        JdbcTransactionManager transactionManager(DataSource database) {
            return new StoppingTransactionManager(database);
        }

        @Bean
        static BeanPostProcessor stoppingOutbox() {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return bean instanceof SendOutbox outbox ? new StoppingOutbox(outbox) : bean;
                }
            };
        }

        @Bean
        Orders orders(JdbcClient database, JdbcTransactionManager transactions, DelayQueueTemplate queue) {
            database.sql("create table orders (id varchar(50) primary key)").update();
            return new Orders(database, new TransactionTemplate(transactions), queue);
        }
    }

    private record Orders(JdbcClient database, TransactionTemplate transactions, DelayQueueTemplate queue) {

        void rollBack(String id) {
            transactions.executeWithoutResult(status -> {
                database.sql("insert into orders values (?)").param(id).update();
                queue.send(TOPIC, id, Duration.ofSeconds(1));
                status.setRollbackOnly();
            });
        }

        void order(String id) {
            transactions.executeWithoutResult(status -> {
                TransactionSynchronizationManager.registerSynchronization(new StopInTransaction());
                database.sql("insert into orders values (?)").param(id).update();
                reach(Point.BEFORE_THE_SEND);
                queue.send(TOPIC, id, Duration.ofSeconds(1));
                reach(Point.AFTER_THE_SEND);
            });
        }
    }

    private static final class StoppingTransactionManager extends JdbcTransactionManager {

        private static final long serialVersionUID = 1;

        StoppingTransactionManager(DataSource database) {
            super(database);
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            reach(Point.BEFORE_THE_COMMIT);
            super.doCommit(status);
            reach(Point.AFTER_THE_COMMIT);
        }
    }

    /** Called first before the commit. */
    private static final class StopInTransaction implements TransactionSynchronization {

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            reach(Point.AS_THE_COMMIT_BEGINS);
        }
    }

    private record StoppingOutbox(SendOutbox behind) implements SendOutbox {

        @Override
        public boolean write(String owner, List<Written> rows) {
            return behind.write(owner, rows);
        }

        @Override
        public int withdraw(String owner, Collection<Long> nonces) {
            return behind.withdraw(owner, nonces);
        }

        @Override
        public List<Row> rows(String owner, long after, Set<String> except, int limit) {
            return behind.rows(owner, after, except, limit);
        }

        @Override
        public Map<RowId, Bytes> frames(Collection<RowId> rows) {
            Map<RowId, Bytes> frames = behind.frames(rows);
            reach(Point.BEFORE_THE_STORE);
            return frames;
        }

        @Override
        public void delete(Collection<RowId> rows) {
            reach(Point.BEFORE_THE_DELETE);
            behind.delete(rows);
            reach(Point.AFTER_THE_DELETE);
        }

        @Override
        public List<Owner> owners() {
            return behind.owners();
        }

        @Override
        public boolean take(String owner, String holder, @Nullable Lease seen) {
            return behind.take(owner, holder, seen);
        }

        @Override
        public boolean renew(String owner, String holder) {
            return behind.renew(owner, holder);
        }

        @Override
        public void release(String owner, String holder) {
            behind.release(owner, holder);
        }

        @Override
        public long millis() {
            return behind.millis();
        }

        @Override
        public Backlog backlog() {
            return behind.backlog();
        }
    }
}
