package io.easykit.sample.product;

import io.easykit.sample.stats.DatabaseReads;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

@Repository
class ProductRepository {

    private final JdbcClient jdbc;
    private final DatabaseReads reads;

    ProductRepository(JdbcClient jdbc, DatabaseReads reads) {
        this.jdbc = jdbc;
        this.reads = reads;
    }

    List<Long> ids() {
        return jdbc.sql("select id from product order by id limit 100")
                .query(Long.class)
                .list();
    }

    Optional<Product> find(long id) {
        reads.countProduct();
        return jdbc.sql("select id, name, price from product where id = ?")
                .param(id)
                .query(Product.class)
                .optional();
    }

    void save(Product product) {
        jdbc.sql("merge into product (id, name, price) values (?, ?, ?)")
                .params(product.id(), product.name(), product.price())
                .update();
    }
}
