package io.easykit.cache.redis;

import static io.easykit.cache.redis.EntryFields.bytes;
import static io.easykit.cache.redis.EntryFields.text;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.PrefixEpochs;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.store.StoredEntry;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Entries in Redis: one hash for each ({@link EntryFields}), one script for each operation ({@link CacheScript}). A script that
 * the server does not have is sent again by its text. A key of another type is removed and the call repeated once.
 */
public final class RedisEntryStore implements EntryStore {

    public static final String DEFAULT_KEY_PREFIX = "ec:";

    private final RedisCommands commands;
    private final RedisKeys names;
    private final Duration commandTimeout;
    private final EntryCalls calls;
    private final StoredEpochs epochs;
    private final EntryClock clock;
    private final Probes probes;
    private final NearHints hints;
    private final boolean clustered;
    private volatile Partitions partitions = Partitions.ONE;

    /**
     * @param factory a Lettuce factory that shares its connection is used over that one, asynchronously; any other one
     *     command by command, with its own timeouts
     * @param commandTimeout how long a caller waits for an answer
     */
    public RedisEntryStore(RedisConnectionFactory factory, Duration commandTimeout) {
        this(factory, DEFAULT_KEY_PREFIX, commandTimeout);
    }

    /**
     * @param factory as above
     * @param keyPrefix start of every key: letters, digits and {@code . _ : / -}. Applications with different ones do not
     *     see each other's entries
     * @param commandTimeout how long a caller waits for an answer
     * @throws IllegalArgumentException if a key cannot start with it
     */
    public RedisEntryStore(RedisConnectionFactory factory, String keyPrefix, Duration commandTimeout) {
        this(commands(factory, commandTimeout), new RedisKeys(keyPrefix), commandTimeout, NearHints.NONE);
    }

    RedisEntryStore(RedisCommands commands, Duration commandTimeout) {
        this(commands, new RedisKeys(DEFAULT_KEY_PREFIX), commandTimeout, NearHints.NONE);
    }

    private RedisEntryStore(RedisCommands commands, RedisKeys names, Duration commandTimeout, NearHints hints) {
        this.commands = commands;
        this.hints = hints;
        this.names = names;
        this.commandTimeout = commandTimeout;
        this.calls = new EntryCalls(commands, commandTimeout);
        this.clustered = commands.isCluster();
        this.clock = new EntryClock(commands::time, commands.hasOneClock());
        commands.onReconnect(server -> clock.forget());
        this.epochs = new StoredEpochs(calls, names, clustered);
        this.probes = new Probes(commands, names, calls);
    }

    private static RedisCommands commands(RedisConnectionFactory factory, Duration commandTimeout) {
        return factory instanceof LettuceConnectionFactory lettuce && lettuce.getShareNativeConnection()
                ? new LettuceCommands(lettuce, commandTimeout)
                : new SpringCommands(factory);
    }

    /**
     * A store that publishes its invalidations as hints to the near levels of other nodes. {@link NearHintSubscription} brings
     * theirs.
     */
    public static RedisEntryStore withHints(RedisConnectionFactory factory, String keyPrefix, Duration commandTimeout) {
        RedisKeys names = new RedisKeys(keyPrefix);
        return new RedisEntryStore(
                commands(factory, commandTimeout), names, commandTimeout, NearHints.on(names.hints()));
    }

    /** Lets calls until the first reply take this time, from the first call on. Over Lettuce only: Jedis has a limit of its own. */
    public void allowSlowStart(Duration most) {
        commands.allowSlowStart(most);
    }

    NearHints hints() {
        return hints;
    }

    @Override
    public void onHint(Consumer<String> action) {
        hints.setListener(action);
    }

    /** The key of an entry in Redis. */
    public String redisKey(CacheKey<?> key) {
        return text(names.entry(key));
    }

    /** Makes the scripts known to the server, so that not even the first call has to send one. */
    public void loadScripts() {
        calls.loadScripts();
    }

    /** Checks that the server replies, by {@code TIME}. Fails with {@link StoreUnavailableException} otherwise. */
    public void ping() {
        calls.await(commands.time());
    }

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        byte[] name = names.entry(key);
        return EntryFields.snapshot(calls.await(calls.readAll(name)), key.spec().fingerprint(), epoch, clock);
    }

    @Override
    public StoredEntry inspect(CacheKey<?> key) {
        return ExplainedFields.read(calls.await(calls.run(CacheScript.EXPLAIN, names.entry(key), List.of())));
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        long asked = System.nanoTime();
        return fetched(calls.await(calls.fetch(names.entry(key), key, epoch, allowsStale)), asked, epoch);
    }

    private Fetched fetched(Object answer, long asked, long epoch) {
        FetchReply reply = FetchReply.of(answer);
        clock.update(reply.now(), asked);
        return reply.fetched(epoch);
    }

    @Override
    public @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        return PeekReply.peeked(calls.await(calls.peek(names.entry(key), key, epoch, allowsStale, Duration.ZERO)));
    }

    @Override
    public @Nullable Peeked peekExpired(CacheKey<?> key, long epoch) {
        return PeekReply.peeked(calls.await(peekExpired(names.entry(key), key, epoch)));
    }

    private CompletionStage<@Nullable Object> peekExpired(byte[] name, CacheKey<?> key, long epoch) {
        return calls.peek(name, key, epoch, false, key.spec().options().keptPastEnd());
    }

    @Override
    public boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration life) {
        return EntryCalls.isStored(calls.await(calls.store(names.entry(key), key, lease, value, life)));
    }

    @Override
    public void releaseLoad(CacheKey<?> key, LoadLease lease) {
        calls.await(calls.release(names.entry(key), lease));
    }

    @Override
    public <T> List<EntryReply<T>> callAll(List<? extends EntryCall<T>> several) {
        return calls.callAll(several, this::send);
    }

    @Override
    public boolean isAsynchronous() {
        return !calls.areBlocking();
    }

    @Override
    public <T> CompletionStage<T> callLater(EntryCall<T> call) {
        return calls.later(send(call));
    }

    @SuppressWarnings("unchecked") // T is the type of the reply of the call
    private <T> EntryCalls.Sent<T> send(EntryCall<T> call) {
        byte[] name = names.entry(call.key());
        if (call instanceof EntryCall.Read read) {
            String fingerprint = read.key().spec().fingerprint();
            return (EntryCalls.Sent<T>) EntryCalls.Sent.of(
                    calls.readAll(name), fields -> EntryFields.snapshot(fields, fingerprint, read.epoch(), clock));
        } else if (call instanceof EntryCall.Fetch fetch) {
            long asked = System.nanoTime();
            return (EntryCalls.Sent<T>) EntryCalls.Sent.of(
                    calls.fetch(name, fetch.key(), fetch.epoch(), fetch.allowsStale()),
                    answer -> fetched(answer, asked, fetch.epoch()));
        } else if (call instanceof EntryCall.Store store) {
            return (EntryCalls.Sent<T>) EntryCalls.Sent.of(
                    calls.store(name, store.key(), store.lease(), store.value(), store.ttl()), EntryCalls::isStored);
        } else if (call instanceof EntryCall.PeekExpired peek) {
            return (EntryCalls.Sent<T>) EntryCalls.Sent.of(
                    peekExpired(name, peek.key(), peek.epoch()),
                    answer -> Optional.ofNullable(PeekReply.peeked(answer)));
        }
        EntryCall.Release release = (EntryCall.Release) call;
        return (EntryCalls.Sent<T>) EntryCalls.Sent.of(calls.release(name, release.lease()), any -> true);
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        calls.forEach(
                keys,
                key -> calls.run(
                        CacheScript.PREPARE,
                        names.entry(key),
                        List.of(
                                bytes(token),
                                bytes(lease.toMillis()),
                                EntryCalls.staleWindow(key.spec().options()))));
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        calls.forEach(keys, key -> invalidate(key, token, key.spec().options().effectiveStaleWindow()));
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        calls.forEach(keys, key -> invalidate(key, token, Duration.ZERO));
    }

    @Override
    public Map<CacheKey<?>, StoreUnavailableException> invalidateNow(Map<CacheKey<?>, String> tokens) {
        return calls.failuresOfEach(
                tokens.keySet(), key -> invalidate(key, tokens.getOrDefault(key, ""), Duration.ZERO));
    }

    @Override
    public EntryStore reopened() {
        RedisCommands reopened = commands.reopened();
        RedisEntryStore to = reopened == commands ? this : new RedisEntryStore(reopened, names, commandTimeout, hints);
        to.partitions = partitions(); // a new connection finds them with its first call
        return to;
    }

    @Override
    public void close() {
        commands.close();
    }

    @Override
    public Partitions partitions() {
        if (clustered) {
            partitions = ClusterPartitions.next(partitions, names, commands::masters);
        }
        return partitions;
    }

    @Override
    public int epochHashes() {
        return epochs.hashes();
    }

    @Override
    public int epochCopies() {
        return epochs.copies();
    }

    @Override
    public int epochHashOf(CacheKey<?> key) {
        return epochs.hashes() == 1 ? 0 : epochs.hashOf(names.entry(key));
    }

    @Override
    public PrefixEpochs epochs(int hash) {
        return epochs.read(hash);
    }

    @Override
    public long advanceMark(int hash) {
        return epochs.advanceMark(hash);
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        Map<String, Long> raised = epochs.raise(hash, known, token);
        if (hints.areOn()) {
            raised.keySet().forEach(prefix -> commands.publish(hints.channel(), hints.ofAll(prefix)));
        }
        return raised;
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        epochs.prepareClear(hash, prefixes, token, lease);
    }

    @Override
    public boolean endExpiredClears(int hash, Map<String, Long> known) {
        return epochs.endExpiredClears(hash, known);
    }

    @Override
    public Duration takeWorkLease(String name, String owner, Duration duration, boolean partial) {
        Object left = calls.await(calls.run(
                CacheScript.WORK_LEASE,
                names.workLease(name),
                List.of(bytes(owner), bytes(duration.toMillis()), bytes(partial ? "part" : "all"))));
        return Duration.ofMillis((Long) Objects.requireNonNull(left));
    }

    @Override
    public void probe(Partitions in, int partition) {
        probes.run(in, partition);
    }

    @Override
    public @Nullable StoreUnavailableException checkWrites(Partitions in, int partition) {
        return probes.checkWrites(in, partition);
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        commands.onReconnect(action);
    }

    private CompletionStage<@Nullable Object> invalidate(CacheKey<?> key, String token, Duration window) {
        List<byte[]> arguments = List.of(bytes(token), bytes(window.toMillis()));
        return calls.run(CacheScript.INVALIDATE, names.entry(key), hints.with(arguments, key));
    }

    @Override
    public void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        calls.await(calls.run(
                CacheScript.REMOVE_UNREADABLE,
                names.entry(key),
                List.of(unreadable.toBytes(), EntryCalls.valueField(key))));
    }
}
