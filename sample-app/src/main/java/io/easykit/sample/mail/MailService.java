package io.easykit.sample.mail;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.annotation.DelayListener;
import org.springframework.stereotype.Service;

/** Sends the mails about one order one after the other, and those about other orders beside them. */
@Service
public class MailService {

    private static final String TOPIC = "mail";

    private final DelayQueueTemplate delayQueue;
    private final MailRepository mails;

    MailService(DelayQueueTemplate delayQueue, MailRepository mails) {
        this.delayQueue = delayQueue;
        this.mails = mails;
    }

    /** Sends a mail when the caller's transaction is committed. */
    public void send(String orderId, String text) {
        delayQueue.send(OutgoingMessage.of(TOPIC, new Mail(orderId, text))
                .orderingKey(orderId)
                .phase(SendPhase.OUTBOX));
    }

    /** Delivers a mail. The table of delivered mails stands in for a mail server. */
    @DelayListener(topic = TOPIC, concurrency = "4", idempotent = true)
    public void deliver(Mail mail) {
        mails.add(mail);
    }
}
