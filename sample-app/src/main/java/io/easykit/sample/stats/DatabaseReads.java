package io.easykit.sample.stats;

import java.util.concurrent.atomic.LongAdder;
import org.springframework.stereotype.Component;

/** Counts the database reads that the cache is meant to avoid. */
@Component
public class DatabaseReads {

    private final LongAdder products = new LongAdder();
    private final LongAdder stocks = new LongAdder();
    private final ThreadLocal<Long> ofThread = ThreadLocal.withInitial(() -> 0L);

    public void countProduct() {
        products.increment();
        ofThread.set(ofThread.get() + 1);
    }

    public void countStock() {
        stocks.increment();
    }

    /** Reads of products by the calling thread. */
    public long ofThisThread() {
        return ofThread.get();
    }

    Stats stats() {
        return new Stats(products.sum(), stocks.sum());
    }

    record Stats(long productLoads, long stockLoads) {}
}
