package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.StoredMessage;
import java.time.Duration;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * The settled messages of a consumer that the store has not confirmed. Each stays on the list until the store has answered,
 * even after its lease, because the delivery number decides and the message may still be unclaimed.
 *
 * <p>If a repetition changes nothing, the first call had reached the store, or another consumer has had the message since.
 * The difference matters for a dead letter only: its event is published only if the store shows that it is this one.
 */
@SuppressWarnings("JdkObsolete") // an ArrayDeque that lacks the memory to grow forgets its elements
final class Settlements {

    private final ShardContext context;
    private final Deque<InFlightMessage> acknowledged = new LinkedList<>();
    private final Deque<InFlightMessage> failed = new LinkedList<>();
    private final Map<Duration, Deque<InFlightMessage>> handedBack = new LinkedHashMap<>(); // by their delay
    private final Deque<InFlightMessage> givenUp = new LinkedList<>();
    private long told;

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
            case RELEASED ->
                handedBack
                        .computeIfAbsent(message.releaseDelay(), delay -> new LinkedList<>())
                        .add(message);
            case GIVEN_UP -> givenUp.add(message);
        }
    }

    int size() {
        int released = handedBack.values().stream().mapToInt(Deque::size).sum();
        return acknowledged.size() + failed.size() + released + givenUp.size();
    }

    /** How many messages the store has settled since the begin. */
    long told() {
        return told;
    }

    boolean hasAcknowledged() {
        return !acknowledged.isEmpty();
    }

    /** Acknowledgements to send with the next claim. */
    List<InFlightMessage> firstAcknowledged() {
        return acknowledged.stream().limit(QueueStore.MAX_BATCH).toList();
    }

    /** Removes those that a claim carries. The claimer repeats that claim until it is answered. */
    void removeAcknowledged(int count) {
        for (int i = 0; i < count; i++) {
            acknowledged.removeFirst();
        }
    }

    /** Sends all settlements but acknowledgements, which a claim may carry. */
    void tellFailedAndHandedBack() {
        tell(failed, some -> context.store()
                .fail(context.shard(), some.stream().map(Settlements::failure).toList()));
        handedBack.forEach((delay, messages) -> tell(messages, some -> release(some, delay)));
        tell(givenUp, this::giveUp);
    }

    private List<Settlement> release(List<InFlightMessage> some, Duration delay) {
        return delay.isZero()
                ? context.store().release(context.shard(), InFlightMessage.leases(some))
                : context.store().release(context.shard(), InFlightMessage.leases(some), delay);
    }

    /** The reply names the lost messages; nothing else follows from it. */
    private List<Settlement> giveUp(List<InFlightMessage> some) {
        ListenerEndpoint endpoint = context.endpoint();
        context.store()
                .giveUp(
                        context.shard(),
                        InFlightMessage.leases(some),
                        endpoint.maxLeaseExpirations(),
                        endpoint.leaseExpiredDelay(),
                        endpoint.deadKeyPolicy())
                .lost()
                .forEach(context.events()::leaseExpired);
        return Collections.nCopies(some.size(), Settlement.APPLIED);
    }

    /** Sends the settlements that no claim has carried. */
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
            } catch (RuntimeException | Error e) {
                some.forEach(InFlightMessage::markSettlementAttempted);
                throw e;
            }
        }
    }

    /** The store has answered. */
    void conclude(InFlightMessage message, Settlement answer) {
        told++;
        String death = message.result().death();
        boolean isRepetition = message.isSettlementAttempted();
        boolean isApplied = answer == Settlement.APPLIED || (isRepetition && death != null && hasDied(message));
        if (isApplied) {
            context.events().applied(message);
        }
        if (isApplied && death != null) {
            context.events().died(message.id(), death);
        } else if (!isApplied && !(isRepetition && death == null)) {
            context.events().settledLate(message);
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
