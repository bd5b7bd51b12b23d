package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Redrives, replaces, purges and marks dead letters. */
final class DeadLetters {

    private final MemoryClock clock;
    private final Wakeups wakeups;
    private final OrderingKeys orderingKeys;

    DeadLetters(MemoryClock clock, Wakeups wakeups, OrderingKeys orderingKeys) {
        this.clock = clock;
        this.wakeups = wakeups;
        this.orderingKeys = orderingKeys;
    }

    private static @Nullable MemoryMessage find(MemoryShard shard, DeadLetterRef death) {
        MemoryMessage message = shard.live.get(death.id());
        boolean meant = message != null
                && message.place() == State.DEAD
                && message.at() == death.diedAt().toEpochMilli();
        return meant ? message : null;
    }

    List<Boolean> redrive(MemoryShard shard, List<DeadLetterRef> deaths) {
        Long earliestDue = shard.first(State.WAITING);
        List<MemoryMessage> redriven = new ArrayList<>();
        List<Boolean> outcomes = new ArrayList<>();
        for (DeadLetterRef death : deaths) {
            MemoryMessage message = find(shard, death);
            if (message != null) {
                redrive(message);
                redriven.add(message);
            }
            outcomes.add(message != null);
        }
        finishRedrive(shard, earliestDue, redriven);
        return outcomes;
    }

    private void redrive(MemoryMessage message) {
        MemoryMessage.Past past = message.past();
        past.failures = 0;
        past.lost = 0;
        past.due = clock.nowCeil();
        message.waitAgain();
    }

    private void finishRedrive(MemoryShard shard, @Nullable Long earliestDue, List<MemoryMessage> redriven) {
        shard.count("redriven", redriven.size());
        wakeups.notify(
                shard.key, earliestDue, redriven.stream().map(MemoryMessage::at).toList());
    }

    Replacement.Outcome replace(MemoryShard shard, DeadLetterRef death, Bytes incarnation, Bytes frame) {
        Long earliestDue = shard.first(State.WAITING);
        MemoryMessage message = find(shard, death);
        if (message == null) {
            MemoryMessage other = shard.live.get(death.id());
            return other != null && other.frame.equals(frame)
                    ? Replacement.Outcome.REPLACED
                    : Replacement.Outcome.NOT_DEAD;
        }
        if (!message.isIncarnation(incarnation)) {
            return Replacement.Outcome.OTHER_INCARNATION;
        }
        message.frame = frame;
        redrive(message);
        finishRedrive(shard, earliestDue, List.of(message));
        return Replacement.Outcome.REPLACED;
    }

    List<Boolean> purge(MemoryShard shard, List<DeadLetterRef> deaths) {
        List<MemoryMessage> meant = deaths.stream()
                .flatMap(death -> Stream.ofNullable(find(shard, death)))
                .distinct()
                .toList();
        List<Boolean> outcomes = new ArrayList<>();
        Set<MemoryMessage> left = new HashSet<>(meant);
        for (DeadLetterRef death : deaths) {
            outcomes.add(left.remove(find(shard, death)));
        }
        end(shard, meant);
        return outcomes;
    }

    int purge(MemoryShard shard, Duration age, int count) {
        List<MemoryMessage> old = shard.in(State.DEAD).stream()
                .filter(m -> age.isZero()
                        || m.at() + (m.isAnnounced() ? 1 : 0) <= clock.now() - MemoryClock.ceilingMillis(age))
                .limit(count)
                .toList();
        end(shard, old);
        return old.size();
    }

    private void end(MemoryShard shard, List<MemoryMessage> messages) {
        orderingKeys.expose(shard, messages);
        for (MemoryMessage message : messages) {
            shard.remove(message);
            OrderingKeys.free(shard, message);
        }
        shard.count("purged", messages.size());
    }

    List<Boolean> announced(MemoryShard shard, List<DeadLetterRef> deaths) {
        List<Boolean> outcomes = new ArrayList<>();
        for (DeadLetterRef death : deaths) {
            MemoryMessage message = find(shard, death);
            outcomes.add(message != null && !message.isAnnounced());
            if (message != null) {
                message.announce();
            }
        }
        return outcomes;
    }
}
