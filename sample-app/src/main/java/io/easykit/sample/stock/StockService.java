package io.easykit.sample.stock;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.sample.stats.DatabaseReads;
import java.util.Optional;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class StockService {

    private final StockRepository stocks;
    private final DatabaseReads reads;

    StockService(StockRepository stocks, DatabaseReads reads) {
        this.stocks = stocks;
        this.reads = reads;
    }

    @Cacheable(prefix = "stock", keys = "#sku", consistency = Consistency.CP)
    public Optional<Stock> find(String sku) {
        reads.countStock();
        return stocks.find(sku);
    }

    @UpdateCache(prefix = "stock", keys = "#stock.sku")
    @Transactional
    public Stock save(Stock stock) {
        stocks.save(stock);
        return stock;
    }

    /**
     * Takes from a stock, and returns the rest of it. Empty if there is no such stock. The rest is read in the same
     * transaction: a call of {@link #find} would wait for another turn, and would also see later changes.
     *
     * @throws OutOfStockException if its quantity is too small
     */
    @UpdateCache(prefix = "stock", keys = "#sku")
    @Transactional
    public Optional<Stock> take(String sku, int quantity) {
        boolean taken = stocks.add(sku, -quantity);
        Optional<Stock> stock = stocks.find(sku);
        if (!taken && stock.isPresent()) {
            throw new OutOfStockException(sku, quantity);
        }
        return stock;
    }

    @UpdateCache(prefix = "stock", keys = "#sku")
    @Transactional
    public void giveBack(String sku, int quantity) {
        stocks.add(sku, quantity);
    }
}
