package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.JobRequest.Action;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.JobStore.Saved;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredJob;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.time.LoopExecutor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one job on this node, step by step.
 *
 * <p>Before a step moves messages, it stores which ones: id and time of death of each, and the position behind them. If the
 * node dies in between, the next one repeats this move. That is harmless, because a message that was moved is no longer dead
 * since that time. So each message is moved once, and the counts are right but for messages that others have moved in the
 * very same moment. After a save that stops the job, the next node finds that this move was not made. The lock fences the
 * runner: without it nothing is stored, and the run ends.
 */
final class JobRun {

    private static final Logger log = LoggerFactory.getLogger(JobRun.class);

    private static final long SAVE_PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final long RETRY_PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final long SCAN_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

    private final StoredJob job;
    private final String owner;
    private final QueueBackend store;
    private final List<ShardKey> shards;
    private final LongSupplier nanos;
    private final JobRequest request;
    private final JobScan scan;
    private final JobRate rate;
    private final ErrorScan groups = new ErrorScan();
    private final List<DeadLetterRef> matches = new ArrayList<>();

    private List<DeadLetterRef> pending;
    private @Nullable ShardKey pendingShard;
    private boolean isAnnounced;
    private boolean mayHaveRun;
    private boolean hasFailed;
    private long scanned;
    private long matched;
    private long done;
    private long missed;
    private long total;
    private long deadAtStart;
    private long deaths;
    private String problem;
    private long savedAt;

    /**
     * @param job   as it was after this node had taken it
     * @param nanos a clock that only moves forward
     */
    JobRun(StoredJob job, String owner, QueueBackend store, List<ShardKey> shards, LongSupplier nanos) {
        this.job = job;
        this.owner = owner;
        this.store = store;
        this.shards = shards;
        this.nanos = nanos;
        Map<String, String> fields = job.fields();
        this.request = JobText.request(fields);
        // Reading twice is harmless: results are collected anew, and a job that has left out shards reads all of them
        // again.
        boolean continues =
                request.action().moves() && fields.getOrDefault("problem", "").isEmpty();
        this.scanned = continues ? JobText.number(fields, "scanned", 0) : 0;
        this.matched = continues ? JobText.number(fields, "matched", 0) : 0;
        this.done = JobText.number(fields, "done", 0);
        this.missed = JobText.number(fields, "missed", 0);
        this.problem = "";
        this.total = JobText.number(fields, "total", -1);
        this.deadAtStart = JobText.number(fields, "deadAtStart", -1);
        this.pending = JobText.deaths(fields.getOrDefault("pending", ""));
        int shard = continues ? (int) JobText.number(fields, "shard", 0) : 0;
        if (shard > 0) {
            shardOf(shard - 1); // it may have left the last one
        }
        this.pendingShard = pending.isEmpty() ? null : shardOf((int) JobText.number(fields, "pendingShard", 0));
        // If the job was stopped before its node tried the stored move, that move was not made.
        this.mayHaveRun = !pending.isEmpty() && !(job.isHalted() && JobText.number(fields, "tried", 1) == 0);
        this.isAnnounced = mayHaveRun;
        String score = fields.getOrDefault("score", "");
        Position after = !continues || score.isEmpty() ? null : new Position(score, fields.getOrDefault("after", ""));
        this.scan = new JobScan(store, shards, request.filter(), job.created(), shard, after);
        this.rate = new JobRate(request.perSecond(), nanos.getAsLong());
        this.savedAt = nanos.getAsLong();
        if (JobText.number(fields, "deaths", 0) >= request.stopAt()) {
            deadAtStart = -1; // resumed after its limit: it counts anew
        }
    }

    private ShardKey shardOf(int index) {
        if (index < 0 || index >= shards.size()) {
            throw new IllegalStateException("It has been in shard " + index + " of " + request.topic() + ", which has "
                    + shards.size() + " shards now. Restore the count of the shards, or stop the job.");
        }
        return shards.get(index);
    }

    String id() {
        return job.id();
    }

    /** Does a part of the work. Returns the nanoseconds until the next part, or {@link LoopExecutor#END}. */
    long step() {
        try {
            return hasFailed ? end(Job.State.FAILED) : attempt();
        } catch (StoreUnavailableException e) {
            mayHaveRun |= isAnnounced;
            isAnnounced = false;
            return RETRY_PAUSE;
        } catch (RuntimeException e) {
            return fail(e);
        }
    }

    /** The next step stores the reason. If that is refused too, the lock expires, and another node may try. */
    private long fail(RuntimeException e) {
        String reason = e instanceof StoreRefusedException ? String.valueOf(e.getMessage()) : e.toString();
        log.debug("Job {} cannot go on", id(), e);
        if (hasFailed) {
            log.warn("The state of job {} cannot be stored, and it ends on this node: {}", id(), LogText.of(reason));
            return LoopExecutor.END;
        }
        log.warn("Job {} fails, and can be resumed: {}", id(), LogText.of(reason));
        hasFailed = true;
        problem = reason;
        return 0;
    }

    private long end(Job.State state) {
        save(state);
        return LoopExecutor.END;
    }

    private long attempt() {
        if (total < 0 || deadAtStart < 0) {
            count(stats());
        }
        int allowed = request.action().moves() ? rate.allowed(nanos.getAsLong()) : DeadLetterErrors.MOST;
        if (pending.isEmpty()) {
            if (isLimitReached()) {
                return end(Job.State.LIMIT_REACHED);
            }
            plan(allowed);
            boolean isLast = scan.hasEnded() || matches.size() >= Job.MOST_MATCHES;
            if (pending.isEmpty() && isLast) {
                return end(problem.isEmpty() ? Job.State.DONE : Job.State.FAILED);
            }
        }
        boolean isTimeToSave = pending.isEmpty() ? nanos.getAsLong() - savedAt >= SAVE_PAUSE : !isAnnounced;
        if (isTimeToSave && save(Job.State.RUNNING) != Saved.GO_ON) {
            return LoopExecutor.END;
        }
        if (pending.isEmpty()) {
            return allowed > 0 ? SCAN_PAUSE : rate.pause(nanos.getAsLong());
        }
        isAnnounced = true;
        move(Objects.requireNonNull(pendingShard));
        return rate.pause(nanos.getAsLong());
    }

    /** Takes letters from the scan until so many are to be moved; they are of one shard. Fetches once at most. */
    private void plan(int most) {
        if (!scan.hasEnded()) {
            attemptOn(scan.current(), scan::fetch);
        }
        List<DeadLetterRef> selected = new ArrayList<>();
        int left = request.action().moves() ? Integer.MAX_VALUE : most;
        ShardKey shard = scan.hasEnded() ? null : scan.current();
        while (selected.size() < most && left-- > 0 && matches.size() < Job.MOST_MATCHES) {
            JobScan.Letter letter = scan.next();
            if (letter == null) {
                break;
            }
            scanned++;
            if (letter.isSelected()) {
                matched++;
                take(letter, selected);
            }
        }
        if (!selected.isEmpty()) {
            pending = selected;
            pendingShard = shard;
            isAnnounced = false;
            mayHaveRun = false;
        }
    }

    private void take(JobScan.Letter letter, List<DeadLetterRef> selected) {
        switch (request.action()) {
            case GROUP -> groups.add(letter.death(), letter.error());
            case SEARCH -> matches.add(letter.death());
            default -> selected.add(letter.death());
        }
    }

    private void move(ShardKey shard) {
        List<DeadLetterRef> some = pending;
        attemptOn(shard, () -> {
            List<Boolean> moved =
                    request.action() == Action.REDRIVE ? store.redrive(shard, some) : store.purge(shard, some);
            long now = moved.stream().filter(Boolean::booleanValue).count();
            done += mayHaveRun ? some.size() : now;
            missed += mayHaveRun ? 0 : some.size() - now;
        });
        rate.moved(some.size());
        pending = List.of();
        isAnnounced = false;
        mayHaveRun = false;
    }

    /** A shard that the store refuses is left out, and the job fails at its end. The scan may be on a later one already. */
    private void attemptOn(ShardKey shard, Runnable action) {
        try {
            action.run();
        } catch (StoreRefusedException e) {
            problem = String.valueOf(e.getMessage());
            if (!scan.hasEnded() && scan.current().equals(shard)) {
                scan.skipShard();
            }
        }
    }

    private boolean isLimitReached() {
        if (!hasLimit()) {
            return false;
        }
        long dead = stats().counters().dead();
        if (dead < deadAtStart) {
            deadAtStart = -1;
            throw new IllegalStateException("The counters of " + request.topic()
                    + " were reset, so deaths since its start are not known. Resume it: it counts anew.");
        }
        deaths = dead - deadAtStart;
        return deaths >= request.stopAt();
    }

    private boolean hasLimit() {
        return request.stopAt() != Integer.MAX_VALUE;
    }

    private void count(TopicStats stats) {
        if (total < 0) {
            total = stats.dead();
        }
        if (deadAtStart < 0) {
            deadAtStart = stats.counters().dead();
        }
    }

    /** With a limit, the job fails if a shard is refused: without its deaths the limit would not hold. */
    private TopicStats stats() {
        return hasLimit()
                ? EachShard.completeStats(request.topic(), shards, store)
                : EachShard.stats(request.topic(), shards, store);
    }

    private Saved save(Job.State state) {
        Map<String, String> fields = new HashMap<>();
        Position after = scan.position();
        fields.put("shard", String.valueOf(scan.shardIndex()));
        fields.put("score", after == null ? "" : after.score());
        fields.put("after", after == null ? "" : after.id());
        fields.put("scanned", String.valueOf(scanned));
        fields.put("matched", String.valueOf(matched));
        fields.put("done", String.valueOf(done));
        fields.put("missed", String.valueOf(missed));
        fields.put("total", String.valueOf(total));
        fields.put("deadAtStart", String.valueOf(deadAtStart));
        fields.put("deaths", String.valueOf(deaths));
        fields.put("problem", problem);
        fields.put("pending", JobText.deaths(pending));
        fields.put("tried", mayHaveRun ? "1" : "0");
        ShardKey shard = pendingShard;
        fields.put("pendingShard", String.valueOf(shard == null ? 0 : shard.shard()));
        if (request.action() == Action.GROUP) {
            fields.put(
                    "groups",
                    JobText.groups(
                            groups.groups().stream().limit(Job.MOST_GROUPS).toList()));
        }
        if (request.action() == Action.SEARCH) {
            fields.put("matches", JobText.deaths(matches));
        }
        savedAt = nanos.getAsLong();
        return store.jobs().save(job.id(), owner, JobText.word(state), fields);
    }
}
