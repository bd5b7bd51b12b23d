package io.easykit.sample.product;

import io.easykit.sample.stats.DatabaseReads;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Digits;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.PositiveOrZero;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/products")
class ProductController {

    static final String SOURCE = "X-Shop-Source";

    private final ProductService products;
    private final DatabaseReads reads;

    ProductController(ProductService products, DatabaseReads reads) {
        this.products = products;
        this.reads = reads;
    }

    /** Returns the ids of all products. */
    @GetMapping
    List<Long> ids() {
        return products.ids();
    }

    /** Returns several products, at most 100: {@code /products?ids=1,2,3}. Unknown ids are left out. */
    @GetMapping(params = "ids")
    List<Product> get(@RequestParam @Size(max = 100) List<@NotNull Long> ids) {
        return products.findAll(ids).values().stream().flatMap(Optional::stream).toList();
    }

    /** The header {@value #SOURCE} names the source: {@code database} or {@code cache}. */
    @GetMapping("/{id}")
    ResponseEntity<Product> get(@PathVariable long id) {
        long before = reads.ofThisThread();
        Optional<Product> found = products.find(id);
        String source = reads.ofThisThread() > before ? "database" : "cache";
        return found.map(product -> ResponseEntity.ok().header(SOURCE, source).body(product))
                .orElseGet(
                        () -> ResponseEntity.notFound().header(SOURCE, source).build());
    }

    /** As {@link #get(long)}, but no thread of the web server waits. */
    @GetMapping("/{id}/async")
    CompletableFuture<ResponseEntity<Product>> getLater(@PathVariable long id) {
        return products.findLater(id).thenApply(ResponseEntity::of);
    }

    @PutMapping("/{id}")
    Product put(@PathVariable long id, @Valid @RequestBody Change change) {
        return products.save(new Product(id, change.name(), change.price()));
    }

    record Change(
            @NotBlank @Size(max = 200) String name,
            @NotNull @PositiveOrZero @Digits(integer = 10, fraction = 2) BigDecimal price) {}
}
