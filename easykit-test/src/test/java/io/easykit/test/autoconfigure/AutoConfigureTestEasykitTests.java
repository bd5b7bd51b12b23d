package io.easykit.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.test.DelayQueueTester;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

/** Redis is at a port where no server listens. */
@SpringBootTest(properties = {"spring.data.redis.port=1", "easy-cache.enabled=false", "delay-queue.enabled=false"})
@AutoConfigureTestEasykit
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class AutoConfigureTestEasykitTests {

    private static final Duration HOUR = Duration.ofHours(1);

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @Import({Ages.class, Mails.class})
    static class Application {}

    static class Ages {

        private int queries;

        @Cacheable(prefix = "age", keys = "#name", ttl = "1h")
        public int of(String name) {
            return ++queries;
        }
    }

    static class Mails {

        private final Ages ages;
        private final List<Integer> sent = new ArrayList<>();

        Mails(Ages ages) {
            this.ages = ages;
        }

        @DelayListener(topic = "mail")
        void send(String name) {
            sent.add(ages.of(name));
        }
    }

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private EasyCacheTester cache;

    @Autowired
    private DelayQueueTemplate template;

    @Autowired
    private Mails mails;

    @Autowired
    private Ages ages;

    @Test
    @Order(1)
    void handlersReadTheCacheInOneTime() {
        template.send("mail", "Ann", HOUR.minusMinutes(1));
        template.send("mail", "Ann", HOUR);
        int first = ages.of("Ann");

        cache.advance(HOUR);

        assertThat(queue.now()).isEqualTo(cache.now());
        assertThat(mails.sent).containsExactly(first, first + 1);
        assertThat(cache).hasLoads("age", 2).hasEntry("age", "Ann").expiresIn(HOUR);
        assertThat(queue).hasRunTimes("mail", 2);
    }

    @Test
    @Order(2)
    void leavesAMessageAndARefreshBehind() {
        mails.sent.clear();
        template.send("mail", "Ann", Duration.ofSeconds(1));
        ages.of("Bob");
        cache.advance(Duration.ZERO);
        cache.faults().storeAway();
    }

    @Test
    @Order(3)
    void beginsWithoutThem() {
        assertThat(mails.sent).isEmpty();
        assertThat(queue).hasNoMessages("mail");
        assertThat(cache).hasNoEntry("age", "Bob").hasLoads("age", 0);
        assertThat(queue.now()).isEqualTo(cache.now()).isBetween(Instant.now().minusSeconds(60), Instant.now());
        ages.of("Bob");
        assertThat(cache).hasEntry("age", "Bob");
    }
}
