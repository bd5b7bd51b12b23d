package io.easykit.delayqueue.actuate;

import io.easykit.boot.DurationTexts;
import io.easykit.boot.EnumWords;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.JobRequest.Action;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.admin.TopicSummary;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Topics, groups of errors, nodes and jobs as JSON, for the endpoint and the console. A value that is null, and an empty list of
 * refused shards, is left out. The maps may be changed.
 */
public final class QueueViews {

    /** The rate of a job without a limit. */
    public static final String UNLIMITED = "unlimited";

    /** The highest rate of a job with a limit, in messages a second. */
    public static final int MAX_RATE = 1_000_000;

    private final Function<Instant, Object> times;

    /** @param times writes a time */
    public QueueViews(Function<Instant, Object> times) {
        this.times = times;
    }

    private Row row() {
        return new Row(times);
    }

    /** A topic of the overview. */
    public Map<String, Object> topic(TopicSummary topic) {
        String failure = topic.failure();
        Row row = row().with("topic", topic.topic())
                .with("shards", topic.shards())
                .with("pausedShards", topic.pausedShards())
                .with("places", topic.places())
                .with("refused", failure == null ? null : List.of(failure));
        ShardStats total = topic.total();
        if (total != null) {
            total(row, total, limits(total.flow(), total.limited(), total.limited() ? total.due() : 0));
        }
        Rates rates = topic.rates();
        return row.with("rates", rates == null ? null : rates(rates)).values();
    }

    /** A topic with its shards, without rates and places, which its statistics do not have. */
    public Map<String, Object> topic(TopicStats stats) {
        Row row = row().with("topic", stats.topic())
                .with("shards", stats.shards().size() + stats.refused().size())
                .with("pausedShards", stats.pausedShards())
                .with("refused", stats.refused().isEmpty() ? null : stats.refused());
        total(row, stats.total(), limits(stats.flow(), stats.limited(), stats.heldByLimits()));
        List<Map<String, Object>> shards = new ArrayList<>();
        stats.byNumber().forEach((number, shard) -> {
            Row one = row().with("shard", number);
            numbers(one, shard);
            shards.add(one.values());
        });
        return row.with("shardList", shards).values();
    }

    private void total(Row row, ShardStats total, @Nullable Map<String, Object> limits) {
        numbers(row, total);
        row.with("stoppedKeys", total.stoppedKeys())
                .with("alerts", alerts(total))
                .with("limits", limits)
                .with("counters", counters(total.counters()));
    }

    private void numbers(Row row, ShardStats shard) {
        ShardStats.Pause pause = shard.pause();
        row.with("pause", pause == null ? null : pause(pause.by(), pause.at()))
                .with("waiting", shard.waiting())
                .with("due", shard.due())
                .with("parked", shard.parked())
                .with("inFlight", shard.inFlight())
                .with("dead", shard.dead())
                .with("imbalance", shard.imbalance());
        Instant oldest = shard.oldestDue();
        if (oldest != null) {
            row.with("oldestDue", oldest).with("lateSeconds", Duration.between(oldest, shard.now()));
        }
    }

    private Map<String, Object> pause(String by, @Nullable Instant at) {
        return row().with("by", by).with("at", at).values();
    }

    private List<Map<String, Object>> alerts(ShardStats total) {
        return total.alerts().stream().sorted().map(kind -> alert(kind, total)).toList();
    }

    /** An alert of a topic: {@code kind}, and {@code value} if it has one. */
    public Map<String, Object> alert(Kind kind, ShardStats total) {
        return row().with("kind", EnumWords.of(kind))
                .with("value", alertNumber(kind, alertValue(kind, total)))
                .values();
    }

    /** The value of an alert: milliseconds for {@code LATENESS}, else messages. Null if it has none. */
    public static @Nullable Long alertValue(Kind kind, ShardStats total) {
        Instant oldest = total.oldestDue();
        return switch (kind) {
            case LATENESS ->
                oldest == null
                        ? null
                        : (Long) Duration.between(oldest, total.now()).toMillis();
            case DUE -> total.due();
            case DEAD -> total.dead();
            case WAITING -> total.waiting();
            case NO_CONSUMER, FAILING -> null;
        };
    }

    /**
     * A value or a limit of an alert as replies have it: seconds for {@code LATENESS}.
     *
     * @param value as {@link #alertValue} returns it
     */
    public static @Nullable Number alertNumber(Kind kind, @Nullable Long value) {
        return value == null || kind != Kind.LATENESS
                ? value
                : (Number) DurationTexts.seconds(Duration.ofMillis(value));
    }

    private @Nullable Map<String, Object> limits(ShardStats.@Nullable Flow flow, boolean limited, long held) {
        if (flow == null) {
            return null;
        }
        boolean hasRate = flow.perSecond() > 0;
        return row().with("perSecond", hasRate ? flow.perSecond() : null)
                .with("burst", hasRate ? flow.burst() : null)
                .with("permits", hasRate ? flow.permits() : null)
                .with("maxInFlight", flow.places() > 0 ? flow.places() : null)
                .with("limited", limited)
                .with("held", held)
                .values();
    }

    private Map<String, Object> counters(ShardStats.Counters counters) {
        return row().with("sent", counters.sent())
                .with("acknowledged", counters.acknowledged())
                .with("failed", counters.failed())
                .with("leaseExpirations", counters.leaseExpirations())
                .with("died", counters.dead())
                .with("cancelled", counters.cancelled())
                .with("redriven", counters.redriven())
                .with("purged", counters.purged())
                .values();
    }

    /** Messages a second. */
    public Map<String, Object> rates(Rates rates) {
        return row().with("sent", rounded(rates.sent()))
                .with("acknowledged", rounded(rates.acknowledged()))
                .with("failed", rounded(rates.failed()))
                .with("leaseExpirations", rounded(rates.leaseExpirations()))
                .with("died", rounded(rates.died()))
                .values();
    }

    /** A rate with three decimals. */
    public static double rounded(double rate) {
        return Math.round(rate * 1000) / 1000.0;
    }

    /** Dead letters by their errors. */
    public Map<String, Object> groups(ErrorGroups groups) {
        return row().with("total", groups.total())
                .with("scanned", groups.scanned())
                .with("groups", groups(groups.groups()))
                .with("refused", groups.refused().isEmpty() ? null : groups.refused())
                .values();
    }

    private List<Map<String, Object>> groups(List<ErrorGroups.Count> groups) {
        return groups.stream()
                .map(count -> row().with("group", count.group().key())
                        .with("title", count.group().title())
                        .with("type", count.group().type())
                        .with("text", count.group().message())
                        .with("frame", count.group().frame())
                        .with("count", count.count())
                        .with("firstAt", count.first())
                        .with("lastAt", count.last())
                        .with("sample", death(count.sample()))
                        .values())
                .toList();
    }

    private Map<String, Object> death(DeadLetterRef death) {
        return row().with("id", death.id()).with("diedAt", death.diedAt()).values();
    }

    /** Ordering keys that a dead letter has stopped. */
    public List<Map<String, Object>> stoppedKeys(List<StoppedKey> keys) {
        return keys.stream()
                .map(key -> row().with("key", key.key())
                        .with("id", key.id())
                        .with("diedAt", key.diedAt())
                        .with("parked", key.parked())
                        .values())
                .toList();
    }

    /** A node with its listeners. */
    public Map<String, Object> node(NodeInfo node) {
        return row().with("node", node.id())
                .with("application", node.application())
                .with("host", node.host())
                .with("versions", node.versions())
                .with("startedAt", node.startedAt())
                .with("seenAt", node.seenAt())
                .with("listeners", node.listeners().stream().map(this::listener).toList())
                .values();
    }

    private Map<String, Object> listener(NodeInfo.Listener listener) {
        NodeInfo.Pause pause = listener.pause();
        return row().with("listener", listener.id())
                .with("topic", listener.topic())
                .with("busy", listener.busy())
                .with("places", listener.places())
                .with("oldestRunSeconds", listener.oldestRun())
                .with("pause", pause == null ? null : pause(pause.by(), pause.at()))
                .values();
    }

    /**
     * A job without what it has found.
     *
     * @param shown whether the reader may see bodies and header values. The text of a job may be one of them
     */
    public Map<String, Object> job(Job job, boolean shown) {
        return jobRow(job, shown).values();
    }

    /**
     * A job with the groups, or the matches, that it has found.
     *
     * @param shown as in {@link #job}. What a job with a text has found reveals values, too
     */
    public Map<String, Object> jobWithResult(Job job, boolean shown) {
        if (!shown && job.request().filter().text() != null) {
            return job(job, false);
        }
        Action action = job.request().action();
        return jobRow(job, shown)
                .with("groups", action == Action.GROUP ? groups(job.groups()) : null)
                .with(
                        "matches",
                        action == Action.SEARCH
                                ? job.matches().stream().map(this::death).toList()
                                : null)
                .values();
    }

    private Row jobRow(Job job, boolean shown) {
        JobRequest request = job.request();
        JobRequest.Filter filter = request.filter();
        return row().with("id", job.id())
                .with("topic", request.topic())
                .with("action", EnumWords.of(request.action()))
                .with("state", EnumWords.of(job.state()))
                .with("by", request.by())
                .with("note", request.note())
                .with("group", filter.group())
                .with("olderThanSeconds", filter.olderThan().isZero() ? null : filter.olderThan())
                .with("text", shown ? filter.text() : null)
                .with("diedUntil", filter.diedUntil())
                .with("perSecond", limit(request.perSecond()))
                .with("stopAt", limit(request.stopAt()))
                .with("createdAt", job.createdAt())
                .with("updatedAt", job.updatedAt())
                .with("endedAt", job.state() == Job.State.RUNNING ? null : job.updatedAt())
                .with("node", job.node())
                .with("total", job.total())
                .with("scanned", job.scanned())
                .with("matched", job.matched())
                .with("capped", isCapped(job))
                .with("done", job.done())
                .with("missed", job.missed())
                .with("deaths", job.deaths())
                .with("problem", job.problem());
    }

    /** A limit of a job, or null if it has none. */
    public static @Nullable Integer limit(int value) {
        return value == Integer.MAX_VALUE ? null : value;
    }

    /** Whether a search has ended before it had read all dead letters. */
    private static boolean isCapped(Job job) {
        return job.request().action() == Action.SEARCH
                && job.state() == Job.State.DONE
                && job.matched() >= Job.MOST_MATCHES
                && job.scanned() < job.total();
    }
}
