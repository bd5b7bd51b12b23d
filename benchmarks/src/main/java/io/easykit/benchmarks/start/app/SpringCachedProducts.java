package io.easykit.benchmarks.start.app;

import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;

/** A bean that uses Spring's cache. */
@Configuration
@EnableCaching
public class SpringCachedProducts {

    @Cacheable("product")
    public String product(long id) {
        return "product " + id;
    }

    @CacheEvict("product")
    public void change(long id) {}
}
