package io.easykit.cache.redis;

import static io.easykit.cache.redis.EntryFields.bytes;

import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Tries the commands that readers and updaters need, in one partition. */
final class Probes {

    private static final byte[] LEASE = bytes(Duration.ofSeconds(1).toMillis());
    private static final byte[] NOT_STALE = bytes("0");

    private final RedisCommands commands;
    private final RedisKeys names;
    private final EntryCalls calls;

    Probes(RedisCommands commands, RedisKeys names, EntryCalls calls) {
        this.commands = commands;
        this.names = names;
        this.calls = calls;
    }

    /**
     * Prepares and invalidates. The client is informed of a probe without a reply: its connection may lead nowhere.
     *
     * <p>A server that is full takes invalidations but no preparations, so it does not recover before it has room. It could be read
     * safely, unless an epoch must be raised, which needs room. But each miss and each update would fail on it, and these failures
     * would mark it unavailable again at once, in turns with recoveries that repeat all recent invalidations.
     */
    void run(Partitions in, int partition) {
        byte[] name = nameIn(in, partition);
        long sent = System.nanoTime();
        try {
            calls.await(calls.run(CacheScript.PROBE, name, List.of()));
            calls.await(calls.run(CacheScript.PREPARE, name, List.of(name, LEASE, NOT_STALE)));
            calls.await(calls.run(CacheScript.INVALIDATE, name, List.of(name, bytes(0))));
        } catch (StoreUnavailableException away) {
            if (away.getCause() instanceof TimeoutException) {
                commands.unanswered(name, sent);
            }
            throw away;
        }
    }

    /** See {@link io.easykit.cache.store.EntryStore#checkWrites}. */
    @Nullable StoreUnavailableException checkWrites(Partitions in, int partition) {
        try {
            calls.await(calls.run(CacheScript.PROBE, nameIn(in, partition), List.of()));
            return null;
        } catch (StoreUnavailableException failure) {
            if (CacheFailures.isFull(failure)) {
                return failure;
            }
            throw failure;
        }
    }

    private byte[] nameIn(Partitions in, int partition) {
        return in instanceof ClusterPartitions cluster ? names.probe(cluster.probeTag(partition)) : names.probe();
    }
}
