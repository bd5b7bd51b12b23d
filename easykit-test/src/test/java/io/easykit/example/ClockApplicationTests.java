package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.autoconfigure.AutoConfigureTestDelayQueue;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;

@SpringBootTest
@AutoConfigureTestDelayQueue
class ClockApplicationTests {

    @Autowired
    DelayQueueTester queue;

    @Autowired
    Receipts receipts;

    @Test
    void printsTheTimeOfTheTest() {
        receipts.print("Ann", Duration.ofMinutes(30));

        queue.advance(Duration.ofMinutes(30));

        assertThat(receipts.printed()).containsExactly("Ann at " + queue.now());
    }

    @TestConfiguration
    static class VirtualClock {

        @Bean
        @Primary
        Clock virtualClock(DelayQueueTester queue) {
            return queue.clock();
        }
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @Import({Receipts.class, VirtualClock.class})
    static class Application {

        /** That of production. */
        @Bean
        Clock clock() {
            return Clock.systemUTC();
        }
    }

    static class Receipts {

        private final DelayQueueTemplate queue;
        private final Clock clock;
        private final List<String> printed = new ArrayList<>();

        Receipts(DelayQueueTemplate queue, Clock clock) {
            this.queue = queue;
            this.clock = clock;
        }

        void print(String to, Duration delay) {
            queue.send("receipt", to, delay);
        }

        @DelayListener(topic = "receipt")
        void printNow(String to) {
            printed.add(to + " at " + Instant.now(clock));
        }

        List<String> printed() {
            return printed;
        }
    }
}
