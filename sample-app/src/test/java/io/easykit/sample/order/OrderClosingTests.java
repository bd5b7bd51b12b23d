package io.easykit.sample.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.test.DelayQueueAssert;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.autoconfigure.AutoConfigureTestDelayQueue;
import io.easykit.sample.stock.Stock;
import io.easykit.sample.stock.StockService;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

/** Fifteen minutes in milliseconds. Redis is at a port where no server listens. */
@AutoConfigureTestDelayQueue
@TestPropertySource(properties = {"shop.payment-timeout=15m", "easy-cache.enabled=false", "spring.data.redis.port=1"})
class OrderClosingTests extends OrderClosingContract {

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private OrderService orders;

    @Autowired
    private StockService stocks;

    @Autowired
    private MeterRegistry meters;

    @Override
    DelayQueueAssert queue() {
        return assertThat(queue);
    }

    @Override
    void after(Duration time, Runnable assertion) {
        queue.advance(time);
        assertion.run();
    }

    @Test
    void closesTheOrderToTheMillisecond() {
        stocks.save(new Stock("SKU-7", 10));
        Order order = orders.place(7, 1, null);

        queue.advance(Duration.ofMinutes(15).minusMillis(1));
        assertThat(orders.find(order.id()).orElseThrow().status()).isEqualTo(Order.Status.PENDING_PAYMENT);

        queue.advance(Duration.ofMillis(1));
        assertThat(orders.find(order.id()).orElseThrow().status()).isEqualTo(Order.Status.CLOSED);
    }

    @Test
    void closesTheOrderOnceAlthoughItsMessageIsDeliveredTwice() {
        stocks.save(new Stock("SKU-7", 10));
        Order order = orders.place(7, 1, null);
        queue.faults().crashAfterNextHandler();

        queue.advance(Duration.ofMinutes(16));

        assertThat(queue).hasRunTimes("order-close", 2).hasNoMessages("order-close");
        assertThat(orders.find(order.id()).orElseThrow().status()).isEqualTo(Order.Status.CLOSED);
        assertThat(stocks.find("SKU-7").orElseThrow().quantity()).isEqualTo(10);
        assertThat(meters.get("delayqueue.repeated")
                        .tag("topic", "order-close")
                        .counter()
                        .count())
                .isEqualTo(1);
    }
}
