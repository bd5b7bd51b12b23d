package io.easykit.sample.product;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class ProductService {

    private final ProductRepository products;

    ProductService(ProductRepository products) {
        this.products = products;
    }

    public List<Long> ids() {
        return products.ids();
    }

    @Cacheable(prefix = "product", keys = "#id")
    public Optional<Product> find(long id) {
        return products.find(id);
    }

    /** The same entry as that of {@link #find}. The caller's thread waits for neither Redis nor the database. */
    @Cacheable(prefix = "product", keys = "#id")
    public CompletableFuture<Optional<Product>> findLater(long id) {
        return CompletableFuture.completedFuture(products.find(id));
    }

    /** Each product is the same entry as that of {@link #find}. One query brings those that are not cached. */
    @Cacheable(prefix = "product", keys = "#ids", batch = true)
    public Map<Long, Optional<Product>> findAll(Collection<Long> ids) {
        return products.findAll(ids);
    }

    @UpdateCache(prefix = "product", keys = "#product.id")
    @Transactional
    public Product save(Product product) {
        products.save(product);
        return product;
    }
}
