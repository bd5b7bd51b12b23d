package io.easykit.example.offers;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.test.EasyCacheTester;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.test.autoconfigure.AutoConfigureTestEasykit;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
@AutoConfigureTestEasykit
class OfferApplicationTests {

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
}
