package com.shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.test.DelayQueueTester;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReminderTests {

    private final DelayQueueTester queue = DelayQueueTester.create();
    private final Reminders reminders = new Reminders(queue.template());

    @AfterEach
    void close() {
        queue.close();
    }

    @Test
    void remindsAtLeastOnce() {
        queue.listen("reminder", Reminder.class, message -> reminders.send(message.payload()));
        queue.faults().crashAfterNextHandler();

        reminders.remind("Ann", "Your lamp has arrived", Duration.ZERO);
        queue.advance(Duration.ofMinutes(1));

        assertThat(queue).hasRunTimes("reminder", 2);
    }

    @Test
    void remindsAfterThirtyMinutes() {
        queue.listen("reminder", Reminder.class, message -> reminders.send(message.payload()));

        reminders.remind("Ann", "Your lamp has arrived", Duration.ofMinutes(30));
        assertThat(queue).hasWaiting("reminder").dueIn(Duration.ofMinutes(30));

        queue.advance(Duration.ofMinutes(30));
        assertThat(reminders.sent()).containsExactly(new Reminder("Ann", "Your lamp has arrived"));
        assertThat(queue).hasRunTimes("reminder", 1).hasNoMessages("reminder");
    }
}
