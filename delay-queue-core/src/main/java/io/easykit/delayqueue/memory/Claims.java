package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.store.Borrowed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.ClaimStatus;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.Lent;
import io.easykit.delayqueue.store.Settlement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Hands out due messages under leases. */
final class Claims {

    private final MemoryClock clock;
    private final Wakeups wakeups;

    Claims(MemoryClock clock, Wakeups wakeups) {
        this.clock = clock;
        this.wakeups = wakeups;
    }

    /** @param exposes whether the acknowledgements have made a message of an ordering key due that other consumers do not know of */
    Claimed claim(MemoryShard shard, Claim claim, List<Settlement> acknowledged, boolean exposes) {
        Flow.Limits limits = claim.limits().isNone()
                ? null
                : shard.flow
                .new Limits(() -> shard.in(State.IN_FLIGHT).size(), claim.limits(), claim.borrowed(), clock);
        MemoryShard.Reply last = shard.replies.get(claim.owner());
        List<Delivery> deliveries = List.of();
        ClaimStatus status = ClaimStatus.CLAIMED;
        if (last != null && last.request() > claim.request()) {
            status = ClaimStatus.OUTDATED;
        } else if (last != null && last.request() == claim.request()) {
            deliveries = again(shard, last, claim, limits);
        } else if (shard.pause != null) {
            status = ClaimStatus.PAUSED;
        } else {
            deliveries = handOut(shard, claim, limits);
        }
        Instant nextDue = shard.pause != null ? null : shard.firstInstant(State.WAITING);
        Instant nextLeaseEnd = shard.firstInstant(State.IN_FLIGHT);
        boolean isLeft = nextDue != null && !nextDue.isAfter(clock.instant());
        boolean wakes = exposes && isLeft;
        if (limits != null && status == ClaimStatus.CLAIMED) {
            wakes |= limits.isAnswered(isLeft) && isLeft;
            if (isLeft && !limits.hasPlace()) {
                status = ClaimStatus.FULL;
            } else if (isLeft && !limits.hasPermit()) {
                status = ClaimStatus.THROTTLED;
            }
        }
        if (wakes) {
            wakeups.notify(
                    shard.key, null, List.of(Objects.requireNonNull(nextDue).toEpochMilli()));
        }
        if (limits != null && status == ClaimStatus.THROTTLED) {
            nextDue = Instant.ofEpochMilli(limits.nextPermits());
        } else if (status == ClaimStatus.FULL) {
            nextDue = null;
        }
        return new Claimed(clock.instant(), status, nextDue, nextLeaseEnd, acknowledged, deliveries);
    }

    Lent lend(MemoryShard shard, FlowShare share, int most) {
        Instant due = shard.firstInstant(State.WAITING);
        if (due != null && !due.isAfter(clock.instant())) {
            return new Lent(clock.instant(), 0, null);
        }
        Flow.Limits limits = shard.flow.new Limits(() -> 0, share, Borrowed.NONE, clock);
        int permits = Math.min(most, limits.most());
        if (permits > 0) {
            limits.use(permits);
        }
        return new Lent(clock.instant(), permits, Instant.ofEpochMilli(limits.nextPermitsFromNow()));
    }

    private List<Delivery> again(MemoryShard shard, MemoryShard.Reply last, Claim claim, Flow.@Nullable Limits limits) {
        List<MemoryMessage> held = last.leases().stream()
                .flatMap(lease -> Stream.ofNullable(shard.live.get(lease.id()))
                        .filter(message -> message.isHeldUnder(lease.number())))
                .toList();
        int fitting = MemoryMessage.fitting(held, claim.bytes());
        held.subList(fitting, held.size()).forEach(MemoryMessage::waitAgain);
        if (limits != null && fitting < held.size()) {
            int asked = claim.borrowed().permits();
            limits.use(Math.max(0, fitting - asked) - Math.max(0, held.size() - asked));
        }
        List<Delivery> deliveries = new ArrayList<>();
        for (MemoryMessage message : held.subList(0, fitting)) {
            message.setTime(Math.max(message.at(), leaseEnd(claim)));
            deliveries.add(message.delivery(claim.bytes()));
        }
        return deliveries;
    }

    private List<Delivery> handOut(MemoryShard shard, Claim claim, Flow.@Nullable Limits limits) {
        int most = limits == null ? claim.count() : Math.min(claim.count(), limits.most());
        List<Delivery> deliveries = new ArrayList<>();
        List<Lease> leases = new ArrayList<>();
        for (MemoryMessage message : due(shard, claim, most)) {
            shard.lastNumber = Math.max(shard.lastNumber + 1, clock.micros());
            MemoryMessage.Past past = message.past();
            past.number = shard.lastNumber;
            past.due = message.at();
            past.owner = claim.owner();
            OrderingKeys.hold(shard, message);
            leases.add(new Lease(message.id, past.number));
            message.move(State.IN_FLIGHT, leaseEnd(claim));
            deliveries.add(message.delivery(claim.bytes()));
        }
        if (limits != null && !deliveries.isEmpty()) {
            limits.begin(deliveries.size());
        }
        if (!deliveries.isEmpty()) {
            shard.replies.put(claim.owner(), new MemoryShard.Reply(claim.request(), leases));
        }
        return deliveries;
    }

    private long leaseEnd(Claim claim) {
        return clock.now() + MemoryClock.ceilingMillis(claim.lease());
    }

    private List<MemoryMessage> due(MemoryShard shard, Claim claim, int most) {
        List<MemoryMessage> due = shard.arrived(State.WAITING, clock.now(), most);
        if (due.stream().anyMatch(message -> message.orderingKey() != null)) {
            due = OrderingKeys.inTurn(shard, shard.arrived(State.WAITING, clock.now(), Integer.MAX_VALUE), most);
        }
        long innocent =
                due.stream().takeWhile(message -> !message.hasLostALease()).count();
        List<MemoryMessage> allowed = innocent == due.size()
                ? due
                : due.subList(0, Math.min(due.size(), Math.max((int) innocent, Math.min(most, claim.besideLost()))));
        return allowed.subList(0, MemoryMessage.fitting(allowed, claim.bytes()));
    }
}
