package io.easykit.sample.product;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Digits;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.PositiveOrZero;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/products/{id}")
class ProductController {

    private final ProductService products;

    ProductController(ProductService products) {
        this.products = products;
    }

    @GetMapping
    ResponseEntity<Product> get(@PathVariable long id) {
        return ResponseEntity.of(products.find(id));
    }

    @PutMapping
    Product put(@PathVariable long id, @Valid @RequestBody Change change) {
        return products.save(new Product(id, change.name(), change.price()));
    }

    record Change(
            @NotBlank @Size(max = 200) String name,
            @NotNull @PositiveOrZero @Digits(integer = 10, fraction = 2) BigDecimal price) {}
}
