package io.easykit.example.offers;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import org.springframework.stereotype.Service;

@Service
class Offers {

    private String present;

    @Cacheable(prefix = "offer", keys = "#article", ttl = "2h")
    public String of(String article) {
        return present;
    }

    @UpdateCache(prefix = "offer", keys = "#article")
    public void begin(String article, String offer) {
        present = offer;
    }

    @UpdateCache(prefix = "offer", keys = "#article")
    public void end(String article) {
        present = null;
    }
}
