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

    private final ShardScope scope;
    private final Deque<HeldMessage> acknowledged = new ArrayDeque<>();
    private final Deque<HeldMessage> failed = new ArrayDeque<>();
    private final Deque<HeldMessage> handedBack = new ArrayDeque<>();
    private final Deque<HeldMessage> handedBackLater = new ArrayDeque<>();
    private final Deque<HeldMessage> givenUp = new ArrayDeque<>();

    Settlements(ShardScope scope) {
        this.scope = scope;
    }

    void add(HeldMessage message) {
        if (message.gone) {
            scope.reports().settledLate(message);
            return;
        }
        switch (message.result().verdict()) {
            case ACKNOWLEDGED -> acknowledged.add(message);
            case FAILED -> failed.add(message);
            case HANDED_BACK -> (message.handBackDelay().isZero() ? handedBack : handedBackLater).add(message);
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
    List<HeldMessage> takeAcknowledged() {
        List<HeldMessage> some =
                acknowledged.stream().limit(QueueStore.MAX_BATCH).toList();
        some.forEach(message -> acknowledged.removeFirst());
        return some;
    }

    /** Tells the store all but what is acknowledged, which a claim may take along. */
    void tellFailedAndHandedBack() {
        tell(failed, some -> scope.store()
                .fail(scope.shard(), some.stream().map(Settlements::failure).toList()));
        tell(handedBack, some -> scope.store().release(scope.shard(), HeldMessage.leases(some)));
        tell(handedBackLater, some -> scope.store()
                .release(scope.shard(), HeldMessage.leases(some), some.get(0).handBackDelay()));
        tell(givenUp, this::giveUp);
    }

    /** The reply names what was lost; nothing else is to be concluded. */
    private List<Settlement> giveUp(List<HeldMessage> some) {
        ListenerEndpoint endpoint = scope.endpoint();
        scope.store()
                .giveUp(scope.shard(), HeldMessage.leases(some), endpoint.maxLost(), endpoint.lostDelay())
                .lost()
                .forEach(scope.reports()::leaseExpired);
        return Collections.nCopies(some.size(), Settlement.APPLIED);
    }

    /** Tells the store what no claim has taken along. */
    void tellAcknowledged() {
        tell(acknowledged, some -> scope.store().acknowledge(scope.shard(), HeldMessage.leases(some)));
    }

    /** Makes a call in any case, and so shows whether the store answers. */
    void tellAcknowledgedOrNothing() {
        if (acknowledged.isEmpty()) {
            scope.store().acknowledge(scope.shard(), List.of());
        }
        tellAcknowledged();
    }

    private void tell(Deque<HeldMessage> list, Function<List<HeldMessage>, List<Settlement>> call) {
        while (!list.isEmpty()) {
            List<HeldMessage> some = list.stream().limit(QueueStore.MAX_BATCH).toList();
            try {
                List<Settlement> answers = call.apply(some);
                for (int i = 0; i < some.size(); i++) {
                    conclude(some.get(i), answers.get(i));
                    list.removeFirst();
                }
            } catch (DelayQueueException e) {
                some.forEach(message -> message.asked = true);
                throw e;
            }
        }
    }

    /** The store has answered. */
    void conclude(HeldMessage message, Settlement answer) {
        String death = message.result().death();
        if (answer != Settlement.APPLIED && !(message.asked && (death == null || hasDied(message)))) {
            scope.reports().settledLate(message);
        } else if (death != null) {
            scope.reports().died(message.id(), death);
        }
    }

    /** Whether it was the run's failure that the message died of: not that of a later run, nor the loss of the lease. */
    private boolean hasDied(HeldMessage message) {
        return scope.store()
                .find(scope.shard(), message.id())
                .filter(found -> found.state() == MessageInfo.State.DEAD)
                .map(StoredMessage::history)
                .filter(history ->
                        history.number() == message.delivery.number() && history.failures() == message.attempt())
                .isPresent();
    }

    private static Failure failure(HeldMessage message) {
        return Objects.requireNonNull(message.result().failure());
    }
}
