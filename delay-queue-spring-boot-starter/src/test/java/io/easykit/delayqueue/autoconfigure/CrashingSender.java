package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendPhase;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
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
 * Stores orders and sends a message for each in the same transaction, in a separate process that a test kills. Its
 * arguments are the settings of the application.
 *
 * <p>First it places one order for each phase and point. The thread of the order stops when its transaction reaches
 * this point. The line {@link #ALL_STOPPED} is printed when all have stopped. Then further orders follow endlessly.
 * Each is printed when it is complete.
 */
final class CrashingSender {

    static final String TOPIC = "crash-orders";
    static final String ALL_STOPPED = "all have stopped";
    static final String DONE = "done ";

    private static final int CUSTOMERS = 4;

    /** {@link OutboxCrashProgram} has the outbox. */
    private static final List<SendPhase> PHASES =
            List.of(SendPhase.BEFORE_COMMIT, SendPhase.AFTER_COMMIT, SendPhase.IMMEDIATELY);

    private static final ThreadLocal<@Nullable Point> STOP = new ThreadLocal<>();
    private static final CountDownLatch ON_THE_WAY = new CountDownLatch(PHASES.size() * Point.values().length);

    private CrashingSender() {}

    /** The points of a transaction, in temporal order if messages are stored before the commit. */
    enum Point {
        BEFORE_THE_SEND,
        AFTER_THE_SEND,
        AS_THE_COMMIT_BEGINS,
        AFTER_THE_STORE,
        BEFORE_THE_COMMIT,
        AFTER_THE_COMMIT,
        AFTER_THE_TRANSACTION
    }

    public static void main(String[] settings) throws InterruptedException {
        Orders orders = new SpringApplication(Application.class).run(settings).getBean(Orders.class);
        for (SendPhase phase : PHASES) {
            for (Point point : Point.values()) {
                new Thread(() -> orderUntil(point, phase, orders)).start();
            }
        }
        ON_THE_WAY.await();
        System.out.println(ALL_STOPPED);
        AtomicLong number = new AtomicLong();
        IntStream.range(0, CUSTOMERS).forEach(i -> new Thread(() -> orderWithoutEnd(number, orders)).start());
    }

    /** Name of the order that stops there. */
    static String order(SendPhase phase, Point point) {
        return phase + " " + point;
    }

    private static void orderUntil(Point point, SendPhase phase, Orders orders) {
        STOP.set(point);
        orders.order(order(phase, point), phase);
    }

    private static void orderWithoutEnd(AtomicLong number, Orders orders) {
        while (true) {
            String id = "number " + number.incrementAndGet();
            orders.order(id, SendPhase.BEFORE_COMMIT);
            System.out.println(DONE + id);
        }
    }

    /** Blocks if the thread must stop here. */
    private static void reach(Point here) {
        if (here == STOP.get()) {
            ON_THE_WAY.countDown();
            while (true) {
                LockSupport.park();
            }
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
        DelayQueueListener stopWhenStored() {
            return new DelayQueueListener() {
                @Override
                public void onSent(DelayQueueEvent.Sent event) {
                    reach(Point.AFTER_THE_STORE);
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

        void order(String id, SendPhase phase) {
            transactions.executeWithoutResult(status -> {
                TransactionSynchronizationManager.registerSynchronization(new StopInTransaction());
                database.sql("insert into orders values (?)").param(id).update();
                reach(Point.BEFORE_THE_SEND);
                queue.send(OutgoingMessage.of(TOPIC, id).phase(phase));
                reach(Point.AFTER_THE_SEND);
            });
            reach(Point.AFTER_THE_TRANSACTION);
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
}
