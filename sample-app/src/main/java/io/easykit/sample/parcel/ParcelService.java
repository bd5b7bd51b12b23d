package io.easykit.sample.parcel;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.annotation.DeadLetterListener;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.sample.mail.MailService;
import java.util.Objects;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Books the parcels of paid orders at a carrier that takes only a few calls at a time. */
@Service
public class ParcelService {

    static final String TOPIC = "parcel";

    private final ParcelRepository parcels;
    private final DelayQueueTemplate delayQueue;
    private final CarrierClient carrier;
    private final MailService mails;

    ParcelService(ParcelRepository parcels, DelayQueueTemplate delayQueue, CarrierClient carrier, MailService mails) {
        this.parcels = parcels;
        this.delayQueue = delayQueue;
        this.carrier = carrier;
        this.mails = mails;
    }

    /**
     * Orders a parcel, and sends a mail about the payment, in the caller's transaction. The outbox keeps the message if Redis is away
     * or the process dies, so an order can be paid at any time.
     */
    @Transactional
    public void order(String orderId) {
        mails.send(orderId, "Your payment has arrived");
        parcels.add(orderId);
        delayQueue.send(
                OutgoingMessage.of(TOPIC, new BookParcel(orderId)).id(orderId).phase(SendPhase.OUTBOX));
    }

    /**
     * Books a parcel, outside of a transaction: a slow carrier must not hold a connection of the database. A repeated delivery
     * gets the same number, since the carrier books an order once, and sends another mail.
     */
    @DelayListener(topic = TOPIC, concurrency = "2", errorHandler = CarrierErrorsConfiguration.BEAN)
    public void book(BookParcel command) {
        String number = carrier.book(command.orderId());
        parcels.booked(command.orderId(), number);
        mails.send(command.orderId(), "Parcel " + number + " is on its way");
    }

    /** Keeps the reason for the customer service. */
    @DeadLetterListener(topic = TOPIC)
    public void bookingFailed(DeadLetter<BookParcel> dead) {
        String problem = Objects.requireNonNullElse(dead.lastError(), dead.id() + " is dead");
        parcels.failed(dead.id(), problem.lines().findFirst().orElse(problem));
    }

    record BookParcel(String orderId) {}
}
