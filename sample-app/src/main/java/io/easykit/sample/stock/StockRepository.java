package io.easykit.sample.stock;

import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

@Repository
class StockRepository {

    private final JdbcClient jdbc;

    StockRepository(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    Optional<Stock> find(String sku) {
        return jdbc.sql("select sku, quantity from stock where sku = ?")
                .param(sku)
                .query(Stock.class)
                .optional();
    }

    void save(Stock stock) {
        jdbc.sql("merge into stock (sku, quantity) values (?, ?)")
                .params(stock.sku(), stock.quantity())
                .update();
    }

    /**
     * Adds to a stock, or takes from it for a negative quantity; returns false if it is too small or does not exist.
     */
    boolean add(String sku, int quantity) {
        return jdbc.sql("update stock set quantity = quantity + :change where sku = :sku and quantity + :change >= 0")
                        .param("change", quantity)
                        .param("sku", sku)
                        .update()
                == 1;
    }
}
