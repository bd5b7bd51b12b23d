package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an engine that send.
 *
 * @param relay null if there is no outbox
 */
record SendParts(Sender sender, OutboxSends outbox, @Nullable OutboxRelay relay, RolledBackSends rolledBack)
        implements AutoCloseable {

    static SendParts of(
            SendSettings settings,
            PayloadCodec codec,
            QueueStore store,
            Topics topics,
            LoopExecutor loops,
            Events events,
            RepeatedLines lines) {
        RolledBackSends rolledBack = new RolledBackSends(store, loops::nanos);
        AwayShards away = new AwayShards(loops::nanos);
        MessageEncoder encoder = new MessageEncoder(
                topics, codec, away, settings.timeout, settings.replicaWaits, settings.maxMessageBytes);
        Duration commandTimeout = settings.commandTimeout;
        SendBatcher groups = new SendBatcher(store, wait -> SendRetry.longestCall(commandTimeout, wait));
        PreparedMessageStore storage = new PreparedMessageStore(groups, encoder, away, events, lines, loops::nanos);
        Sender sender = new Sender(
                encoder,
                storage,
                new CancelsAfterCommit(store, topics, lines),
                rolledBack,
                loops,
                new Sender.Settings(settings.transactions, settings.phase, settings.commandTimeout));
        OutboxRelay relay = relay(settings, topics, storage, loops, lines);
        OutboxSends outbox = new OutboxSends(relay, encoder, settings.transactions, settings.phase);
        return new SendParts(sender, outbox, relay, rolledBack);
    }

    private static @Nullable OutboxRelay relay(
            SendSettings settings,
            Topics topics,
            PreparedMessageStore storage,
            LoopExecutor loops,
            RepeatedLines lines) {
        SendOutbox outbox = settings.outbox;
        if (outbox == null) {
            return null;
        }
        OutboxClock clock = new OutboxClock(outbox, loops::nanos);
        return new OutboxRelay(
                outbox,
                new OutboxLeases(outbox, UUID.randomUUID().toString(), settings.outboxLease, loops::nanos),
                new OutboxStorage(topics, storage, clock, loops, settings.commandTimeout),
                clock,
                new OutboxLog(lines),
                loops);
    }

    @Override
    public void close() {
        if (relay != null) {
            relay.stop(Duration.ZERO);
        }
        rolledBack.close();
    }
}
