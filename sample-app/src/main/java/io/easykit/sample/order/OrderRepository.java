package io.easykit.sample.order;

import io.easykit.sample.order.Order.Status;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

@Repository
class OrderRepository {

    private static final String SELECT = "select id, product_id, quantity, status, expires_at, fault from orders";

    private final JdbcClient jdbc;

    OrderRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    Optional<Order> find(String id) {
        return jdbc.sql(SELECT + " where id = ?")
                .param(id)
                .query(OrderRepository::toOrder)
                .optional();
    }

    /** The latest orders first. */
    List<Order> latest(int most) {
        return jdbc.sql(SELECT + " order by expires_at desc limit ?")
                .param(most)
                .query(OrderRepository::toOrder)
                .list();
    }

    void add(Order order) {
        Fault fault = order.fault();
        jdbc.sql("insert into orders (id, product_id, quantity, status, expires_at, fault) values (?, ?, ?, ?, ?, ?)")
                .param(order.id())
                .param(order.productId())
                .param(order.quantity())
                .param(order.status().name())
                .param(order.expiresAt().atOffset(ZoneOffset.UTC))
                .param(fault == null ? null : fault.name())
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
        String fault = row.getString("fault");
        return new Order(
                row.getString("id"),
                row.getLong("product_id"),
                row.getInt("quantity"),
                Status.valueOf(row.getString("status")),
                row.getObject("expires_at", OffsetDateTime.class).toInstant(),
                fault == null ? null : Fault.valueOf(fault));
    }
}
