package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.support.Transactions;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the builder of an engine collects about sends. */
final class SendSettings {

    Transactions transactions = Transactions.NONE;
    SendPhase phase = SendPhase.BEFORE_COMMIT;
    Duration timeout = Duration.ZERO;
    Duration commandTimeout = Duration.ofMillis(250);
    Function<String, @Nullable ReplicaWait> replicaWaits = topic -> null;
    int maxMessageBytes = 8 << 20;

    @Nullable SendOutbox outbox;

    Duration outboxLease = Duration.ofSeconds(30);
}
