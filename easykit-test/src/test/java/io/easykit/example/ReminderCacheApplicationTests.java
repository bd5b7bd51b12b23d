package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.test.autoconfigure.AutoConfigureTestEasykit;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

@SpringBootTest
@AutoConfigureTestEasykit
class ReminderCacheApplicationTests {

    @Autowired
    DelayQueueTester queue;

    @Autowired
    EasyCacheTester cache;

    @Autowired
    DelayQueueTemplate template;

    @Autowired
    Offers offers;

    @Test
    void endsTheOfferAfterAnHour() {
        offers.begin("lamp", "half the price");
        offers.of("lamp");
        template.send("offer-end", "lamp", Duration.ofHours(1));

        queue.advance(Duration.ofHours(1));

        assertThat(queue).hasRunTimes("offer-end", 1);
        assertThat(cache).hasEntry("offer", "lamp").isStale();
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @Import({Offers.class, Ends.class})
    static class Application {}

    static class Offers {

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

    static class Ends {

        private final Offers offers;

        Ends(Offers offers) {
            this.offers = offers;
        }

        @DelayListener(topic = "offer-end")
        void end(String article) {
            offers.end(article);
        }
    }
}
