package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.SendOutbox.Row;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.support.LogText;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Log lines of the relay: the begin and the end of an outage once each. */
final class OutboxLog {

    private static final Logger log = LoggerFactory.getLogger(OutboxLog.class);

    private final RepeatedLines lines;
    private boolean away;

    /** Since the last failure a message was stored. */
    private boolean stored;

    /** Since the outage began messages were left to another process. */
    private boolean passedOn;

    private boolean databaseFails;
    private boolean ownersFail;
    private boolean countFails;
    private boolean faulty;

    OutboxLog(RepeatedLines lines) {
        this.lines = lines;
    }

    void away(StoreUnavailableException failure) {
        stored = false;
        if (!away) {
            away = true;
            log.warn(
                    "Redis does not answer, so messages stay in the outbox. They are stored when it answers again: {}",
                    LogText.of(String.valueOf(failure.getMessage())));
        }
    }

    void stored() {
        stored = true;
    }

    void passedOn() {
        passedOn = true;
    }

    /**
     * Called after a pass that has left no messages. If another process has stored those of the outage, or is to store them, this one
     * cannot report its end.
     */
    void drained() {
        boolean ends = away && stored && !passedOn;
        away = false;
        passedOn = false;
        if (ends) {
            log.info("Redis answers again, and all messages of the outbox are stored");
        }
    }

    void refused(String topic, RuntimeException refusal) {
        if (!(refusal instanceof DelayQueueException)) {
            faulty(refusal);
            return;
        }
        lines.warn(
                log,
                topic,
                "Redis refuses messages of topic {}. They stay in the outbox, and are tried again every 30 seconds; other"
                        + " topics go on: {}",
                topic,
                LogText.of(String.valueOf(refusal.getMessage())));
    }

    void damaged(Row row, RuntimeException damage) {
        lines.warn(
                log,
                "",
                "Row {} of the outbox cannot be sent, and stays there. Another program writes to the table, or it was changed"
                        + " by hand. Repair the row, or delete it: {}",
                row.number(),
                LogText.of(damage.toString()));
    }

    void databaseFailed(SendOutboxException failure) {
        if (!databaseFails) {
            databaseFails = true;
            log.warn(
                    "The outbox cannot be read, so committed messages wait in it. Check the database and its tables: {}",
                    LogText.of(String.valueOf(failure.getMessage())));
        }
    }

    void ownersFailed(SendOutboxException failure) {
        if (!ownersFail) {
            ownersFail = true;
            log.warn(
                    "The owners of rows in the outbox cannot be read, so messages of processes that have died wait in it."
                            + " Other messages are stored. Check the database: {}",
                    LogText.of(String.valueOf(failure.getMessage())));
        }
    }

    void ownersRead() {
        ownersFail = false;
    }

    /** If the relay fails as well, its line is enough. */
    void countFailed(RuntimeException failure) {
        if (!countFails && !databaseFails && !faulty) {
            countFails = true;
            log.warn(
                    "The rows of the outbox cannot be counted, so their metrics and the health detail are missing. Messages are"
                            + " stored. Check the database, and how many rows delay_queue_outbox has: {}",
                    LogText.of(
                            failure instanceof SendOutboxException
                                    ? String.valueOf(failure.getMessage())
                                    : failure.toString()));
        }
    }

    void counted() {
        countFails = false;
    }

    void faulty(RuntimeException defect) {
        if (!faulty) {
            faulty = true;
            log.error(
                    "Messages of the outbox could not be stored, which is tried again. This is a defect: report it"
                            + " with its stack trace.",
                    defect);
        }
    }

    void databaseAnswered() {
        databaseFails = false;
        faulty = false;
    }
}
