package io.easykit.sample.parcel;

import io.easykit.sample.parcel.Parcel.State;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

@Repository
class ParcelRepository {

    private static final String SELECT = "select order_id, state, number, problem from parcel";

    private final JdbcClient jdbc;

    ParcelRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    Optional<Parcel> find(String orderId) {
        return jdbc.sql(SELECT + " where order_id = ?")
                .param(orderId)
                .query(ParcelRepository::toParcel)
                .optional();
    }

    List<Parcel> failed() {
        return jdbc.sql(SELECT + " where state = ? order by order_id")
                .param(State.FAILED.name())
                .query(ParcelRepository::toParcel)
                .list();
    }

    void add(String orderId) {
        jdbc.sql("insert into parcel (order_id, state) values (?, ?)")
                .params(orderId, State.WAITING.name())
                .update();
    }

    void booked(String orderId, String number) {
        jdbc.sql("update parcel set state = ?, number = ?, problem = null where order_id = ?")
                .params(State.BOOKED.name(), number, orderId)
                .update();
    }

    /** A parcel that was booked stays booked: the dead letter may have been redriven since it was announced. */
    void failed(String orderId, String problem) {
        jdbc.sql("update parcel set state = ?, problem = ? where order_id = ? and state <> ?")
                .params(State.FAILED.name(), problem, orderId, State.BOOKED.name())
                .update();
    }

    private static Parcel toParcel(ResultSet row, int number) throws SQLException {
        return new Parcel(
                row.getString("order_id"),
                State.valueOf(row.getString("state")),
                row.getString("number"),
                row.getString("problem"));
    }
}
