package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.ClaimStatus;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.Settlement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Hands out due messages under leases. */
final class Claims {

    private final MemoryClock clock;

    Claims(MemoryClock clock) {
        this.clock = clock;
    }

    Claimed claim(MemoryShard shard, Claim claim, List<Settlement> acknowledged) {
        MemoryShard.Reply last = shard.replies.get(claim.owner());
        List<Delivery> deliveries = List.of();
        ClaimStatus status = ClaimStatus.CLAIMED;
        if (last != null && last.request() > claim.request()) {
            status = ClaimStatus.OUTDATED;
        } else if (last != null && last.request() == claim.request()) {
            deliveries = again(shard, last, claim);
        } else if (shard.pause != null) {
            status = ClaimStatus.PAUSED;
        } else {
            deliveries = handOut(shard, claim);
        }
        return new Claimed(
                clock.instant(),
                status,
                shard.pause != null ? null : shard.firstInstant(State.WAITING),
                shard.firstInstant(State.IN_FLIGHT),
                acknowledged,
                deliveries);
    }

    private List<Delivery> again(MemoryShard shard, MemoryShard.Reply last, Claim claim) {
        List<MemoryMessage> held = last.leases().stream()
                .flatMap(lease -> Stream.ofNullable(shard.live.get(lease.id()))
                        .filter(message -> message.isHeldUnder(lease.number())))
                .toList();
        int fitting = MemoryMessage.fitting(held, claim.bytes());
        held.subList(fitting, held.size()).forEach(MemoryMessage::waitAgain);
        List<Delivery> deliveries = new ArrayList<>();
        for (MemoryMessage message : held.subList(0, fitting)) {
            message.setTime(Math.max(message.at(), leaseEnd(claim)));
            deliveries.add(message.delivery(claim.bytes()));
        }
        return deliveries;
    }

    private List<Delivery> handOut(MemoryShard shard, Claim claim) {
        List<Delivery> deliveries = new ArrayList<>();
        List<Lease> leases = new ArrayList<>();
        for (MemoryMessage message : due(shard, claim)) {
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
        if (!deliveries.isEmpty()) {
            shard.replies.put(claim.owner(), new MemoryShard.Reply(claim.request(), leases));
        }
        return deliveries;
    }

    private long leaseEnd(Claim claim) {
        return clock.now() + MemoryClock.ceilingMillis(claim.lease());
    }

    private List<MemoryMessage> due(MemoryShard shard, Claim claim) {
        List<MemoryMessage> due = shard.arrived(State.WAITING, clock.now(), claim.count());
        if (due.stream().anyMatch(message -> message.orderingKey() != null)) {
            due = OrderingKeys.inTurn(
                    shard, shard.arrived(State.WAITING, clock.now(), Integer.MAX_VALUE), claim.count());
        }
        long innocent =
                due.stream().takeWhile(message -> !message.hasLostALease()).count();
        List<MemoryMessage> allowed = innocent == due.size()
                ? due
                : due.subList(0, Math.min(due.size(), Math.max((int) innocent, claim.besideLost())));
        return allowed.subList(0, MemoryMessage.fitting(allowed, claim.bytes()));
    }
}
