package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.StoredJob;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Jobs in memory, with locks and jobs that expire. */
final class InMemoryJobStore implements JobStore {

    private static final int MOST_LISTED = 100;
    private static final int MOST_RUNNING = 1000;
    private static final long DAY = 86_400_000;

    private record Lock(String job, String owner, long until) {}

    private final LongSupplier micros;
    private final Map<String, Map<String, String>> jobs = new TreeMap<>();
    private final Map<String, Long> keptUntil = new HashMap<>();
    private final Map<String, Long> running = new HashMap<>();
    private final Map<String, Lock> locks = new HashMap<>();

    InMemoryJobStore(LongSupplier micros) {
        this.micros = micros;
    }

    private long now() {
        return Math.floorDiv(micros.getAsLong(), 1000L);
    }

    private void touch(String id, Map<String, String> job) {
        job.put("updated", String.valueOf(now()));
        keptUntil.put(id, now() + DAY);
        if (StoredJob.RUNNING.equals(job.get("state"))) {
            running.putIfAbsent(id, now());
        } else {
            running.remove(id);
        }
    }

    private @Nullable Map<String, String> job(String id) {
        if (keptUntil.getOrDefault(id, 0L) <= now()) {
            jobs.remove(id);
            running.remove(id);
        }
        return jobs.get(id);
    }

    private List<String> byStart() {
        return List.copyOf(running.keySet()).stream()
                .filter(id -> job(id) != null)
                .sorted(Comparator.comparing((String id) -> running.get(id)).thenComparing(id -> id))
                .toList();
    }

    synchronized void clear() {
        jobs.clear();
        keptUntil.clear();
        running.clear();
        locks.clear();
    }

    /** As its 15 seconds do. */
    void expireLock(String name) {
        locks.remove(name);
    }

    /** As a day does. */
    void expireJob(String id) {
        jobs.remove(id);
    }

    /** Fields that another version has written. */
    void write(String id, Map<String, String> fields) {
        Objects.requireNonNull(job(id)).putAll(fields);
    }

    private @Nullable Lock lock(Map<String, String> job) {
        Lock lock = locks.get(job.get("lock"));
        return lock == null || lock.until <= now() ? null : lock;
    }

    @Override
    public synchronized Instant create(String id, String lock, Map<String, String> fields) {
        Map<String, String> stored = job(id);
        if (stored != null) {
            return created(stored);
        }
        if (byStart().size() >= MOST_RUNNING) {
            throw new StoreRefusedException("1000 jobs run or wait: stop some of them", null);
        }
        Map<String, String> job = new HashMap<>(fields);
        job.put("lock", lock);
        job.put("state", StoredJob.RUNNING);
        job.put("created", String.valueOf(now()));
        touch(id, job);
        jobs.put(id, job);
        return Instant.ofEpochMilli(now());
    }

    @Override
    public synchronized Optional<StoredJob> find(String id) {
        return Optional.ofNullable(job(id)).map(job -> view(id, job));
    }

    private StoredJob view(String id, Map<String, String> job) {
        Lock lock = lock(job);
        return new StoredJob(
                id,
                Objects.requireNonNull(job.get("state")),
                lock != null && lock.job.equals(id),
                created(job),
                Instant.ofEpochMilli(Long.parseLong(job.get("updated"))),
                job.get("node"),
                job);
    }

    private static Instant created(Map<String, String> job) {
        return Instant.ofEpochMilli(Long.parseLong(job.get("created")));
    }

    @Override
    public synchronized List<StoredJob> list() {
        List<StoredJob> latestFirst = List.copyOf(jobs.keySet()).stream()
                .map(this::find)
                .flatMap(Optional::stream)
                .sorted(Comparator.comparing(StoredJob::updated).reversed())
                .toList();
        Set<String> shown = new HashSet<>();
        latestFirst.stream().limit(MOST_LISTED).map(StoredJob::id).forEach(shown::add);
        byStart().stream().limit(MOST_LISTED).forEach(shown::add);
        return latestFirst.stream().filter(job -> shown.contains(job.id())).toList();
    }

    @Override
    public synchronized Running running() {
        List<String> free = new ArrayList<>();
        int others = 0;
        for (String id : byStart()) {
            if (free.size() < MOST_LISTED && lock(Objects.requireNonNull(jobs.get(id))) == null) {
                free.add(id);
            } else {
                others++;
                keptUntil.put(id, now() + DAY);
            }
        }
        return new Running(free, others);
    }

    private static boolean isHeldFor(String id, @Nullable Lock held) {
        return held != null && held.job.equals(id);
    }

    @Override
    public synchronized boolean take(String id, String owner) {
        Map<String, String> job = job(id);
        if (job == null || !StoredJob.RUNNING.equals(job.get("state"))) {
            return false;
        }
        Lock held = lock(job);
        boolean isMine = held != null && held.job.equals(id) && held.owner.equals(owner);
        boolean stops = job.containsKey("request");
        if (held != null && !isMine && (isHeldFor(id, held) || !stops)) {
            return false;
        }
        if (stops) {
            job.put("state", StoredJob.STOPPED);
            job.remove("request");
            touch(id, job);
            if (isMine) {
                locks.remove(job.get("lock"));
            }
            return false;
        }
        locks.put(job.get("lock"), new Lock(id, owner, now() + LOCK.toMillis()));
        job.put("node", owner);
        return true;
    }

    @Override
    public synchronized Saved save(String id, String owner, String state, Map<String, String> fields) {
        Map<String, String> job = job(id);
        Lock held = job == null ? null : lock(job);
        if (job == null || held == null || !held.job.equals(id) || !held.owner.equals(owner)) {
            return Saved.LOST;
        }
        boolean stops = state.equals(StoredJob.RUNNING) && job.containsKey("request");
        job.putAll(fields);
        job.put("state", stops ? StoredJob.STOPPED : state);
        job.put("halted", stops ? "1" : "");
        touch(id, job);
        if (StoredJob.RUNNING.equals(job.get("state"))) {
            locks.put(job.get("lock"), new Lock(id, owner, now() + LOCK.toMillis()));
        } else {
            job.remove("request");
            locks.remove(job.get("lock"));
        }
        return stops ? Saved.STOPPED : Saved.GO_ON;
    }

    @Override
    public synchronized boolean stop(String id) {
        Map<String, String> job = job(id);
        if (job == null || !StoredJob.RUNNING.equals(job.get("state"))) {
            return false;
        }
        if (isHeldFor(id, lock(job))) {
            job.put("request", "stop");
        } else {
            job.put("state", StoredJob.STOPPED);
            job.remove("request");
            touch(id, job);
        }
        return true;
    }

    @Override
    public synchronized boolean resume(String id) {
        Map<String, String> job = job(id);
        if (job == null || "done".equals(job.get("state"))) {
            return false;
        }
        boolean undone = job.remove("request") != null;
        if (StoredJob.RUNNING.equals(job.get("state"))) {
            return undone;
        }
        job.put("state", StoredJob.RUNNING);
        touch(id, job);
        return true;
    }
}
