package io.easykit.sample.stock;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.PositiveOrZero;
import jakarta.validation.constraints.Size;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/stocks/{sku}")
class StockController {

    private final StockService stocks;

    StockController(StockService stocks) {
        this.stocks = stocks;
    }

    @GetMapping
    ResponseEntity<Stock> get(@PathVariable String sku) {
        return ResponseEntity.of(stocks.find(sku));
    }

    @PutMapping
    Stock put(@PathVariable @Size(max = 60) String sku, @Valid @RequestBody Change change) {
        return stocks.save(new Stock(sku, change.quantity()));
    }

    /** Calls for one article run in order of arrival. Returns the remaining stock; 409 if there are too few pieces. */
    @PostMapping("/take")
    ResponseEntity<Stock> take(@PathVariable @Size(max = 60) String sku, @Valid @RequestBody Taking taking) {
        return ResponseEntity.of(stocks.take(sku, taking.quantity()));
    }

    record Change(@NotNull @PositiveOrZero Integer quantity) {}

    record Taking(@NotNull @Positive Integer quantity) {}
}
