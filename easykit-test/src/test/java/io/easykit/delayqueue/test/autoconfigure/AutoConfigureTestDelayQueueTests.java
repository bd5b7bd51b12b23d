package io.easykit.delayqueue.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.autoconfigure.OrderApplication.CloseOrder;
import io.easykit.delayqueue.test.autoconfigure.OrderApplication.InvalidOrderException;
import io.easykit.delayqueue.test.autoconfigure.OrderApplication.Orders;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.test.context.transaction.TestTransaction;
import org.springframework.transaction.annotation.Transactional;

/** Redis is at a port where no server listens. */
@SpringBootTest(properties = "spring.data.redis.port=1")
@AutoConfigureTestDelayQueue
class AutoConfigureTestDelayQueueTests {

    private static final String TOPIC = "order-close";
    private static final Duration HALF_AN_HOUR = OrderApplication.PAYMENT_TIME;

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private DelayQueueTemplate template;

    @Autowired
    private Orders orders;

    @Autowired
    private ApplicationContext context;

    private static long lastOrder = 100;

    private final long order = ++lastOrder;

    @Test
    void closesAnOrderAfterHalfAnHour() {
        orders.place(order);
        assertThat(queue).hasWaiting(TOPIC).dueIn(HALF_AN_HOUR).withPayload(new CloseOrder(order));

        queue.advance(HALF_AN_HOUR.minusSeconds(1));
        assertThat(orders.status(order)).isEqualTo("OPEN");

        queue.advance(Duration.ofSeconds(1));
        assertThat(orders.status(order)).isEqualTo("CLOSED");
        assertThat(queue).hasRunTimes(TOPIC, 1).hasNoMessages(TOPIC);
    }

    /** Consumers back off by random times, and must not stay between two milliseconds then. */
    @RepeatedTest(5)
    void closesAnOrderInTimeAfterAnOutage() {
        queue.faults().storeAway();
        queue.advance(Duration.ofSeconds(5));
        queue.faults().heal();
        queue.advance(Duration.ofMinutes(1));

        orders.place(order);
        queue.advance(HALF_AN_HOUR.minusMillis(1));
        assertThat(orders.status(order)).isEqualTo("OPEN");

        queue.advance(Duration.ofMillis(1));
        assertThat(orders.status(order)).isEqualTo("CLOSED");
    }

    @Test
    void sendsNothingIfTheTransactionRollsBack() {
        assertThatThrownBy(() -> orders.place(-order)).isInstanceOf(InvalidOrderException.class);

        assertThat(queue).hasNoMessages(TOPIC);
    }

    @Test
    @Transactional
    void sendsAtTheCommitOfTheTransactionOfTheTest() {
        orders.place(order);
        assertThat(queue).hasNoMessages(TOPIC);

        TestTransaction.flagForCommit();
        TestTransaction.end();
        assertThat(queue).hasWaiting(TOPIC);
    }

    @Test
    void appliesErrorHandlersAndDeliversDeadLetters() {
        template.send(TOPIC, new CloseOrder(0));

        queue.advance(Duration.ofMinutes(1));

        assertThat(queue)
                .hasDeadLetter(TOPIC)
                .withError("InvalidOrderException")
                .withFailures(1);
        assertThat(orders.dead()).extracting(DeadLetter::payload).containsExactly(new CloseOrder(0));
        orders.dead().clear();
    }

    @Test
    void retries() {
        template.send("partner", "hello");

        queue.runDue();
        assertThat(queue).hasWaiting("partner").withFailures(1).withError("the partner is away");

        queue.advance(Duration.ofMinutes(2));
        assertThat(queue).hasDeadLetter("partner").withFailures(2).and().hasRunTimes("partner", 2);
    }

    @Test
    void chargesOnceAlthoughTheMessageIsDeliveredTwice() {
        template.send("charge", order);
        queue.faults().crashAfterNextHandler();

        queue.runDue();
        assertThat(queue).hasRunTimes("charge", 1);
        assertThat(orders.charges(order)).isEqualTo(1);

        queue.advance(Duration.ofMinutes(2));
        assertThat(queue).hasNoMessages("charge").hasRunTimes("charge", 1);
        assertThat(orders.charges(order)).isEqualTo(1);
    }

    @Test
    void showsMessagesInMeters(@Autowired MeterRegistry meters) {
        template.send("partner", "hello", HALF_AN_HOUR);

        queue.advance(Duration.ofSeconds(10));

        assertThat(meters.get("delayqueue.messages")
                        .tags("topic", "partner", "state", "scheduled")
                        .gauge()
                        .value())
                .isEqualTo(1);
    }

    @Test
    void showsAStoreThatIsAwayInMeters(@Autowired MeterRegistry meters) {
        Gauge available = meters.get("delayqueue.available").gauge();
        assertThat(available.value()).isEqualTo(1);

        queue.faults().storeAway();
        queue.advance(Duration.ofSeconds(5));
        assertThat(available.value()).isZero();
    }

    @Test
    void reportsHealth(@Autowired @Qualifier("delayQueueHealthIndicator") HealthIndicator indicator) {
        assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);

        queue.faults().storeAway();
        queue.advance(Duration.ofSeconds(10));
        assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
    }

    @Test
    void opensNoConnectionToRedis() {
        assertThat(context.getBeansOfType(RedisQueueStore.class)).isEmpty();
        assertThat(context.getBeanNamesForType(LettuceConnectionFactory.class)).hasSize(1);
    }

    /** Each of them would fail if the one before left something behind. */
    @Nested
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    class Leaks {

        @Test
        @Order(1)
        void leavesMessagesFaultsAndStoppedListenersBehind(@Autowired DelayListenerRegistry registry) {
            template.send(TOPIC, new CloseOrder(0));
            template.send("partner", "hello");
            queue.advance(Duration.ofDays(1));
            template.send(TOPIC, new CloseOrder(order), HALF_AN_HOUR);
            template.send("partner", "due");
            registry.container(TOPIC).orElseThrow().pause();
            registry.container("partner").orElseThrow().stop();
            queue.faults().storeAway();
            orders.dead().clear();
        }

        @Test
        @Order(2)
        void beginsWithAnEmptyQueueAtThePresentTime() {
            assertThat(queue)
                    .hasNoMessages(TOPIC)
                    .hasNoMessages("partner")
                    .hasNoMessages(DeadLetter.topicOf(TOPIC))
                    .hasNotRun(TOPIC);
            assertThat(queue.runs()).isEmpty();
            assertThat(queue.now()).isBetween(Instant.now().minusSeconds(60), Instant.now());
        }

        @Test
        @Order(3)
        void beginsWithAllListenersRunning() {
            orders.place(order);
            template.send("partner", "hello");

            queue.advance(HALF_AN_HOUR);

            assertThat(orders.status(order)).isEqualTo("CLOSED");
            assertThat(queue).hasDeadLetter("partner");
        }
    }
}
