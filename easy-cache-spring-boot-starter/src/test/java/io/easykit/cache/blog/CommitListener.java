package io.easykit.cache.blog;

import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;

/** Runs work after a commit. Its connection and its session are still bound to the thread. */
class CommitListener {

    record Committed(Runnable work) {}

    @TransactionalEventListener(phase = TransactionPhase.AFTER_COMMIT)
    void onCommit(Committed event) {
        event.work().run();
    }
}
