package io.easykit.sample.order;

import io.easykit.sample.order.Order.Status;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/orders")
class OrderController {

    private final OrderService orders;

    OrderController(OrderService orders) {
        this.orders = orders;
    }

    @PostMapping
    ResponseEntity<Order> place(@Valid @RequestBody NewOrder request) {
        Order order = orders.place(request.productId(), request.quantity(), request.fault());
        return ResponseEntity.created(URI.create("/orders/" + order.id())).body(order);
    }

    /** Returns the latest orders first. */
    @GetMapping
    List<Order> latest() {
        return orders.latest();
    }

    @GetMapping("/{id}")
    ResponseEntity<Order> get(@PathVariable String id) {
        return ResponseEntity.of(orders.find(id));
    }

    /** Returns 409 with the order if it was closed earlier. */
    @PostMapping("/{id}/pay")
    ResponseEntity<Order> pay(@PathVariable String id) {
        return orders.pay(id)
                .map(order -> ResponseEntity.status(order.status() == Status.PAID ? HttpStatus.OK : HttpStatus.CONFLICT)
                        .body(order))
                .orElse(ResponseEntity.notFound().build());
    }

    record NewOrder(@NotNull Long productId, @NotNull @Positive Integer quantity, @Nullable Fault fault) {}
}
