package io.easykit.cache.history;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.EasyCacheEngine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One thread of a process: calls the cache at random, and records the calls. */
final class Client {

    private static final int PERCENT = 100;
    private static final int UPDATES = 12;
    private static final int SOURCE_READS = 20;
    private static final int INVALIDATIONS = 1;

    private final EasyCacheEngine cache;
    private final Table table;
    private final Recorder recorder;
    private final HistoryNode.Settings settings;
    private final SplittableRandom random;

    /** Where a process ends itself during its next update; see {@link #orderToHalt}. */
    enum HaltPoint {
        BEFORE_COMMIT,
        AFTER_COMMIT
    }

    Client(
            EasyCacheEngine cache,
            Table table,
            Recorder recorder,
            HistoryNode.Settings settings,
            SplittableRandom random) {
        this.cache = cache;
        this.table = table;
        this.recorder = recorder;
        this.settings = settings;
        this.random = random;
    }

    /** Makes a process halt, without shutdown hooks, when one of its updates gets to this point. */
    static Path orderToHalt(Path directory, String node, HaltPoint point) {
        return directory.resolve("halt-" + node + "-" + point);
    }

    void call() {
        CacheKey<Integer> key = Caches.any(random);
        int kind = random.nextInt(PERCENT);
        if (kind < UPDATES) {
            update(key);
        } else if (kind < UPDATES + SOURCE_READS) {
            readSource(key);
        } else if (kind < UPDATES + SOURCE_READS + INVALIDATIONS) {
            invalidate(key);
        } else {
            read(key);
        }
        pause(2_000);
    }

    /** Returns whether the cache has the version of the database. */
    boolean isEqual(CacheKey<Integer> key) {
        return readSource(key) == read(key);
    }

    private int read(CacheKey<Integer> key) {
        long began = System.nanoTime();
        try {
            int version = cache.fetch(key, () -> load(key));
            recorder.read(key.name(), false, began, System.nanoTime(), version);
            return version;
        } catch (RuntimeException e) {
            recorder.other("read", key.name(), e.getClass().getSimpleName());
            return -1;
        }
    }

    /** Some loads are slow, so that updates overtake them. */
    private int load(CacheKey<Integer> key) {
        int version = table.version(key.name());
        if (random.nextInt(PERCENT) < 20) {
            pause(15_000);
        }
        return version;
    }

    private int readSource(CacheKey<Integer> key) {
        long began = System.nanoTime();
        int version = table.version(key.name());
        recorder.read(key.name(), true, began, System.nanoTime(), version);
        return version;
    }

    private void update(CacheKey<Integer> key) {
        long call = recorder.updateBegins(key.name());
        try {
            cache.update(List.of(key), () -> {
                table.increment(key.name(), version -> {
                    recorder.updateCommits(call, version);
                    pause(1_000);
                    haltIf(HaltPoint.BEFORE_COMMIT);
                });
                haltIf(HaltPoint.AFTER_COMMIT);
                pause(1_000);
                return null;
            });
            recorder.updateReturned(call);
        } catch (RuntimeException e) {
            recorder.other("update", key.name(), e.getClass().getSimpleName());
        }
    }

    private void invalidate(CacheKey<Integer> key) {
        cache.invalidate(key);
        recorder.other("invalidate", key.name(), "done");
    }

    private void haltIf(HaltPoint point) {
        if (Files.exists(orderToHalt(settings.directory(), settings.name(), point))) {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Takes up to some time, as other work does. */
    private void pause(int maximumMicros) {
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(maximumMicros)));
    }
}
