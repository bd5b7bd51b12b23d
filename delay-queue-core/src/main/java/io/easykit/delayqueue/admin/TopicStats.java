package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.AlertLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of a topic. Those of one shard are read at the same time, those of several shards one after the other.
 *
 * @param byNumber shards by their number, in this order; the first one is 0
 * @param refused why other shards are missing, one text for each: the store refused to count them, for example because a key
 *                has another type. Empty if the numbers are complete
 */
public record TopicStats(String topic, SortedMap<Integer, ShardStats> byNumber, List<String> refused) {

    public TopicStats {
        byNumber = Collections.unmodifiableSortedMap(new TreeMap<>(byNumber));
        refused = List.copyOf(refused);
    }

    /** Numbers of all shards, in their order. */
    public TopicStats(String topic, List<ShardStats> shards) {
        this(topic, numbered(shards), List.of());
    }

    private static SortedMap<Integer, ShardStats> numbered(List<ShardStats> shards) {
        SortedMap<Integer, ShardStats> numbered = new TreeMap<>();
        shards.forEach(shard -> numbered.put(numbered.size(), shard));
        return numbered;
    }

    /** The shards in their order. Those that are refused are missing, so an index is no number of a shard. */
    public List<ShardStats> shards() {
        return List.copyOf(byNumber.values());
    }

    /** The numbers of all shards as those of one, with the latest of their clocks. */
    public ShardStats total() {
        return new ShardStats(
                byNumber.values().stream()
                        .map(ShardStats::now)
                        .max(Instant::compareTo)
                        .orElse(Instant.EPOCH),
                pause(),
                waiting(),
                due(),
                inFlight(),
                dead(),
                oldestDue(),
                alerts(),
                counters(),
                parked(),
                stoppedKeys(),
                flow());
    }

    /** Messages that wait, due ones included. */
    public long waiting() {
        return sum(ShardStats::waiting);
    }

    /** Messages that are due and not claimed. */
    public long due() {
        return sum(ShardStats::due);
    }

    public long inFlight() {
        return sum(ShardStats::inFlight);
    }

    public long dead() {
        return sum(ShardStats::dead);
    }

    /** Messages that were due, and wait behind another one of their ordering key. */
    public long parked() {
        return sum(ShardStats::parked);
    }

    /** Ordering keys that a dead letter has stopped. */
    public long stoppedKeys() {
        return sum(ShardStats::stoppedKeys);
    }

    /** Whether limits keep due messages of any shard from being claimed. */
    public boolean limited() {
        return byNumber.values().stream().anyMatch(ShardStats::limited);
    }

    /** Due messages of the shards that are limited: they wait for a permit or a place. */
    public long heldByLimits() {
        return sum(shard -> shard.limited() ? shard.due() : 0);
    }

    /** The limits of all shards together, or null if there are none. Shards that are limited have no permits for the others. */
    public ShardStats.@Nullable Flow flow() {
        List<ShardStats.Flow> flows = byNumber.values().stream()
                .flatMap(shard -> Stream.ofNullable(shard.flow()))
                .toList();
        double perSecond =
                flows.stream().mapToDouble(ShardStats.Flow::perSecond).sum();
        return flows.isEmpty()
                ? null
                : new ShardStats.Flow(
                        perSecond == 0 ? Duration.ZERO : Duration.ofNanos(Math.round(1e9 / perSecond)),
                        flows.stream().mapToInt(ShardStats.Flow::burst).sum(),
                        limited()
                                ? 0
                                : flows.stream()
                                        .mapToInt(ShardStats.Flow::permits)
                                        .sum(),
                        flows.stream().mapToInt(ShardStats.Flow::places).sum(),
                        flows.stream()
                                .flatMap(flow -> Stream.ofNullable(flow.usedAt()))
                                .max(Comparator.naturalOrder())
                                .orElse(null));
    }

    /** Whether the claims of any shard are stopped. */
    public boolean paused() {
        return byNumber.values().stream().anyMatch(ShardStats::paused);
    }

    /** How many of the shards are paused: all of them, unless a pause could not reach some. */
    public int pausedShards() {
        return (int) sum(shard -> shard.paused() ? 1 : 0);
    }

    /** The pause of the first shard that is paused, or null if none is. */
    public ShardStats.@Nullable Pause pause() {
        return byNumber.values().stream()
                .map(ShardStats::pause)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** The {@link ShardStats#imbalance} of all shards: 0, unless keys were changed by hand or evicted, or a script failed half way. */
    public long imbalance() {
        return sum(ShardStats::imbalance);
    }

    /** Limits that are reported as exceeded. */
    public Set<AlertLimits.Kind> alerts() {
        return byNumber.values().stream()
                .flatMap(shard -> shard.alerts().stream())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** When the oldest message that is due and not claimed was due, or null if there is none. */
    public @Nullable Instant oldestDue() {
        return byNumber.values().stream()
                .map(ShardStats::oldestDue)
                .filter(Objects::nonNull)
                .min(Comparator.naturalOrder())
                .orElse(null);
    }

    /** How long the oldest message that is not claimed has been due; zero if none is due. */
    public Duration oldestDueAge() {
        return byNumber.values().stream()
                .map(TopicStats::age)
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    /** What happened since the topic exists. */
    public ShardStats.Counters counters() {
        return new ShardStats.Counters(
                sum(s -> s.counters().sent()),
                sum(s -> s.counters().acknowledged()),
                sum(s -> s.counters().failed()),
                sum(s -> s.counters().leaseExpirations()),
                sum(s -> s.counters().dead()),
                sum(s -> s.counters().cancelled()),
                sum(s -> s.counters().redriven()),
                sum(s -> s.counters().purged()));
    }

    private long sum(ToLongFunction<ShardStats> field) {
        return byNumber.values().stream().mapToLong(field).sum();
    }

    private static Duration age(ShardStats shard) {
        Instant oldest = shard.oldestDue();
        return oldest == null ? Duration.ZERO : Duration.between(oldest, shard.now());
    }
}
