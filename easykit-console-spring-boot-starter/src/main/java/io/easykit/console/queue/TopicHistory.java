package io.easykit.console.queue;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.actuate.QueueViews;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.admin.TopicSeries.Point;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The recent past of topics, in equal steps of time. Read again after half a minute: there is a sample each minute. */
final class TopicHistory {

    private static final Duration AGE = Duration.ofSeconds(30);

    /** Time without readings after one without an answer. */
    private static final long PAUSE = Duration.ofSeconds(3).toNanos();

    /** Beyond this number all readings are forgotten. */
    private static final int MOST_KNOWN = 500;

    /** A range of time, and the step between two values. */
    enum Range {
        HOUR(Duration.ofHours(1), Duration.ofMinutes(1)),
        DAY(Duration.ofHours(24), Duration.ofMinutes(5));

        private final Duration length;
        private final long step;

        Range(Duration length, Duration step) {
            this.length = length;
            this.step = step.toMillis();
        }

        int steps() {
            return (int) (length.toMillis() / step);
        }
    }

    private record Key(String topic, Range range) {}

    private record Silence(StoreUnavailableException reason, long until) {}

    private final FleetAdmin fleet;
    private final ShownClock clock;
    private final LongSupplier nanos;
    private final Map<Key, Recent<Optional<TopicSeries>>> known = new ConcurrentHashMap<>();
    private volatile @Nullable Silence silence;

    TopicHistory(FleetAdmin fleet, ShownClock clock, LongSupplier nanos) {
        this.fleet = fleet;
        this.clock = clock;
        this.nanos = nanos;
    }

    private @Nullable TopicSeries series(String topic, Range range) {
        if (known.size() > MOST_KNOWN) {
            known.clear();
        }
        try {
            return known.computeIfAbsent(new Key(topic, range), key -> new Recent<>(() -> read(key), AGE, nanos))
                    .get()
                    .orElse(null);
        } catch (StoreRefusedException | StoreUnavailableException unknown) {
            return null;
        }
    }

    /**
     * Waits for one topic that does not answer, which is left out for as long as a reading is kept. Other ones are not read for a while,
     * so that a page with many topics does not wait for each.
     */
    private Optional<TopicSeries> read(Key key) {
        Silence last = silence;
        if (last != null && nanos.getAsLong() - last.until < 0) {
            throw last.reason;
        }
        try {
            TopicSeries series = fleet.series(key.topic(), key.range().length);
            clock.set(series.now());
            return Optional.of(series);
        } catch (StoreUnavailableException unanswered) {
            silence = new Silence(unanswered, nanos.getAsLong() + PAUSE);
            return Optional.empty();
        }
    }

    /** Messages that waited, one value a minute of the last hour, or null if Redis refuses or does not answer. */
    @Nullable Map<String, Object> waiting(String topic) {
        TopicSeries series = series(topic, Range.HOUR);
        return series == null ? null : Map.of("waiting", values(buckets(series, Range.HOUR), Point::waiting));
    }

    /** All that is known of the past of a topic, or null if Redis refuses or does not answer. */
    @Nullable Map<String, Object> whole(String topic, Range range) {
        TopicSeries series = series(topic, range);
        if (series == null) {
            return null;
        }
        List<@Nullable Point> buckets = buckets(series, range);
        List<@Nullable Rates> rates = rates(buckets);
        Map<String, Object> whole = new LinkedHashMap<>();
        whole.put("from", from(series, range));
        whole.put("stepSeconds", range.step / 1000);
        whole.put("waiting", values(buckets, Point::waiting));
        whole.put("due", values(buckets, Point::due));
        whole.put("inFlight", values(buckets, Point::inFlight));
        whole.put("dead", values(buckets, Point::dead));
        whole.put("lateSeconds", values(buckets, point -> DurationTexts.seconds(point.oldestDue())));
        whole.put("sent", values(rates, rate -> QueueViews.rounded(rate.sent())));
        whole.put("acknowledged", values(rates, rate -> QueueViews.rounded(rate.acknowledged())));
        whole.put("failed", values(rates, rate -> QueueViews.rounded(rate.failed())));
        whole.put("died", values(rates, rate -> QueueViews.rounded(rate.died())));
        return whole;
    }

    private static long from(TopicSeries series, Range range) {
        long last = Math.floorDiv(series.now().toEpochMilli(), range.step);
        return (last - range.steps() + 1) * range.step;
    }

    /** The last point of each step, or null. */
    private static List<@Nullable Point> buckets(TopicSeries series, Range range) {
        List<@Nullable Point> buckets = new ArrayList<>();
        for (int i = 0; i < range.steps(); i++) {
            buckets.add(null);
        }
        long from = from(series, range);
        for (Point point : series.points()) {
            long step = Math.floorDiv(point.at().toEpochMilli() - from, range.step);
            if (step >= 0 && step < buckets.size()) {
                buckets.set((int) step, point);
            }
        }
        return buckets;
    }

    /** Rates since the point before, or null. */
    private static List<@Nullable Rates> rates(List<@Nullable Point> buckets) {
        List<@Nullable Rates> rates = new ArrayList<>();
        Point before = null;
        for (Point point : buckets) {
            rates.add(point == null || before == null ? null : point.since(before));
            before = point == null ? before : point;
        }
        return rates;
    }

    private static <T> List<@Nullable Object> values(List<@Nullable T> points, Function<T, Object> value) {
        List<@Nullable Object> values = new ArrayList<>();
        for (T point : points) {
            values.add(point == null ? null : value.apply(point));
        }
        return values;
    }
}
