package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.time.LoopExecutor;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maintains a topic periodically: repairs the leftovers of failed calls ({@link Repairs}), reads the shard count again,
 * reports other limits of another node, reports when a limit is exceeded and when it no longer is, removes dead letters after their
 * retention, and announces those of the topic whose dead letters the listener gets ({@link DeadLetterRelay}). Each node checks; the
 * store lets one of them report. Shards that do not answer are left out, so that they do not hide the others.
 */
final class TopicMonitor implements LoopExecutor.Step {

    private static final Logger log = LoggerFactory.getLogger(TopicMonitor.class);

    static final Duration PAUSE = Duration.ofSeconds(10);

    private static final long PURGE_PAUSE = TimeUnit.MINUTES.toNanos(1);

    private static final Duration FAILING_RANGE = Duration.ofMinutes(5);

    private static final int LEAST_RUNS = 20;

    private static final int MOST_UNANSWERED = 2;

    private static final long SAMPLE_PAUSE = TimeUnit.MINUTES.toNanos(1);

    private static final long REREAD_PAUSE = TimeUnit.MINUTES.toNanos(1);

    private static final long LIMITS_PAUSE = TimeUnit.MINUTES.toNanos(1);

    /** Samples of the last five minutes that are needed to decide that runs no longer fail. */
    private static final int LEAST_POINTS = 4;

    /** Pages of a hundred dead letters each; the rest waits for the next time. */
    private static final int MOST_PURGES = 10;

    private final EngineContext engine;
    private final ListenerEndpoint endpoint;
    private final List<Repairs> repairs = new ArrayList<>();
    private final Alerts alerts;
    private final @Nullable DeadLetterRelay relay;
    private final IntConsumer shardsKept;
    private final LoopExecutor.Loop loop;
    private volatile boolean stopping;
    private volatile List<ShardKey> shards;
    private long purgeAt;
    private long rereadAt;
    private long failingAt;
    private long limitsAt;
    private String conflict = "";
    private final OtherLimits otherLimits;
    private final Refusals refusals = new Refusals();

    /** @param shardsKept takes the number of shards that the store has kept */
    TopicMonitor(EngineContext engine, ListenerEndpoint endpoint, List<ShardKey> shards, IntConsumer shardsKept) {
        this.engine = engine;
        this.endpoint = endpoint;
        this.shards = shards;
        this.shardsKept = shardsKept;
        this.purgeAt = engine.loops().nanos();
        this.rereadAt = purgeAt + REREAD_PAUSE;
        this.failingAt = purgeAt;
        this.limitsAt = purgeAt;
        this.alerts = new Alerts(engine.store(), engine.loopEvents());
        this.otherLimits = new OtherLimits(endpoint, engine.store());
        String deadLettersOf = endpoint.deadLettersOf();
        this.relay = deadLettersOf == null ? null : new DeadLetterRelay(engine, deadLettersOf);
        this.loop = engine.loops().create("delay-queue-monitor-" + endpoint.id(), this);
    }

    /** Has it maintain the shards that were added as well. */
    void watch(List<ShardKey> all) {
        shards = all;
    }

    void start() {
        loop.start();
    }

    void stop() {
        stopping = true;
        loop.wake();
    }

    @Override
    public long run() {
        if (stopping) {
            return LoopExecutor.END;
        }
        attempt("shards", this::rereadShards);
        attempt("repair", this::repair);
        attempt("announce", this::announce);
        attempt("limits", this::compareLimits);
        attempt("purge", this::purge);
        attempt("check", () -> check(endpoint.alerts()));
        attempt("failing", () -> checkFailing(endpoint.alerts()));
        return PAUSE.toNanos();
    }

    /** A step that is refused, for a key of another type, or that gets no answer or no thread, does not prevent the others. */
    private void attempt(String name, Runnable step) {
        try {
            step.run();
            refusals.succeeded(name);
        } catch (StoreUnavailableException e) {
            // The consumers report an outage; this only tries again later.
            log.debug("A check of topic {} got no answer", endpoint.topic(), e);
        } catch (RuntimeException | Error e) {
            String text = e.toString();
            if (refusals.isNew(name, text)) {
                log.warn(
                        "Alerts, or the removal or announcement of dead letters of topic {} do not work until this is fixed: {}",
                        endpoint.topic(),
                        LogText.of(text));
            }
        }
    }

    /** Also completes copies of the count that could not be written before. */
    private void rereadShards() {
        if (engine.loops().nanos() - rereadAt < 0) {
            return;
        }
        try {
            shardsKept.accept(engine.topics().reread(endpoint.topic()).all());
            conflict = "";
        } catch (TopicConflictException e) {
            String text = String.valueOf(e.getMessage());
            if (!text.equals(conflict)) {
                log.warn("Listener '{}' continues with {} shards. {}", endpoint.id(), shards.size(), text);
            }
            conflict = text;
        }
        rereadAt = engine.loops().nanos() + REREAD_PAUSE;
    }

    /** A listener without limits compares once a minute only, because most topics have none. */
    private void compareLimits() {
        boolean hasLimits = !endpoint.limits().isNone();
        if (hasLimits || engine.loops().nanos() - limitsAt >= 0) {
            otherLimits.look(shards, eachShard());
            limitsAt = engine.loops().nanos() + LIMITS_PAUSE;
        }
    }

    private void announce() {
        if (relay != null) {
            relay.run(engine.standstills().unanswered(), () -> stopping);
        }
    }

    /** Leaves out shards that do not answer, and waits for two of them at most. */
    private void repair() {
        Set<ShardKey> silent = engine.standstills().unanswered();
        int unanswered = 0;
        List<ShardKey> all = shards;
        while (repairs.size() < all.size()) {
            repairs.add(new Repairs(engine.store(), all.get(repairs.size()), engine.loops()::nanos));
        }
        for (Repairs shard : repairs) {
            if (unanswered < MOST_UNANSWERED && !silent.contains(shard.shard())) {
                unanswered += shard.look() ? 0 : 1;
            }
        }
    }

    /** Each step waits for two silent shards at most. Those whose consumers get no answer come last. */
    private EachShard eachShard() {
        return EachShard.withOutageLimit(
                engine.loops()::nanos, engine.standstills().unanswered());
    }

    private void purge() {
        Duration keep = endpoint.deadLetterRetention();
        if (keep == null || engine.loops().nanos() - purgeAt < 0) {
            return;
        }
        EachShard each = eachShard();
        each.attemptAll(shards, shard -> purge(shard, keep));
        each.throwIfRefused();
        purgeAt = engine.loops().nanos() + PURGE_PAUSE;
    }

    private void purge(ShardKey shard, Duration keep) {
        int purged = QueueStore.MAX_BATCH;
        for (int i = 0; i < MOST_PURGES && purged == QueueStore.MAX_BATCH; i++) {
            purged = engine.store().purge(shard, keep, QueueStore.MAX_BATCH);
        }
    }

    private void check(AlertLimits limits) {
        boolean countsNothing = limits.maxLateness() == null
                && limits.due() == null
                && limits.dead() == null
                && limits.waiting() == null;
        if (countsNothing) {
            return;
        }
        TopicStats stats = eachShard().countAll(endpoint.topic(), shards, engine.store());
        Duration oldest = limits.maxLateness();
        // A shard that was not counted may still exceed a limit, so nothing is resolved.
        Set<Kind> raised = stats.refused().isEmpty() ? stats.alerts() : Set.of();
        check(Kind.LATENESS, stats.oldestDueAge().toMillis(), oldest == null ? null : (Long) oldest.toMillis(), raised);
        check(Kind.DUE, stats.due(), limits.due(), raised);
        check(Kind.DEAD, stats.dead(), limits.dead(), raised);
        check(Kind.WAITING, stats.waiting(), limits.waiting(), raised);
    }

    private void check(Kind kind, long value, @Nullable Long limit, Set<Kind> raised) {
        if (limit == null) {
            return;
        }
        if (value > limit) {
            alerts.raise(endpoint.topic(), kind, value, limit);
        } else if (raised.contains(kind)) {
            alerts.resolve(endpoint.topic(), kind);
        }
    }

    /** Samples change once a minute, so this is checked as often. */
    private void checkFailing(AlertLimits limits) {
        Double limit = limits.failing();
        if (limit == null || engine.loops().nanos() - failingAt < 0) {
            return;
        }
        EachShard each = eachShard();
        int home = engine.topics().expected(endpoint.topic()).home();
        TopicSeries series = Sampler.series(endpoint.topic(), home, shards, FAILING_RANGE, engine.store(), each);
        TopicSeries.Runs runs = series.runs();
        boolean fails = runs.failMoreThan(limit);
        if (fails && runs.count() >= LEAST_RUNS) {
            long limitPercent = BigDecimal.valueOf(limit).movePointRight(2).longValue();
            alerts.raise(endpoint.topic(), Kind.FAILING, runs.failedPercent(), limitPercent);
        } else if (!fails && each.refused().isEmpty() && series.points().size() >= LEAST_POINTS) {
            // A few runs that fail raise nothing, but are no recovery either.
            alerts.resolve(endpoint.topic(), Kind.FAILING);
        }
        failingAt = engine.loops().nanos() + SAMPLE_PAUSE;
    }
}
