package io.easykit.delayqueue.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.test.DelayQueueTester;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** An application whose messages wait for a replica. */
@SpringBootTest(
        classes = OrderApplication.class,
        properties = {"spring.data.redis.port=1", "delay-queue.defaults.wait-for-replicas=1"})
@AutoConfigureTestDelayQueue
class ReplicaTests {

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private OrderApplication.Orders orders;

    @Test
    void commits() {
        orders.place(1);

        assertThat(orders.status(1)).isEqualTo("OPEN");
        assertThat(queue).hasWaiting("order-close").dueIn(OrderApplication.PAYMENT_TIME);
    }

    @Test
    void reportsADeadLetterOnce() {
        queue.template().send("order-close", new OrderApplication.CloseOrder(404));

        queue.advance(Duration.ofMinutes(2));

        assertThat(queue).hasDeadLetter("order-close");
        assertThat(orders.dead()).hasSize(1);
    }
}
