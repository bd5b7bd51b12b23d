package io.easykit.sample.order;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.sample.order.Order.Status;
import io.easykit.sample.stock.StockService;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderService {

    private static final String CLOSE = "order-close";

    private final OrderRepository orders;
    private final StockService stocks;
    private final DelayQueueTemplate delayQueue;
    private final Duration paymentTimeout;

    OrderService(
            OrderRepository orders,
            StockService stocks,
            DelayQueueTemplate delayQueue,
            @Value("${shop.payment-timeout}") Duration paymentTimeout) {
        this.orders = orders;
        this.stocks = stocks;
        this.delayQueue = delayQueue;
        this.paymentTimeout = paymentTimeout;
    }

    public Optional<Order> find(String id) {
        return orders.find(id);
    }

    /** Reserves the stock and sends the message that closes the order, in one transaction. */
    @Transactional
    public Order place(long productId, int quantity) {
        Order order = new Order(
                UUID.randomUUID().toString(),
                productId,
                quantity,
                Status.PENDING_PAYMENT,
                Instant.now().plus(paymentTimeout).truncatedTo(ChronoUnit.MILLIS));
        stocks.take(order.sku(), quantity);
        orders.add(order);
        delayQueue.send(OutgoingMessage.of(CLOSE, new CloseOrder(order.id()))
                .in(paymentTimeout)
                .id(order.id()));
        return order;
    }

    /** Pays an order. A paid or closed order is not changed. */
    @Transactional
    public Optional<Order> pay(String id) {
        if (orders.complete(id, Status.PAID)) {
            delayQueue.cancelAfterCommit(CLOSE, id);
        }
        return orders.find(id);
    }

    /**
     * Closes an unpaid order. The message may be delivered twice, or after the payment if its cancellation was lost:
     * the state of the order decides.
     */
    @DelayListener(topic = CLOSE, concurrency = "4")
    @Transactional
    public void close(CloseOrder command) {
        if (orders.complete(command.orderId(), Status.CLOSED)) {
            orders.find(command.orderId()).ifPresent(order -> stocks.giveBack(order.sku(), order.quantity()));
        }
    }

    record CloseOrder(String orderId) {}
}
