package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredJob;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Instant;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the jobs of the administration: those that this node has started, and those whose node has ended. It looks for such
 * jobs once a minute, and every five seconds while a job runs on another node. The loop begins with the first listener, or
 * the first call about jobs.
 */
final class JobRunner implements LoopExecutor.Step, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(JobRunner.class);

    private static final long IDLE_PAUSE = TimeUnit.MINUTES.toNanos(1);
    private static final long WATCH_PAUSE = TimeUnit.SECONDS.toNanos(5);

    private final QueueBackend store;
    private final Topics topics;
    private final LoopExecutor loops;
    private final String node;

    // For the loop only.
    private final Map<JobRun, Long> runs = new HashMap<>();
    private final Map<String, String> unfit = new HashMap<>();
    private final Set<String> unanswered = new LinkedHashSet<>();
    private String refusal = "";

    // Guarded by this.
    private LoopExecutor.@Nullable Loop loop;
    private long nextLook;
    private boolean closed;

    /** @param node name of this node, which no other one has */
    JobRunner(QueueBackend store, Topics topics, LoopExecutor loops, String node) {
        this.store = store;
        this.topics = topics;
        this.loops = loops;
        this.node = node;
    }

    Job start(JobRequest request) {
        topics.shardsToLookAt(request.topic());
        String id = UUID.randomUUID().toString().replace("-", "");
        String lock = request.action().moves() ? request.topic() : "read:" + id;
        Map<String, String> fields = JobText.encode(request);
        Instant created = store.jobs().create(id, lock, fields);
        look(0);
        try {
            return find(id).orElseThrow(() -> new IllegalStateException("The store has lost job " + id + "."));
        } catch (DelayQueueException unread) {
            // The job is stored and runs, although it cannot be read now.
            return JobText.job(new StoredJob(id, StoredJob.RUNNING, false, created, created, null, fields));
        }
    }

    Optional<Job> find(String id) {
        Optional<StoredJob> found = id.matches("[0-9a-f]{32}") ? store.jobs().find(id) : Optional.empty();
        found.ifPresent(this::lookIfAbandoned);
        return found.flatMap(JobRunner::view);
    }

    List<Job> all() {
        List<StoredJob> all = store.jobs().list();
        all.forEach(this::lookIfAbandoned);
        return all.stream().map(JobRunner::view).flatMap(Optional::stream).toList();
    }

    /** Empty for a job that this version cannot read. */
    private static Optional<Job> view(StoredJob job) {
        try {
            return Optional.of(JobText.job(job));
        } catch (RuntimeException e) {
            log.debug("Job {} is not shown", job.id(), e);
            return Optional.empty();
        }
    }

    private void lookIfAbandoned(StoredJob job) {
        if (job.isRunning() && !job.taken()) {
            look(0);
        }
    }

    boolean stop(String id) {
        return id.matches("[0-9a-f]{32}") && store.jobs().stop(id);
    }

    boolean resume(String id) {
        boolean resumed = id.matches("[0-9a-f]{32}") && store.jobs().resume(id);
        if (resumed) {
            look(0);
        }
        return resumed;
    }

    /** Begins to check for jobs, if it has not begun yet. */
    void begin() {
        look(IDLE_PAUSE);
    }

    /** Checks for jobs after this time at the latest. */
    private void look(long pause) {
        LoopExecutor.Loop current;
        boolean isSooner;
        synchronized (this) {
            if (closed) {
                return;
            }
            long at = loops.nanos() + pause;
            isSooner = loop == null || at - nextLook < 0;
            nextLook = isSooner ? at : nextLook;
            current = loop;
            if (current == null) {
                current = loops.create("delay-queue-jobs", this);
                current.start();
                loop = current;
            }
        }
        if (isSooner) {
            current.wake();
        }
    }

    @Override
    public long run() {
        long now = loops.nanos();
        synchronized (this) {
            if (closed) {
                return LoopExecutor.END;
            }
        }
        boolean hasEnded = stepAll();
        if (hasEnded || now - looksAt() >= 0) {
            takeJobs();
        }
        return pause();
    }

    private synchronized long looksAt() {
        return nextLook;
    }

    private synchronized void nextLookIn(long pause) {
        nextLook = loops.nanos() + pause;
    }

    private synchronized void looksWithin(long pause) {
        long at = loops.nanos() + pause;
        nextLook = at - nextLook < 0 ? at : nextLook;
    }

    private long pause() {
        long now = loops.nanos();
        long next = runs.values().stream().mapToLong(at -> at - now).min().orElse(IDLE_PAUSE);
        return Math.max(0, Math.min(next, looksAt() - now));
    }

    /** Runs the jobs whose time has come; true if one has ended. */
    private boolean stepAll() {
        boolean hasEnded = false;
        Iterator<Map.Entry<JobRun, Long>> each = runs.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry<JobRun, Long> entry = each.next();
            if (loops.nanos() - entry.getValue() >= 0) {
                long rest = entry.getKey().step();
                if (rest == LoopExecutor.END) {
                    each.remove();
                    hasEnded = true;
                } else {
                    entry.setValue(loops.nanos() + rest);
                }
            }
        }
        return hasEnded;
    }

    private void takeJobs() {
        nextLookIn(IDLE_PAUSE);
        try {
            JobStore.Running running = store.jobs().running();
            if (running.others() > runs.size()) {
                looksWithin(WATCH_PAUSE);
            }
            unfit.keySet().retainAll(running.free());
            attemptAll(running.free());
            refusal = "";
        } catch (StoreUnavailableException e) {
            log.debug("The store is asked for jobs again later", e);
            looksWithin(WATCH_PAUSE);
        } catch (DelayQueueException e) {
            warnOnce(e);
        }
    }

    /** Waits for at most two jobs without a reply, as {@link OutageTimeLimit} does. Those come last the next time. */
    private void attemptAll(List<String> free) {
        unanswered.retainAll(free);
        List<String> last = List.copyOf(unanswered);
        int waits = 0;
        for (String id : Stream.concat(free.stream().filter(one -> !last.contains(one)), last.stream())
                .toList()) {
            long begin = loops.nanos();
            unanswered.remove(id);
            try {
                attempt(id);
            } catch (StoreUnavailableException e) {
                log.debug("Job {} is tried again later", id, e);
                unanswered.add(id);
                looksWithin(WATCH_PAUSE);
                waits += loops.nanos() - begin >= OutageTimeLimit.A_WAIT ? 1 : 0;
            }
            if (waits == OutageTimeLimit.MOST_WAITS) {
                return;
            }
        }
    }

    /** A job that this node cannot run does not keep it from the others. */
    private void attempt(String id) {
        try {
            if (runs.keySet().stream().noneMatch(run -> run.id().equals(id))) {
                store.jobs().find(id).filter(StoredJob::isRunning).ifPresent(this::take);
            }
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            String text = e.getMessage() == null ? e.toString() : e.getMessage();
            if (!text.equals(unfit.put(id, text))) {
                log.warn("Job {} does not run on this node: {}", id, LogText.of(text));
            }
        }
    }

    private void take(StoredJob job) {
        var unused = runOf(job); // reads all of it before the lock is held
        if (job.taken() || !store.jobs().take(job.id(), node)) {
            looksWithin(WATCH_PAUSE);
            return;
        }
        store.jobs().find(job.id()).ifPresent(taken -> runs.put(runOf(taken), loops.nanos()));
    }

    private JobRun runOf(StoredJob job) {
        List<ShardKey> shards =
                topics.keysToLookAt(JobText.request(job.fields()).topic());
        return new JobRun(job, node, store, shards, loops::nanos);
    }

    private void warnOnce(DelayQueueException e) {
        String text = String.valueOf(e.getMessage());
        if (!text.equals(refusal)) {
            refusal = text;
            log.warn("Jobs of the administration do not run on this node until this is fixed: {}", LogText.of(text));
        }
    }

    /** Ends the loop. Another node continues the jobs of this one. */
    @Override
    public void close() {
        LoopExecutor.Loop current;
        synchronized (this) {
            closed = true;
            current = loop;
        }
        if (current != null) {
            current.wake();
        }
    }
}
