package com.shop;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import java.math.BigDecimal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Service;

@Service
public class Prices {

    private final Map<String, BigDecimal> table = new ConcurrentHashMap<>(); // stands for your database
    private final AtomicInteger queries = new AtomicInteger();

    @Cacheable(prefix = "price", keys = "#sku")
    public BigDecimal of(String sku) {
        queries.incrementAndGet();
        return table.get(sku);
    }

    @UpdateCache(prefix = "price", keys = "#sku")
    public void change(String sku, BigDecimal price) {
        table.put(sku, price);
    }

    public int queries() {
        return queries.get();
    }
}
