package com.shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.autoconfigure.AutoConfigureTestDelayQueue;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(properties = "easy-cache.enabled=false")
@AutoConfigureTestDelayQueue
class ReminderApplicationTests {

    @Autowired
    DelayQueueTester queue;

    @Autowired
    Reminders reminders;

    @Test
    void remindsAfterThirtyMinutes() {
        reminders.remind("Ann", "Your lamp has arrived", Duration.ofMinutes(30));

        queue.advance(Duration.ofMinutes(30));

        assertThat(reminders.sent()).containsExactly(new Reminder("Ann", "Your lamp has arrived"));
    }
}
