package com.shop;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.stereotype.Service;

@Service
public class Reminders {

    private final DelayQueueTemplate delayQueue;
    private final List<Reminder> sent = new CopyOnWriteArrayList<>();

    Reminders(DelayQueueTemplate delayQueue) {
        this.delayQueue = delayQueue;
    }

    public void remind(String customer, String text, Duration delay) {
        delayQueue.send("reminder", new Reminder(customer, text), delay);
    }

    @DelayListener(topic = "reminder", concurrency = "4")
    void send(Reminder reminder) {
        sent.add(reminder); // stands for a mail
    }

    public List<Reminder> sent() {
        return sent;
    }
}
