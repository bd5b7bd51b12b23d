package io.easykit.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.test.DelayQueueTester;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.ContextHierarchy;

/** Application contexts with a parent have one queue, one cache and one time. */
@SpringBootTest(properties = "spring.data.redis.port=1")
@AutoConfigureTestEasykit
@ContextHierarchy({
    @ContextConfiguration(name = "root", classes = HierarchyTests.Root.class),
    @ContextConfiguration(name = "web", classes = HierarchyTests.Web.class)
})
class HierarchyTests {

    private static final Duration HOUR = Duration.ofHours(1);

    @Configuration(proxyBeanMethods = false)
    static class Root {}

    @Configuration(proxyBeanMethods = false)
    @Import(Prices.class)
    static class Web {}

    static class Prices {

        @Cacheable(prefix = "price", keys = "#id", ttl = "1h")
        public String of(long id) {
            return "19.90";
        }

        @DelayListener(topic = "mail")
        public void on(String text) {}
    }

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private EasyCacheTester cache;

    @Autowired
    private DelayQueueTemplate template;

    @Autowired
    private Prices prices;

    @Test
    void delivers() {
        template.send("mail", "x", HOUR);

        queue.advance(HOUR);

        assertThat(queue).hasRunTimes("mail", 1).hasNoMessages("mail");
    }

    @Test
    void caches() {
        prices.of(1);
        prices.of(1);
        assertThat(cache).hasLoads("price", 1).hasEntry("price", 1).expiresIn(HOUR);

        cache.advance(HOUR);
        assertThat(cache).hasNoEntry("price", 1);
        assertThat(queue.now()).isEqualTo(cache.now());
    }
}
