package io.easykit.sample.order;

import io.easykit.sample.order.Order.Status;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

@Repository
class OrderRepository {

    private final JdbcClient jdbc;

    OrderRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    Optional<Order> find(String id) {
        return jdbc.sql("select id, product_id, quantity, status, expires_at from orders where id = ?")
                .param(id)
                .query(OrderRepository::toOrder)
                .optional();
    }

    void add(Order order) {
        jdbc.sql("insert into orders (id, product_id, quantity, status, expires_at) values (?, ?, ?, ?, ?)")
                .params(
                        order.id(),
                        order.productId(),
                        order.quantity(),
                        order.status().name(),
                        order.expiresAt().atOffset(ZoneOffset.UTC))
                .update();
    }

    /** Sets the status of a pending order; returns false if it was no longer pending. */
    boolean complete(String id, Status status) {
        return jdbc.sql("update orders set status = ? where id = ? and status = ?")
                        .params(status.name(), id, Status.PENDING_PAYMENT.name())
                        .update()
                == 1;
    }

    private static Order toOrder(ResultSet row, int number) throws SQLException {
        return new Order(
                row.getString("id"),
                row.getLong("product_id"),
                row.getInt("quantity"),
                Status.valueOf(row.getString("status")),
                row.getObject("expires_at", OffsetDateTime.class).toInstant());
    }
}
