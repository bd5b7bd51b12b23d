package io.easykit.example.shop;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.annotation.DeadLetterListener;
import io.easykit.delayqueue.annotation.DelayListener;
import org.springframework.stereotype.Component;

/** Components that are found by scanning. */
final class MailShop {

    private MailShop() {}

    @Component
    static class Mailer {
        void send(String to) {}
    }

    @Component
    static class Reports {
        Reports() {
            throw new IllegalStateException("does not belong to the delay queue");
        }
    }

    @Component
    static class Mails {

        private final Mailer mailer;

        Mails(Mailer mailer) {
            this.mailer = mailer;
        }

        @DelayListener(topic = "mail")
        void send(String to) {
            mailer.send(to);
        }
    }

    abstract static class Counted {

        private int count;

        @DelayListener(topic = "letter")
        void count(String letter) {
            count++;
        }

        int count() {
            return count;
        }
    }

    @Component
    static class Letters extends Counted {}

    interface Signed {
        @DelayListener(topic = "parcel")
        void sign(String parcel);
    }

    interface SignedTwice extends Signed {}

    @Component
    static class Parcels implements SignedTwice {

        private int signed;

        @Override
        public void sign(String parcel) {
            signed++;
        }

        int signed() {
            return signed;
        }
    }

    @Component
    static class FailedMails {

        private int failed;

        @DeadLetterListener(topic = "mail")
        void failed(DeadLetter<String> mail) {
            failed++;
        }

        int count() {
            return failed;
        }
    }

    @Component
    static class NoRetries implements ErrorHandler {
        @Override
        public ErrorAction onError(DelayMessage<?> message, Throwable error) {
            return ErrorAction.dead();
        }
    }
}
