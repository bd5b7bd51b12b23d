package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.LostLease;
import io.easykit.delayqueue.store.Reaped;
import io.easykit.delayqueue.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Acknowledges, fails, releases and extends messages in flight, and ends their leases. */
final class Settling {

    private final MemoryClock clock;
    private final Wakeups wakeups;
    private final OrderingKeys orderingKeys;

    Settling(MemoryClock clock, Wakeups wakeups, OrderingKeys orderingKeys) {
        this.clock = clock;
        this.wakeups = wakeups;
        this.orderingKeys = orderingKeys;
    }

    /** Settles a message that is in flight under the given delivery number. */
    private interface Change {
        void apply(MemoryMessage message, MemoryMessage.Past past);
    }

    private static Settlement settle(MemoryShard shard, Lease lease, Change change) {
        MemoryMessage message = shard.live.get(lease.id());
        if (message == null || message.past == null) {
            return Settlement.GONE;
        }
        if (!message.isHeldUnder(lease.number())) {
            return Settlement.STALE;
        }
        change.apply(message, message.past);
        return Settlement.APPLIED;
    }

    List<Settlement> acknowledge(MemoryShard shard, List<Lease> leases) {
        orderingKeys.expose(shard, held(shard, leases));
        return end(shard, leases);
    }

    /** The messages that are in flight under these leases. */
    static Set<MemoryMessage> held(MemoryShard shard, List<Lease> leases) {
        Set<MemoryMessage> held = new LinkedHashSet<>();
        for (Lease lease : leases) {
            MemoryMessage message = shard.live.get(lease.id());
            if (message != null && message.isHeldUnder(lease.number())) {
                held.add(message);
            }
        }
        return held;
    }

    static List<Settlement> end(MemoryShard shard, List<Lease> leases) {
        List<Settlement> settlements = new ArrayList<>();
        Set<String> ended = new HashSet<>();
        for (Lease lease : leases) {
            Settlement settlement = settle(shard, lease, (message, past) -> {
                shard.remove(message);
                OrderingKeys.free(shard, message);
                shard.count("acknowledged", 1);
                ended.add(message.id);
            });
            // A batch is atomic: a message that an earlier entry has ended still existed when the batch began.
            boolean repeated = settlement == Settlement.GONE && ended.contains(lease.id());
            settlements.add(repeated ? Settlement.STALE : settlement);
        }
        return settlements;
    }

    List<Settlement> fail(MemoryShard shard, List<Failure> failures) {
        Set<MemoryMessage> skipped = skipped(shard, failures);
        orderingKeys.expose(shard, skipped);
        Long earliestDue = shard.first(State.WAITING);
        List<Settlement> settlements = new ArrayList<>();
        List<Long> arrivals = new ArrayList<>();
        for (Failure failure : failures) {
            settlements.add(settle(shard, failure.lease(), (message, past) -> {
                past.failures++;
                shard.count("failed", 1);
                Duration retryAfter = failure.retryAfter();
                if (retryAfter == null) {
                    message.move(State.DEAD, clock.now());
                    shard.count("dead", 1);
                } else {
                    past.due = clock.after(retryAfter);
                    message.waitAgain();
                    arrivals.add(past.due);
                }
                message.note(clock.now(), failure.error());
            }));
        }
        skipped.forEach(message -> OrderingKeys.free(shard, message));
        wakeups.notify(shard.key, earliestDue, arrivals);
        return settlements;
    }

    /** The messages that die, and whose ordering keys go on. */
    private static Set<MemoryMessage> skipped(MemoryShard shard, List<Failure> failures) {
        Set<String> seen = new HashSet<>();
        List<Lease> skipped = failures.stream()
                .filter(failure -> held(shard, List.of(failure.lease())).size() == 1)
                .filter(failure -> seen.add(failure.lease().id()))
                .filter(failure -> failure.retryAfter() == null && failure.deadKeyPolicy() == DeadKeyPolicy.SKIP)
                .map(Failure::lease)
                .toList();
        return held(shard, skipped);
    }

    List<Settlement> release(MemoryShard shard, List<Lease> leases, Duration delay) {
        Long earliestDue = shard.first(State.WAITING);
        List<Long> arrivals = new ArrayList<>();
        List<Settlement> settlements = leases.stream()
                .map(lease -> settle(shard, lease, (message, past) -> {
                    past.releases++;
                    past.due = delay.isZero() ? past.due : clock.after(delay);
                    message.waitAgain();
                    arrivals.add(past.due);
                }))
                .toList();
        wakeups.notify(shard.key, earliestDue, arrivals);
        return settlements;
    }

    List<Settlement> extend(MemoryShard shard, List<Lease> leases, Duration duration) {
        long end = clock.now() + MemoryClock.ceilingMillis(duration);
        Set<String> seen = new HashSet<>();
        return leases.stream()
                .map(lease -> {
                    Settlement settlement =
                            settle(shard, lease, (message, past) -> message.setTime(Math.max(message.at(), end)));
                    boolean repeated = settlement == Settlement.APPLIED && !seen.add(lease.id());
                    return repeated ? Settlement.STALE : settlement;
                })
                .toList();
    }

    /** The messages in flight whose leases have expired, by the clock and until this time. */
    List<MemoryMessage> expired(MemoryShard shard, int count, Instant until) {
        return shard.arrived(State.IN_FLIGHT, Math.min(clock.now(), until.toEpochMilli()), count);
    }

    Reaped lose(
            MemoryShard shard,
            List<MemoryMessage> messages,
            int maxLeaseExpirations,
            Duration delay,
            DeadKeyPolicy policy) {
        List<MemoryMessage> skipped = messages.stream()
                .filter(message -> policy == DeadKeyPolicy.SKIP && message.past().lost + 1 >= maxLeaseExpirations)
                .toList();
        orderingKeys.expose(shard, skipped);
        skipped.forEach(message -> OrderingKeys.free(shard, message));
        Long earliestDue = shard.first(State.WAITING);
        List<LostLease> lost = new ArrayList<>();
        List<Long> arrivals = new ArrayList<>();
        for (MemoryMessage message : messages) {
            MemoryMessage.Past past = message.past();
            past.lost++;
            boolean dies = past.lost >= maxLeaseExpirations;
            if (dies) {
                message.move(State.DEAD, clock.now());
                message.note(clock.now(), ErrorNote.LEASE_LOST);
                shard.count("dead", 1);
            } else {
                past.due = delay.isZero() ? past.due : clock.after(delay);
                message.waitAgain();
                arrivals.add(past.due);
            }
            lost.add(new LostLease(new Lease(message.id, past.number), past.owner, past.lost, dies));
        }
        shard.count("lost", lost.size());
        wakeups.notify(shard.key, earliestDue, arrivals);
        return new Reaped(clock.instant(), shard.firstInstant(State.IN_FLIGHT), lost);
    }
}
