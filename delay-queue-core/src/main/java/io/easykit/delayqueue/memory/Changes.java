package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Cancels waiting messages, and gives them another due time. */
final class Changes {

    private final MemoryClock clock;
    private final Wakeups wakeups;
    private final OrderingKeys orderingKeys;

    Changes(MemoryClock clock, Wakeups wakeups, OrderingKeys orderingKeys) {
        this.clock = clock;
        this.wakeups = wakeups;
        this.orderingKeys = orderingKeys;
    }

    private static ChangeOutcome changeable(MemoryShard shard, Target target) {
        MemoryMessage message = shard.live.get(target.id());
        if (message == null) {
            return ChangeOutcome.GONE;
        }
        if (!message.isIncarnation(target.incarnation())) {
            return ChangeOutcome.OTHER_INCARNATION;
        }
        return switch (message.place()) {
            case WAITING -> ChangeOutcome.APPLIED;
            case IN_FLIGHT -> ChangeOutcome.IN_FLIGHT;
            case DEAD -> ChangeOutcome.DEAD;
        };
    }

    List<ChangeOutcome> cancel(MemoryShard shard, List<Target> targets) {
        orderingKeys.expose(shard, changed(shard, targets));
        List<ChangeOutcome> outcomes = new ArrayList<>();
        for (Target target : targets) {
            ChangeOutcome outcome = changeable(shard, target);
            MemoryMessage message = shard.live.get(target.id());
            if (outcome == ChangeOutcome.APPLIED && message != null) {
                shard.remove(message);
                OrderingKeys.free(shard, message);
                shard.count("cancelled", 1);
            }
            outcomes.add(outcome);
        }
        return outcomes;
    }

    List<ChangeOutcome> reschedule(MemoryShard shard, List<Reschedule> moves) {
        orderingKeys.expose(
                shard, changed(shard, moves.stream().map(Reschedule::target).toList()));
        Long earliestDue = shard.first(State.WAITING);
        List<ChangeOutcome> outcomes = new ArrayList<>();
        List<Long> arrivals = new ArrayList<>();
        for (Reschedule move : moves) {
            ChangeOutcome outcome = changeable(shard, move.target());
            MemoryMessage message = shard.live.get(move.target().id());
            if (outcome == ChangeOutcome.APPLIED && message != null) {
                message.setTime(clock.at(move.due()));
                arrivals.add(message.at());
            }
            outcomes.add(outcome);
        }
        wakeups.notify(shard.key, earliestDue, arrivals);
        return outcomes;
    }

    private static List<MemoryMessage> changed(MemoryShard shard, List<Target> targets) {
        return targets.stream()
                .filter(target -> changeable(shard, target) == ChangeOutcome.APPLIED)
                .flatMap(target -> Stream.ofNullable(shard.live.get(target.id())))
                .toList();
    }
}
