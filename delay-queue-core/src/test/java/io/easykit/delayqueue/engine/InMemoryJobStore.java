package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.StoredJob;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Jobs in memory, with locks that expire. */
final class InMemoryJobStore implements JobStore {

    private record Lock(String job, String owner, long until) {}

    private final LongSupplier micros;
    private final Map<String, Map<String, String>> jobs = new TreeMap<>();
    private final Map<String, Lock> locks = new HashMap<>();

    InMemoryJobStore(LongSupplier micros) {
        this.micros = micros;
    }

    private long now() {
        return Math.floorDiv(micros.getAsLong(), 1000L);
    }

    private void touch(Map<String, String> job) {
        job.put("updated", String.valueOf(now()));
    }

    private @Nullable Lock lock(Map<String, String> job) {
        Lock lock = locks.get(job.get("lock"));
        return lock == null || lock.until <= now() ? null : lock;
    }

    @Override
    public synchronized Instant create(String id, String lock, Map<String, String> fields) {
        Map<String, String> job = new HashMap<>(fields);
        job.put("lock", lock);
        job.put("state", StoredJob.RUNNING);
        job.put("created", String.valueOf(now()));
        touch(job);
        jobs.put(id, job);
        return Instant.ofEpochMilli(now());
    }

    @Override
    public synchronized Optional<StoredJob> find(String id) {
        return Optional.ofNullable(jobs.get(id)).map(job -> view(id, job));
    }

    private StoredJob view(String id, Map<String, String> job) {
        Lock lock = lock(job);
        return new StoredJob(
                id,
                Objects.requireNonNull(job.get("state")),
                lock != null && lock.job.equals(id),
                Instant.ofEpochMilli(Long.parseLong(job.get("created"))),
                Instant.ofEpochMilli(Long.parseLong(job.get("updated"))),
                job.get("node"),
                job);
    }

    @Override
    public synchronized List<StoredJob> list() {
        return jobs.entrySet().stream()
                .map(entry -> view(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparing(StoredJob::updated).reversed())
                .toList();
    }

    @Override
    public synchronized boolean take(String id, String owner) {
        Map<String, String> job = jobs.get(id);
        if (job == null || !StoredJob.RUNNING.equals(job.get("state"))) {
            return false;
        }
        Lock held = lock(job);
        if (held != null && !(held.job.equals(id) && held.owner.equals(owner))) {
            return false;
        }
        locks.put(job.get("lock"), new Lock(id, owner, now() + LOCK.toMillis()));
        job.put("node", owner);
        return true;
    }

    @Override
    public synchronized Saved save(String id, String owner, String state, Map<String, String> fields) {
        Map<String, String> job = jobs.get(id);
        Lock held = job == null ? null : lock(job);
        if (job == null || held == null || !held.job.equals(id) || !held.owner.equals(owner)) {
            return Saved.LOST;
        }
        boolean stops = state.equals(StoredJob.RUNNING) && job.containsKey("wish");
        job.putAll(fields);
        job.put("state", stops ? StoredJob.STOPPED : state);
        touch(job);
        if (StoredJob.RUNNING.equals(job.get("state"))) {
            locks.put(job.get("lock"), new Lock(id, owner, now() + LOCK.toMillis()));
        } else {
            job.remove("wish");
            locks.remove(job.get("lock"));
        }
        return stops ? Saved.STOPPED : Saved.GO_ON;
    }

    @Override
    public synchronized boolean stop(String id) {
        Map<String, String> job = jobs.get(id);
        if (job == null || !StoredJob.RUNNING.equals(job.get("state")) || job.containsKey("wish")) {
            return false;
        }
        Lock held = lock(job);
        if (held != null && held.job.equals(id)) {
            job.put("wish", "stop");
        } else {
            job.put("state", StoredJob.STOPPED);
            touch(job);
        }
        return true;
    }

    @Override
    public synchronized boolean resume(String id) {
        Map<String, String> job = jobs.get(id);
        if (job == null || "done".equals(job.get("state"))) {
            return false;
        }
        if (StoredJob.RUNNING.equals(job.get("state"))) {
            return job.remove("wish") != null;
        }
        job.put("state", StoredJob.RUNNING);
        touch(job);
        return true;
    }
}
