package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.Settlement;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The leases of the messages that a consumer holds and that are not settled yet. They are renewed together after a third of
 * their time. A message is lost when the store says so, or when its lease has ended by this node's own clock, which started
 * before the store's: its handler is interrupted and told.
 */
final class HeldLeases {

    private final ShardScope scope;
    private final Set<HeldMessage> open = new LinkedHashSet<>();
    private long renewAt;

    HeldLeases(ShardScope scope) {
        this.scope = scope;
    }

    /** Takes in messages whose leases were asked for at this time. */
    void add(List<HeldMessage> messages, long asked) {
        if (open.isEmpty()) {
            renewAt = asked + scope.leaseNanos() / 3;
        }
        open.addAll(messages);
    }

    void remove(HeldMessage message) {
        open.remove(message);
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    List<HeldMessage> all() {
        return List.copyOf(open);
    }

    /** Prolongs all leases when it is time. */
    void renew() {
        if (open.isEmpty() || scope.nanos() - renewAt < 0) {
            return;
        }
        long asked = scope.nanos();
        for (List<HeldMessage> some : PreparedMessage.batches(open)) {
            List<Settlement> answers = scope.store()
                    .extend(
                            scope.shard(),
                            HeldMessage.leases(some),
                            scope.endpoint().lease());
            for (int i = 0; i < answers.size(); i++) {
                HeldMessage message = some.get(i);
                if (answers.get(i) == Settlement.APPLIED) {
                    message.leaseEnd = asked + scope.leaseNanos();
                } else {
                    message.gone = true;
                    lose(message);
                }
            }
        }
        renewAt = asked + scope.leaseNanos() / 3;
    }

    /** Gives up what this node could not renew in time, without asking the store. */
    void giveUpEnded() {
        long now = scope.nanos();
        open.stream().filter(message -> now - message.leaseEnd >= 0).toList().forEach(this::lose);
    }

    private void lose(HeldMessage message) {
        open.remove(message);
        message.lose();
        HandlerRun run = message.run();
        if (message.isSettled() || run == null) {
            return;
        }
        scope.reports().leaseLost(message);
        run.abandon();
        run.interruptIfLost();
        run.onClosed();
    }

    /** For how long no lease has to be renewed. */
    long restUntilRenewal(long now) {
        return open.isEmpty() ? ShardScope.NEVER : renewAt - now;
    }

    /** For how long no lease ends. */
    long restUntilEnd(long now) {
        return open.stream().mapToLong(message -> message.leaseEnd - now).min().orElse(ShardScope.NEVER);
    }
}
