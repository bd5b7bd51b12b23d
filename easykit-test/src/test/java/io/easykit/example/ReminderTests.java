package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.test.DelayQueueTester;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReminderTests {

    record Reminder(String to, String text) {}

    static class Reminders {

        private final DelayQueueTemplate queue;
        private final List<Reminder> sent = new ArrayList<>();

        Reminders(DelayQueueTemplate queue) {
            this.queue = queue;
        }

        void remind(String to, String text, Duration delay) {
            queue.send("reminder", new Reminder(to, text), delay);
        }

        void send(Reminder reminder) {
            sent.add(reminder);
        }

        List<Reminder> sent() {
            return sent;
        }
    }

    private final DelayQueueTester queue = DelayQueueTester.create();
    private final Reminders reminders = new Reminders(queue.template());

    @AfterEach
    void close() {
        queue.close();
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

    @Test
    void remindsAtLeastOnce() {
        queue.listen("reminder", Reminder.class, message -> reminders.send(message.payload()));
        queue.faults().crashAfterNextHandler();

        reminders.remind("Ann", "Your lamp has arrived", Duration.ZERO);
        queue.advance(Duration.ofMinutes(1));

        assertThat(queue).hasRunTimes("reminder", 2);
    }
}
