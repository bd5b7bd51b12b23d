package io.easykit.sample.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.test.DelayQueueAssert;
import io.easykit.sample.order.Order.Status;
import io.easykit.sample.stock.Stock;
import io.easykit.sample.stock.StockService;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Orders that are closed, in virtual time and in Redis. */
@SpringBootTest(webEnvironment = WebEnvironment.NONE)
abstract class OrderClosingContract {

    private static final String TOPIC = "order-close";

    @TempDir
    static Path dataDirectory;

    @Autowired
    private OrderService orders;

    @Autowired
    private StockService stocks;

    @Value("${shop.payment-timeout}")
    private Duration paymentTimeout;

    @DynamicPropertySource
    static void settings(DynamicPropertyRegistry properties) {
        properties.add("shop.data-dir", dataDirectory::toString);
    }

    /** Assertions about the queue. */
    abstract DelayQueueAssert queue();

    /** Lets this time pass, until an assertion holds. */
    abstract void after(Duration time, Runnable assertion);

    private Status status(Order order) {
        return orders.find(order.id()).orElseThrow().status();
    }

    private long quantity(String sku) {
        return stocks.find(sku).orElseThrow().quantity();
    }

    @Test
    void closesAnUnpaidOrderInTimeAndReturnsItsStock() {
        stocks.save(new Stock("SKU-1", 10));
        Order order = orders.place(1, 3, null);

        queue().hasWaiting(TOPIC)
                .withId(order.id())
                .dueIn(paymentTimeout)
                .withPayload(new OrderService.CloseOrder(order.id()));
        assertThat(status(order)).isEqualTo(Status.PENDING_PAYMENT);
        assertThat(quantity("SKU-1")).isEqualTo(7);

        after(paymentTimeout, () -> {
            assertThat(status(order)).isEqualTo(Status.CLOSED);
            assertThat(quantity("SKU-1")).isEqualTo(10);
            queue().hasNoWaiting(TOPIC);
        });
    }

    @Test
    void cancelsTheMessageOfAPaidOrder() {
        stocks.save(new Stock("SKU-2", 10));
        Order order = orders.place(2, 4, null);

        orders.pay(order.id());

        queue().hasNoWaiting(TOPIC);
        assertThat(status(order)).isEqualTo(Status.PAID);
        assertThat(quantity("SKU-2")).isEqualTo(6);
    }

    @Test
    void keepsAnOrderThatCannotBeClosedAsADeadLetter() {
        stocks.save(new Stock("SKU-3", 10));
        Order order = orders.place(3, 1, Fault.WAREHOUSE);

        after(paymentTimeout.plusSeconds(1), () -> queue().hasDeadLetter(TOPIC)
                .withId(order.id())
                .withHeader("fault", "WAREHOUSE")
                .withError("Warehouse 7 has no free slot")
                .withFailures(2));

        assertThat(status(order)).isEqualTo(Status.PENDING_PAYMENT);
    }
}
