package io.easykit.sample.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.delayqueue.test.DelayQueueAssert;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.sample.product.Product;
import io.easykit.sample.product.ProductService;
import io.easykit.sample.stock.Stock;
import io.easykit.sample.stock.StockService;
import io.easykit.test.autoconfigure.AutoConfigureTestEasykit;
import io.micrometer.core.instrument.MeterRegistry;
import java.math.BigDecimal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

/** Fifteen minutes in milliseconds. Redis is at a port where no server listens. */
@AutoConfigureTestEasykit
@TestPropertySource(properties = {"shop.payment-timeout=15m", "spring.data.redis.port=1"})
class OrderClosingTests extends OrderClosingContract {

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private EasyCacheTester cache;

    @Autowired
    private ProductService products;

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

    /** An update of another node is seen after the stale window. */
    @Test
    void readsAProductAgainAfterAnUpdateOfAnotherNode() {
        Product lamp = new Product(7, "Lamp", new BigDecimal("19.90"));
        products.save(lamp);
        products.find(7);
        products.find(7);
        assertThat(cache).hasLoads("product", 1).hasHits("product", 1);

        cache.otherNode().invalidate(CacheSpec.of("product", Product.class).key(7L));
        assertThat(cache).hasEntry("product", 7L).isStale();

        cache.advance(Duration.ofMillis(1500));
        assertThat(cache).hasNoEntry("product", 7L);
        assertThat(products.find(7)).contains(lamp);
    }

    @Test
    void closesTheOrderOnceAlthoughItsMessageIsDeliveredTwice() {
        stocks.save(new Stock("SKU-7", 10));
        Order order = orders.place(7, 1, null);
        queue.faults().crashAfterNextHandler();

        queue.advance(Duration.ofMinutes(16));

        assertThat(queue).hasRunTimes("order-close", 1).hasNoMessages("order-close");
        assertThat(orders.find(order.id()).orElseThrow().status()).isEqualTo(Order.Status.CLOSED);
        assertThat(stocks.find("SKU-7").orElseThrow().quantity()).isEqualTo(10);
        assertThat(meters.get("delayqueue.repeated")
                        .tag("topic", "order-close")
                        .counter()
                        .count())
                .isEqualTo(1);
    }
}
