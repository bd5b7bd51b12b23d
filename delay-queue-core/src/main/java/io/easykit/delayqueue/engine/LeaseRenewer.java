package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.time.LoopExecutor;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Renews the leases of the messages that a consumer holds and that are not settled yet, all together after a third of their
 * time. A message is lost when the store reports it, or when its lease has expired by this node's own clock, which was
 * read before the claim was sent. Then its handler is interrupted.
 */
final class LeaseRenewer {

    private final ShardContext context;
    private final Set<InFlightMessage> open = new LinkedHashSet<>();
    private long renewAt;

    LeaseRenewer(ShardContext context) {
        this.context = context;
    }

    /** Adds messages whose claim was sent at this time. */
    void add(List<InFlightMessage> messages, long asked) {
        if (open.isEmpty()) {
            renewAt = asked + context.leaseNanos() / 3;
        }
        open.addAll(messages);
    }

    void remove(InFlightMessage message) {
        open.remove(message);
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    List<InFlightMessage> all() {
        return List.copyOf(open);
    }

    /**
     * Prolongs all leases when it is time.
     *
     * @param now whether it is time anyway: after an outage the store may be another server, by whose clock they are over
     */
    void renew(boolean now) {
        if (open.isEmpty() || (!now && context.nanos() - renewAt < 0)) {
            return;
        }
        long asked = context.nanos();
        for (List<InFlightMessage> some : Batches.of(open)) {
            List<Settlement> answers = context.store()
                    .extend(
                            context.shard(),
                            InFlightMessage.leases(some),
                            context.endpoint().lease());
            for (int i = 0; i < answers.size(); i++) {
                InFlightMessage message = some.get(i);
                if (answers.get(i) == Settlement.APPLIED) {
                    message.extendLease(asked + context.leaseNanos());
                } else {
                    message.markRevoked();
                    lose(message);
                }
            }
        }
        renewAt = asked + context.leaseNanos() / 3;
    }

    /** Gives up what this node could not renew in time, without asking the store. */
    void dropExpired() {
        long now = context.nanos();
        open.stream().filter(message -> message.leaseLeft(now) <= 0).toList().forEach(this::lose);
    }

    private void lose(InFlightMessage message) {
        open.remove(message);
        message.lose();
        HandlerCall run = message.execution();
        if (message.isSettled() || run == null) {
            return;
        }
        run.cancelIfNotStarted();
        if (!message.isSettled()) {
            // Else no handler works for nothing: it never starts, or has ended meanwhile.
            context.events().leaseLost(message);
        }
        run.interruptIfLost();
        run.onAllSettled();
    }

    /** For how long no lease has to be renewed. */
    long untilRenewal(long now) {
        return open.isEmpty() ? LoopExecutor.NEVER : renewAt - now;
    }

    /** For how long no lease ends. */
    long untilExpiry(long now) {
        return open.stream().mapToLong(message -> message.leaseLeft(now)).min().orElse(LoopExecutor.NEVER);
    }
}
