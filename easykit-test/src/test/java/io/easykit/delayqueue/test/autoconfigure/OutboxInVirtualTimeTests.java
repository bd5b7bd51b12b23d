package io.easykit.delayqueue.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.autoconfigure.OrderApplication.CloseOrder;
import io.easykit.delayqueue.test.autoconfigure.OrderApplication.InvalidOrderException;
import io.easykit.delayqueue.test.autoconfigure.OrderApplication.Orders;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** Sends of the phase outbox, whose rows lie in a database with real time. */
@SpringBootTest(
        classes = {OrderApplication.class, OutboxInVirtualTimeTests.Application.class},
        properties = {"spring.data.redis.port=1", "delay-queue.send-phase=outbox"})
@AutoConfigureTestDelayQueue
class OutboxInVirtualTimeTests {

    private static final String TOPIC = "order-close";
    private static final Duration HALF_AN_HOUR = OrderApplication.PAYMENT_TIME;
    private static final Duration MILLI = Duration.ofMillis(1);

    /** Counts its connections. */
    static final class CountedDataSource extends DelegatingDataSource {

        private final AtomicInteger connections = new AtomicInteger();

        CountedDataSource(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            connections.incrementAndGet();
            return super.getConnection();
        }
    }

    @TestConfiguration
    static class Application {

        @Bean
        static BeanPostProcessor counted() {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String beanName) {
                    return bean instanceof DataSource source ? new CountedDataSource(source) : bean;
                }
            };
        }
    }

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private DelayQueueTemplate template;

    @Autowired
    private Orders orders;

    @Autowired
    private JdbcTemplate database;

    private TransactionTemplate transaction;

    private static long lastOrder = 1000;

    private final long order = ++lastOrder;

    @Autowired
    void setTransactions(PlatformTransactionManager manager) {
        transaction = new TransactionTemplate(manager);
    }

    private void commit(OutgoingMessage message) {
        transaction.executeWithoutResult(status -> template.send(message));
    }

    private long rows() {
        return database.queryForObject("select count(*) from delay_queue_outbox", Long.class);
    }

    /** The first test of an application, and later ones. */
    @RepeatedTest(3)
    void closesAnOrderAfterHalfAnHour() {
        orders.place(order);
        assertThat(queue).hasWaiting(TOPIC).dueIn(HALF_AN_HOUR).withPayload(new CloseOrder(order));

        queue.advance(HALF_AN_HOUR.minus(MILLI));
        assertThat(orders.status(order)).isEqualTo("OPEN");

        queue.advance(MILLI);
        assertThat(orders.status(order)).isEqualTo("CLOSED");
        assertThat(queue).hasRunTimes(TOPIC, 1).hasNoMessages(TOPIC);
        assertThat(rows()).isZero();
    }

    @RepeatedTest(2)
    void countsTheDelayFromTheSendWithoutALookInBetween() {
        orders.place(order);

        queue.advance(HALF_AN_HOUR.minus(MILLI));
        assertThat(orders.status(order)).isEqualTo("OPEN");

        queue.advance(MILLI);
        assertThat(orders.status(order)).isEqualTo("CLOSED");
    }

    @Test
    void keepsDelaysWhileLeasesAreRenewed() {
        for (int second = 0; second < 15; second++) {
            queue.advance(Duration.ofSeconds(1));
            commit(OutgoingMessage.of("partner", second).id("p" + second).after(HALF_AN_HOUR));
            assertThat(queue).hasWaiting("partner").withId("p" + second).dueIn(HALF_AN_HOUR);
        }
    }

    @Test
    void keepsADelayAfterTimeInWhichNothingRan() {
        queue.time().skip(Duration.ofDays(1));
        orders.place(order);

        assertThat(queue).hasWaiting(TOPIC).dueIn(HALF_AN_HOUR);
    }

    @Test
    void keepsDelaysAndInstantsIfTheClockIsSet() {
        queue.time().setClock(queue.now().plus(Duration.ofDays(7)));
        queue.advance(Duration.ofHours(2));
        orders.place(order);
        commit(OutgoingMessage.of("partner", "x").at(queue.now().plus(HALF_AN_HOUR)));

        assertThat(queue).hasWaiting(TOPIC).dueIn(HALF_AN_HOUR);
        assertThat(queue).hasWaiting("partner").dueIn(HALF_AN_HOUR);
    }

    @Test
    void sendsNothingIfTheTransactionRollsBack() {
        assertThatThrownBy(() -> orders.place(-order)).isInstanceOf(InvalidOrderException.class);

        assertThat(queue).hasNoMessages(TOPIC);
        assertThat(rows()).isZero();
    }

    @Test
    @Transactional
    void sendsAtTheCommitOfTheTransactionOfTheTest() {
        orders.place(order);
        assertThat(queue).hasNoMessages(TOPIC);

        TestTransaction.flagForCommit();
        TestTransaction.end();
        assertThat(queue).hasWaiting(TOPIC).dueIn(HALF_AN_HOUR);
    }

    @Test
    void findsAndCancelsAMessageRightAfterTheCommit() {
        commit(OutgoingMessage.of("partner", "x").id("a").after(HALF_AN_HOUR));
        assertThat(template.cancel("partner", "a")).isEqualTo(ChangeOutcome.APPLIED);

        commit(OutgoingMessage.of("partner", "x").id("b").after(HALF_AN_HOUR));
        transaction.executeWithoutResult(
                status -> assertThat(template.cancel("partner", "b")).isEqualTo(ChangeOutcome.APPLIED));

        commit(OutgoingMessage.of("partner", "x").id("c").after(HALF_AN_HOUR));
        assertThat(template.find("partner", "c")).isPresent();
    }

    @Test
    void keepsMessagesWhileTheStoreIsAway() {
        queue.faults().storeAway();
        orders.place(order);
        assertThat(queue).hasNoMessages(TOPIC);

        queue.advance(HALF_AN_HOUR.minusMinutes(1));
        queue.faults().heal();
        queue.advance(Duration.ofSeconds(30));

        assertThat(queue).hasWaiting(TOPIC).dueIn(Duration.ofSeconds(30));
    }

    /** Statements of an empty outbox would make an advance by weeks last minutes. */
    @Test
    void seldomQueriesAnEmptyOutbox(@Autowired DataSource source) {
        CountedDataSource counted = (CountedDataSource) source;
        queue.runDue();
        int before = counted.connections.get();

        queue.advance(Duration.ofDays(1));

        assertThat(counted.connections.get() - before).isLessThan(500);
    }

    /** In a database that other processes use, too, their leases look as if they were never renewed: real time stands still. */
    @Test
    void leavesMessagesOfOtherProcessesToThem() {
        database.update(
                "insert into delay_queue_outbox (queue, owner, topic, message_id, nonce, due_at, is_delay, sent_at,"
                        + " frame_size, frame) values ('dq:', 'other', 'partner', X'61', 1, 0, 0, 0, 1, X'00')");
        database.update("insert into delay_queue_outbox_lease values ('dq:', 'other', 'other', 7)");

        queue.advance(Duration.ofHours(2));

        assertThat(database.queryForObject(
                        "select holder || renewals from delay_queue_outbox_lease where owner = 'other'", String.class))
                .isEqualTo("other7");
        assertThat(database.update("delete from delay_queue_outbox where owner = 'other'"))
                .isOne();
        database.update("delete from delay_queue_outbox_lease where owner = 'other'");
    }

    /** The second would fail if the first left something behind. */
    @Nested
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    class Leaks {

        private static final long CHARGED = 77;

        @Test
        @Order(1)
        void leavesACommittedMessageInTheOutbox() {
            queue.faults().storeAway();
            commit(OutgoingMessage.of("charge", CHARGED));
            queue.advance(HALF_AN_HOUR);
            assertThat(rows()).isOne();
        }

        @Test
        @Order(2)
        void beginsWithAnEmptyOutbox() {
            assertThat(rows()).isZero();
            assertThat(queue).hasNoMessages("charge");
            assertThat(orders.charges(CHARGED)).isZero();
        }
    }
}
