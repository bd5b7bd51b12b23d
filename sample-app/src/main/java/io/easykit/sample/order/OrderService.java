package io.easykit.sample.order;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.sample.order.Order.Status;
import io.easykit.sample.parcel.ParcelService;
import io.easykit.sample.stock.OutOfStockException;
import io.easykit.sample.stock.StockService;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderService {

    private static final String CLOSE = "order-close";

    /** Header of the messages of orders with a fault. */
    private static final String FAULT = "fault";

    private static final int LATEST = 50;

    private final OrderRepository orders;
    private final StockService stocks;
    private final DelayQueueTemplate delayQueue;
    private final ParcelService parcels;
    private final Faults faults;
    private final Duration paymentTimeout;

    OrderService(
            OrderRepository orders,
            StockService stocks,
            DelayQueueTemplate delayQueue,
            ParcelService parcels,
            Faults faults,
            @Value("${shop.payment-timeout}") Duration paymentTimeout) {
        this.orders = orders;
        this.stocks = stocks;
        this.delayQueue = delayQueue;
        this.parcels = parcels;
        this.faults = faults;
        this.paymentTimeout = paymentTimeout;
    }

    public List<Order> latest() {
        return orders.latest(LATEST);
    }

    public Optional<Order> find(String id) {
        return orders.find(id);
    }

    /** Reserves the stock and sends the message that closes the order, in one transaction. */
    @Transactional
    public Order place(long productId, int quantity, @Nullable Fault fault) {
        Order order = new Order(
                UUID.randomUUID().toString(),
                productId,
                quantity,
                Status.PENDING_PAYMENT,
                Instant.now().plus(paymentTimeout).truncatedTo(ChronoUnit.MILLIS),
                fault);
        if (stocks.take(order.sku(), quantity).isEmpty()) {
            throw new OutOfStockException(order.sku(), quantity);
        }
        orders.add(order);
        OutgoingMessage message = OutgoingMessage.of(CLOSE, new CloseOrder(order.id()))
                .after(paymentTimeout)
                .id(order.id());
        delayQueue.send(
                fault == null
                        ? message
                        : message.header(FAULT, fault.name()).retry(RetryPolicy.fixed(2, Duration.ofMillis(500))));
        return order;
    }

    /** Pays an order, and orders its parcel. A paid or closed order is not changed. */
    @Transactional
    public Optional<Order> pay(String id) {
        if (orders.complete(id, Status.PAID)) {
            delayQueue.cancelAfterCommit(CLOSE, id);
            parcels.order(id);
        }
        return orders.find(id);
    }

    /**
     * Closes an unpaid order, once also if the message is delivered twice. It may come after the payment, if its
     * cancellation was lost: the state of the order decides.
     */
    @DelayListener(topic = CLOSE, concurrency = "4", idempotent = true)
    @Transactional
    public void close(CloseOrder command, @Header(name = FAULT, required = false) @Nullable String fault) {
        if (fault != null) {
            faults.check(Fault.valueOf(fault), command.orderId());
        }
        if (orders.complete(command.orderId(), Status.CLOSED)) {
            orders.find(command.orderId()).ifPresent(order -> stocks.giveBack(order.sku(), order.quantity()));
        }
    }

    record CloseOrder(String orderId) {}
}
