package io.easykit.cache.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.test.EasyCacheTester;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A test without the auto-configuration of the application, such as another slice: class proxies are made all the same. */
@SpringBootTest(classes = OtherSliceTests.Application.class)
@AutoConfigureTestEasyCache
class OtherSliceTests {

    interface PriceSource {
        String price(long id);
    }

    static class Prices implements PriceSource {
        @Override
        @Cacheable(prefix = "price", keys = "#id")
        public String price(long id) {
            return "19.90";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Prices.class)
    static class Application {}

    @Test
    void injectsAnImplementationByItsClass(@Autowired Prices prices, @Autowired EasyCacheTester cache) {
        prices.price(1);
        prices.price(1);

        assertThat(cache).hasLoads("price", 1);
    }
}
