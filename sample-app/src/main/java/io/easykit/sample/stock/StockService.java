package io.easykit.sample.stock;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import java.util.Optional;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class StockService {

    private final StockRepository stocks;

    StockService(StockRepository stocks) {
        this.stocks = stocks;
    }

    @Cacheable(prefix = "stock", keys = "#sku", consistency = Consistency.CP)
    public Optional<Stock> find(String sku) {
        return stocks.find(sku);
    }

    @UpdateCache(prefix = "stock", keys = "#stock.sku")
    @Transactional
    public Stock save(Stock stock) {
        stocks.save(stock);
        return stock;
    }

    /**
     * Takes from a stock.
     *
     * @throws OutOfStockException if its quantity is too small
     */
    @UpdateCache(prefix = "stock", keys = "#sku")
    @Transactional
    public void take(String sku, int quantity) {
        if (!stocks.add(sku, -quantity)) {
            throw new OutOfStockException(sku, quantity);
        }
    }

    @UpdateCache(prefix = "stock", keys = "#sku")
    @Transactional
    public void giveBack(String sku, int quantity) {
        stocks.add(sku, quantity);
    }
}
