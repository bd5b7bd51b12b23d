package io.easykit.sample.stats;

import java.util.concurrent.atomic.LongAdder;
import org.springframework.stereotype.Component;

/** Counts the database reads that the cache is meant to avoid. */
@Component
public class DatabaseReads {

    private final LongAdder products = new LongAdder();
    private final LongAdder stocks = new LongAdder();

    public void countProduct() {
        products.increment();
    }

    public void countStock() {
        stocks.increment();
    }

    Stats stats() {
        return new Stats(products.sum(), stocks.sum());
    }

    record Stats(long productLoads, long stockLoads) {}
}
