package io.easykit.sample.product;

import io.easykit.sample.stats.DatabaseReads;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
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

    Map<Long, Optional<Product>> findAll(Collection<Long> ids) {
        reads.countProduct();
        return jdbc
                .sql("select id, name, price from product where id in (:ids)")
                .param("ids", ids)
                .query(Product.class)
                .stream()
                .collect(Collectors.toMap(Product::id, Optional::of));
    }

    void save(Product product) {
        jdbc.sql("merge into product (id, name, price) values (?, ?, ?)")
                .params(product.id(), product.name(), product.price())
                .update();
    }
}
