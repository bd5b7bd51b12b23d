package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.StoredMessage;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * What a consumer has to tell the store: the messages that are settled here. Each stays on its list until the store has
 * answered, even after its lease, because the delivery number decides and nobody may have taken the message meanwhile.
 *
 * <p>When a repetition changes nothing, the first call had reached the store, or somebody else has had the message since.
 * Nobody asks which, but for a death: it is told only if the store shows that it is this one.
 */
final class Settlements {

    private final ShardContext context;
    private final Deque<InFlightMessage> acknowledged = new ArrayDeque<>();
    private final Deque<InFlightMessage> failed = new ArrayDeque<>();
    private final Deque<InFlightMessage> handedBack = new ArrayDeque<>();
    private final Deque<InFlightMessage> handedBackLater = new ArrayDeque<>();
    private final Deque<InFlightMessage> givenUp = new ArrayDeque<>();

    Settlements(ShardContext context) {
        this.context = context;
    }

    void add(InFlightMessage message) {
        if (message.isRevoked()) {
            context.events().settledLate(message);
            return;
        }
        switch (message.result().verdict()) {
            case ACKNOWLEDGED -> acknowledged.add(message);
            case FAILED -> failed.add(message);
            case RELEASED -> (message.releaseDelay().isZero() ? handedBack : handedBackLater).add(message);
            case GIVEN_UP -> givenUp.add(message);
        }
    }

    int size() {
        return acknowledged.size() + failed.size() + handedBack.size() + handedBackLater.size() + givenUp.size();
    }

    boolean hasAcknowledged() {
        return !acknowledged.isEmpty();
    }

    /** Takes off the list what a claim is to take along; the claim sees to it that the store answers. */
    List<InFlightMessage> takeAcknowledged() {
        List<InFlightMessage> some =
                acknowledged.stream().limit(QueueStore.MAX_BATCH).toList();
        some.forEach(message -> acknowledged.removeFirst());
        return some;
    }

    /** Tells the store all but what is acknowledged, which a claim may take along. */
    void tellFailedAndHandedBack() {
        tell(failed, some -> context.store()
                .fail(context.shard(), some.stream().map(Settlements::failure).toList()));
        tell(handedBack, some -> context.store().release(context.shard(), InFlightMessage.leases(some)));
        tell(handedBackLater, some -> context.store()
                .release(
                        context.shard(),
                        InFlightMessage.leases(some),
                        some.get(0).releaseDelay()));
        tell(givenUp, this::giveUp);
    }

    /** The reply names what was lost; nothing else is to be concluded. */
    private List<Settlement> giveUp(List<InFlightMessage> some) {
        ListenerEndpoint endpoint = context.endpoint();
        context.store()
                .giveUp(
                        context.shard(),
                        InFlightMessage.leases(some),
                        endpoint.maxLeaseExpirations(),
                        endpoint.leaseExpiredDelay())
                .lost()
                .forEach(context.events()::leaseExpired);
        return Collections.nCopies(some.size(), Settlement.APPLIED);
    }

    /** Tells the store what no claim has taken along. */
    void tellAcknowledged() {
        tell(acknowledged, some -> context.store().acknowledge(context.shard(), InFlightMessage.leases(some)));
    }

    /** Makes a call in any case, and so shows whether the store answers. */
    void tellAcknowledgedOrNothing() {
        if (acknowledged.isEmpty()) {
            context.store().acknowledge(context.shard(), List.of());
        }
        tellAcknowledged();
    }

    private void tell(Deque<InFlightMessage> list, Function<List<InFlightMessage>, List<Settlement>> call) {
        while (!list.isEmpty()) {
            List<InFlightMessage> some =
                    list.stream().limit(QueueStore.MAX_BATCH).toList();
            try {
                List<Settlement> answers = call.apply(some);
                for (int i = 0; i < some.size(); i++) {
                    conclude(some.get(i), answers.get(i));
                    list.removeFirst();
                }
            } catch (DelayQueueException e) {
                some.forEach(InFlightMessage::markSettlementAttempted);
                throw e;
            }
        }
    }

    /** The store has answered. */
    void conclude(InFlightMessage message, Settlement answer) {
        String death = message.result().death();
        if (answer != Settlement.APPLIED && !(message.isSettlementAttempted() && (death == null || hasDied(message)))) {
            context.events().settledLate(message);
        } else if (death != null) {
            context.events().died(message.id(), death);
        }
    }

    /** Whether it was the run's failure that the message died of: not that of a later run, nor the loss of the lease. */
    private boolean hasDied(InFlightMessage message) {
        return context.store()
                .find(context.shard(), message.id())
                .filter(found -> found.state() == MessageInfo.State.DEAD)
                .map(StoredMessage::history)
                .filter(history ->
                        history.number() == message.delivery.number() && history.failures() == message.attempt())
                .isPresent();
    }

    private static Failure failure(InFlightMessage message) {
        return Objects.requireNonNull(message.result().failure());
    }
}
