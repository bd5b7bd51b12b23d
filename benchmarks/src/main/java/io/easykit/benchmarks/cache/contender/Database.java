package io.easykit.benchmarks.cache.contender;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The source of products: counts its loads, each of which takes a fixed time. */
public final class Database implements Products {

    private final AtomicLong loads = new AtomicLong();
    private final Duration loadTime;

    public Database(Duration loadTime) {
        this.loadTime = loadTime;
    }

    @Override
    public Product product(long id) {
        loads.incrementAndGet();
        if (!loadTime.isZero()) {
            try {
                Thread.sleep(loadTime.toMillis());
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }
        return Product.of(id);
    }

    public long loads() {
        return loads.get();
    }
}
