package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.StoredJob;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The jobs of a disabled delay queue that ignores calls: each is done at once, with nothing moved. Keeps the latest hundred. */
final class IgnoredJobs implements JobStore {

    private static final int MOST = 100;

    private final Map<String, StoredJob> done = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, StoredJob> eldest) {
            return size() > MOST;
        }
    };

    @Override
    public synchronized Instant create(String id, String lock, Map<String, String> fields) {
        Instant now = Instant.now();
        done.put(id, new StoredJob(id, "done", false, now, now, null, fields));
        return now;
    }

    @Override
    public synchronized Optional<StoredJob> find(String id) {
        return Optional.ofNullable(done.get(id));
    }

    @Override
    public synchronized List<StoredJob> list() {
        return List.copyOf(done.values());
    }

    @Override
    public Running running() {
        return new Running(List.of(), 0);
    }

    @Override
    public boolean take(String id, String owner) {
        return false;
    }

    @Override
    public Saved save(String id, String owner, String state, Map<String, String> fields) {
        return Saved.LOST;
    }

    @Override
    public boolean stop(String id) {
        return false;
    }

    @Override
    public boolean resume(String id) {
        return false;
    }
}
