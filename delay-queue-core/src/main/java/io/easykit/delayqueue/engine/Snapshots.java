package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.admin.TopicSummary;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Overviews of all topics for any number of viewers, at a bounded cost: the longer one takes, the longer it is shown, up to half
 * a minute. It has what answers ({@link ShardSurvey}). A failure of all is shown to all viewers for two seconds too.
 */
final class Snapshots {

    private static final Logger log = LoggerFactory.getLogger(Snapshots.class);

    private static final long SHORTEST_PAUSE = TimeUnit.SECONDS.toNanos(2);

    /** So a snapshot takes at most half a percent of the time, unless it takes longer than 150 ms. */
    private static final int PAUSES = 200;

    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(30);

    private static final int MOST_FAILURES_NAMED = 3;

    /** Beyond these, one node takes the snapshot for all. */
    private static final int MOST_SHARDS_ALONE = 50;

    /** Samples change once a minute. */
    private static final long RATES_AGE = TimeUnit.MINUTES.toNanos(1);

    private static final Duration RATES_RANGE = Duration.ofMinutes(5);

    private record Known(@Nullable Rates rates, long readAt) {}

    private final QueueBackend store;
    private final LongSupplier nanos;
    private final ShardSurvey survey;
    private final Map<String, Known> rates = new HashMap<>();
    private @Nullable FleetSnapshot last;
    private @Nullable DelayQueueException failure;
    private long takenAt;
    private long pause;

    /** @param nanos a clock that only moves forward */
    Snapshots(QueueBackend store, LongSupplier nanos) {
        this.store = store;
        this.nanos = nanos;
        this.survey = new ShardSurvey(store, nanos);
    }

    synchronized FleetSnapshot get() {
        FleetSnapshot known = last;
        if (nanos.getAsLong() - takenAt < pause) {
            if (failure != null) {
                throw failure;
            }
            if (known != null) {
                return known;
            }
        }
        try {
            FleetSnapshot taken = takeOrRead();
            last = taken;
            failure = null;
            return taken;
        } catch (DelayQueueException e) {
            failure = e;
            pause = SHORTEST_PAUSE;
            throw e;
        } finally {
            takenAt = nanos.getAsLong();
        }
    }

    private FleetSnapshot takeOrRead() {
        SortedMap<String, Integer> topics = store.fleet().topics();
        boolean shares = topics.values().stream().mapToInt(count -> count).sum() > MOST_SHARDS_ALONE;
        if (shares) {
            FleetSnapshot ofAnother = ofAnother();
            if (ofAnother != null) {
                pause = SHORTEST_PAUSE; // to read it costs little
                return ofAnother;
            }
        }
        long begin = nanos.getAsLong();
        ShardSurvey.Result counts = survey.count(topics.entrySet().stream()
                .flatMap(topic -> TopicShards.keys(topic.getKey(), topic.getValue()).stream())
                .toList());
        FleetSnapshot taken = take(topics, counts);
        // Waiting for a reply costs the store nothing, so it does not count.
        long work = nanos.getAsLong() - begin - counts.waited();
        pause = Math.max(SHORTEST_PAUSE, Math.max(counts.waited(), Math.min(LONGEST_PAUSE, PAUSES * work)));
        if (shares) {
            share(taken);
        }
        return taken;
    }

    /** The snapshot of another node, or null if this one is to take its own. */
    private @Nullable FleetSnapshot ofAnother() {
        try {
            FleetStore.SharedSnapshot shared =
                    store.fleet().sharedSnapshot(Duration.ofNanos(Math.max(SHORTEST_PAUSE, pause)));
            return shared.take() ? null : shared.last();
        } catch (StoreRefusedException e) {
            log.debug("This node takes a snapshot of its own", e);
            return null;
        }
    }

    private void share(FleetSnapshot taken) {
        try {
            store.fleet().shareSnapshot(taken, Duration.ofNanos(pause));
        } catch (StoreRefusedException | StoreUnavailableException e) {
            log.debug("The other nodes take snapshots of their own", e);
        }
    }

    private FleetSnapshot take(SortedMap<String, Integer> topics, ShardSurvey.Result counts) {
        List<NodeInfo> nodes = store.fleet().nodes();
        Map<String, Integer> places = places(nodes);
        List<TopicSummary> summaries = new ArrayList<>();
        Instant now = Instant.EPOCH;
        for (Map.Entry<String, Integer> topic : topics.entrySet()) {
            TopicSummary summary =
                    summary(topic.getKey(), topic.getValue(), places.getOrDefault(topic.getKey(), 0), counts);
            ShardStats total = summary.total();
            if (total != null && total.now().isAfter(now)) {
                now = total.now();
            }
            summaries.add(summary);
        }
        return new FleetSnapshot(now, nodes.size(), summaries);
    }

    /** As {@link NodeInfo#places}, of all topics in one pass: there may be thousands, and hundreds of nodes. */
    private static Map<String, Integer> places(List<NodeInfo> nodes) {
        Map<String, Integer> places = new HashMap<>();
        for (NodeInfo node : nodes) {
            node.listeners().stream()
                    .filter(listener -> listener.pause() == null)
                    .forEach(listener -> places.merge(listener.topic(), listener.places(), Integer::sum));
        }
        return places;
    }

    private TopicSummary summary(String topic, int shards, int places, ShardSurvey.Result counts) {
        List<ShardKey> keys = TopicShards.keys(topic, shards);
        List<ShardStats> counted =
                keys.stream().map(counts.stats()::get).filter(Objects::nonNull).toList();
        List<DelayQueueException> failures = keys.stream()
                .map(counts.failures()::get)
                .filter(Objects::nonNull)
                .toList();
        String failure = failures.isEmpty() ? null : text(failures);
        if (counted.isEmpty()) {
            return new TopicSummary(topic, shards, 0, null, null, places, failure);
        }
        TopicStats stats = new TopicStats(topic, counted);
        boolean answers = failures.stream().noneMatch(StoreUnavailableException.class::isInstance);
        return new TopicSummary(
                topic,
                shards,
                stats.pausedShards(),
                stats.total(),
                answers ? rates(topic, keys) : null,
                places,
                failure);
    }

    private static String text(List<DelayQueueException> failures) {
        List<String> different = failures.stream()
                .map(failure -> String.valueOf(failure.getMessage()))
                .distinct()
                .toList();
        int more = different.size() - MOST_FAILURES_NAMED;
        return different.stream().limit(MOST_FAILURES_NAMED).collect(Collectors.joining(" "))
                + (more > 0 ? " (and " + more + " more)" : "");
    }

    private @Nullable Rates rates(String topic, List<ShardKey> keys) {
        Known known = rates.get(topic);
        if (known == null || nanos.getAsLong() - known.readAt() >= RATES_AGE) {
            known = new Known(read(topic, keys), nanos.getAsLong());
            rates.put(topic, known);
        }
        return known.rates();
    }

    private @Nullable Rates read(String topic, List<ShardKey> keys) {
        try {
            // A topic with one shard has no added ones, so its count need not be read.
            int home = keys.size() == 1 ? 1 : store.declared(topic).home();
            return Sampler.series(topic, home, keys, RATES_RANGE, store)
                    .latestRates()
                    .orElse(null);
        } catch (DelayQueueException e) {
            log.debug("No rates of {} are shown for a minute", topic, e);
            return null;
        }
    }
}
