package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.support.Bytes;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads messages and statistics. */
final class Inspection {

    /** The order of {@link Position}s, which does not depend on announcements, without making one for each comparison. */
    private static final Comparator<MemoryMessage> BY_POSITION = Comparator.comparingLong(MemoryMessage::time)
            .thenComparing(message -> message.id.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private final MemoryClock clock;
    private final Alerts alerts;

    Inspection(MemoryClock clock, Alerts alerts) {
        this.clock = clock;
        this.alerts = alerts;
    }

    Optional<Bytes> read(MemoryShard shard, String id, Bytes incarnation, int from, int count) {
        MemoryMessage message = shard.live.get(id);
        if (message == null || !message.isIncarnation(incarnation) || from >= message.frame.length()) {
            return Optional.empty();
        }
        byte[] frame = message.frame.array();
        return Optional.of(Bytes.of(Arrays.copyOfRange(frame, from, Math.min(frame.length, from + count))));
    }

    Browsed browse(MemoryShard shard, Browse page) {
        List<MemoryMessage> all = ordered(shard, page.place());
        if (page.newestFirst()) {
            Collections.reverse(all);
        }
        List<MemoryMessage> left =
                all.stream().filter(message -> isLeft(message, page)).toList();
        return new Browsed(
                all.size(),
                all.size() - left.size(),
                left.stream()
                        .limit(page.count())
                        .map(message -> entry(message, page.frameBytes()))
                        .toList());
    }

    private static List<MemoryMessage> ordered(MemoryShard shard, State place) {
        List<MemoryMessage> all = new ArrayList<>(shard.in(place));
        all.sort(BY_POSITION);
        return all;
    }

    private static boolean isLeft(MemoryMessage message, Browse page) {
        Position after = page.after();
        if (after == null) {
            return true;
        }
        int order = message.position().compareTo(after);
        return page.newestFirst() ? order < 0 : order > 0;
    }

    private static Browsed.Entry entry(MemoryMessage message, int frameBytes) {
        byte[] frame = message.frame.array();
        return new Browsed.Entry(
                message.position(),
                Instant.ofEpochMilli(message.at()),
                message.history(),
                message.last,
                frame.length,
                Bytes.of(Arrays.copyOf(frame, Math.min(frame.length, frameBytes))),
                null);
    }

    DeadLetterErrors errors(MemoryShard shard, @Nullable Position after, int count) {
        List<MemoryMessage> all = ordered(shard, State.DEAD);
        return new DeadLetterErrors(
                all.size(),
                all.stream()
                        .dropWhile(
                                message -> after != null && message.position().compareTo(after) <= 0)
                        .limit(count)
                        .map(message -> new DeadLetterErrors.Entry(
                                message.position(),
                                Instant.ofEpochMilli(message.at()),
                                message.last == null ? null : message.last.text()))
                        .toList());
    }

    ShardStats stats(MemoryShard shard) {
        List<MemoryMessage> due = shard.arrived(State.WAITING, clock.now(), Integer.MAX_VALUE);
        return new ShardStats(
                clock.instant(),
                shard.pause,
                shard.in(State.WAITING).size(),
                due.size(),
                shard.in(State.IN_FLIGHT).size(),
                shard.in(State.DEAD).size(),
                due.isEmpty() ? null : Instant.ofEpochMilli(due.get(0).at()),
                alerts.raised(shard),
                new ShardStats.Counters(
                        shard.counter("sent"),
                        shard.counter("acknowledged"),
                        shard.counter("failed"),
                        shard.counter("lost"),
                        shard.counter("dead"),
                        shard.counter("cancelled"),
                        shard.counter("redriven"),
                        shard.counter("purged")),
                shard.in(State.WAITING).stream().filter(MemoryMessage::isParked).count(),
                OrderingKeys.stopped(shard),
                shard.flow.shown(clock));
    }
}
