package io.easykit.cache.redis;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.Outcome;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import io.lettuce.core.cluster.SlotHash;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Entries in Redis: one hash for each, with one field, its value, in the normal state.
 *
 * <table>
 * <caption>Fields</caption>
 * <tr><td>{@code v<fingerprint>}</td><td>6 bytes end of life (server's ms), 4 bytes epoch of the prefix, envelope</td></tr>
 * <tr><td>{@code f}</td><td>8 bytes fencing token, 6 bytes end of the load lease (0: released)</td></tr>
 * <tr><td>{@code s}</td><td>staleUntil, in the server's ms</td></tr>
 * <tr><td>{@code i:<token>}</td><td>the end of one update's lease</td></tr>
 * <tr><td>{@code i}</td><td>the latest of these</td></tr>
 * </table>
 *
 * <p>While two versions of an application with different structures of the value's type run, there is a value for each. They
 * share everything else: an invalidation drops them all. The key expires with the first of them, so that a plain read never
 * finds an expired one.
 *
 * <p>The scripts stand beside this class. A script that the server does not have is sent again by its text; a key of another
 * type is removed and the call repeated once.
 */
public final class RedisEntryStore implements EntryStore {

    public static final String DEFAULT_KEY_PREFIX = "ec:";

    /** First byte of the fields of values. */
    private static final byte VALUE = 'v';

    private static final int VALUE_HEADER = 10;
    private static final int SHORTEST_VALUE = 12;
    private static final int FILL_LENGTH = 14;
    private static final int ELECTION_OFFSET = 8;

    /** How long a fencing token outlives its load lease: a load that takes longer is not stored. */
    private static final byte[] KEEP_FILL = bytes(Duration.ofMinutes(2).toMillis());

    private static final byte[] PROBE_LEASE = bytes(Duration.ofSeconds(1).toMillis());

    private static final Pattern NUMBER = Pattern.compile("\\d{1,10}");

    /** An epoch has four bytes of a value. The highest number is no epoch. */
    private static final long NO_EPOCH = 0xFFFF_FFFFL;

    private static final byte[] TRUE = bytes("1");
    private static final byte[] FALSE = bytes("0");

    private final RedisCommands commands;
    private final RedisKeys names;
    private final long timeoutNanos;
    private final ServerClock clock = new ServerClock();
    private final AtomicBoolean askingTime = new AtomicBoolean();
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
     * @throws IllegalArgumentException if it is no {@linkplain #isKeyPrefix key prefix}
     */
    public RedisEntryStore(RedisConnectionFactory factory, String keyPrefix, Duration commandTimeout) {
        this(
                factory instanceof LettuceConnectionFactory lettuce && lettuce.getShareNativeConnection()
                        ? new LettuceCommands(lettuce, commandTimeout)
                        : new ConnectionFactoryCommands(factory),
                new RedisKeys(keyPrefix),
                commandTimeout);
    }

    RedisEntryStore(RedisCommands commands, Duration commandTimeout) {
        this(commands, new RedisKeys(DEFAULT_KEY_PREFIX), commandTimeout);
    }

    RedisEntryStore(RedisCommands commands, RedisKeys names, Duration commandTimeout) {
        this.commands = commands;
        this.names = names;
        this.timeoutNanos = commandTimeout.toNanos();
        this.clustered = commands.isCluster();
    }

    /** Whether a text has 1 to 64 characters, all of them letters, digits or {@code . _ : / -}. */
    public static boolean isKeyPrefix(String text) {
        return RedisKeys.isUsable(text);
    }

    /** The key of an entry in Redis. */
    public String redisKey(CacheKey<?> key) {
        return text(names.entry(key));
    }

    /** Makes the scripts known to the server, so that not even the first call has to send one. */
    public void loadScripts() {
        List<CompletionStage<?>> loads = new ArrayList<>();
        for (RedisScript script : RedisScript.values()) {
            loads.add(commands.load(script));
        }
        loads.forEach(this::await);
    }

    /**
     * Sends a PING.
     *
     * @throws StoreUnavailableException if there is no reply in time
     */
    public void ping() {
        await(commands.time());
    }

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        byte[] name = names.entry(key);
        return snapshot(await(readAll(name)), key.spec().fingerprint(), epoch);
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        CacheOptions options = key.spec().options();
        long asked = System.nanoTime();
        List<?> reply = (List<?>) await(run(
                RedisScript.FETCH,
                names.entry(key),
                List.of(
                        randomBytes(),
                        bytes(options.loadLease().toMillis()),
                        KEEP_FILL,
                        allowsStale ? TRUE : FALSE,
                        bytes(options.effectiveRefreshAhead().toMillis()),
                        bytes(epoch),
                        valueField(key))));
        clock.told(number(reply, 0), asked);
        return fetched(reply, epoch);
    }

    @Override
    public boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration life) {
        Object reply = await(run(
                RedisScript.STORE,
                names.entry(key),
                List.of(lease.id(), bytes(lease.epoch()), value.toBytes(), bytes(life.toMillis()), valueField(key))));
        return reply.equals(1L);
    }

    @Override
    public void releaseLoad(CacheKey<?> key, LoadLease lease) {
        await(run(RedisScript.RELEASE_LOAD, names.entry(key), List.of(lease.id())));
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        forEach(
                keys,
                key -> run(
                        RedisScript.PREPARE,
                        names.entry(key),
                        List.of(
                                bytes(token),
                                bytes(lease.toMillis()),
                                key.spec().options().allowsStale() ? TRUE : FALSE)));
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        forEach(keys, key -> invalidate(key, token, key.spec().options().effectiveStaleWindow()));
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        forEach(keys, key -> invalidate(key, token, Duration.ZERO));
    }

    @Override
    public void invalidateNow(Map<CacheKey<?>, String> tokens) {
        forEach(tokens.keySet(), key -> invalidate(key, tokens.getOrDefault(key, ""), Duration.ZERO));
    }

    @Override
    public EntryStore reopened() {
        RedisCommands reopened = commands.reopened();
        return reopened == commands ? this : new RedisEntryStore(reopened, names, Duration.ofNanos(timeoutNanos));
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
        return clustered ? SlotTags.EPOCH_HASHES : 1;
    }

    @Override
    public int epochCopies() {
        return clustered ? SlotTags.COPIES : 1;
    }

    @Override
    public int epochHashOf(CacheKey<?> key) {
        return clustered ? SlotTags.epochHashOf(SlotHash.getSlot(names.entry(key))) : 0;
    }

    private byte[] epochsName(int hash) {
        return clustered ? names.epochs(SlotTags.ofEpochs(hash)) : names.epochs();
    }

    @Override
    public Map<String, Long> epochs(int hash) {
        Map<String, Long> epochs = new HashMap<>();
        await(readAll(epochsName(hash))).forEach((prefix, epoch) -> {
            if (NUMBER.matcher(text(epoch)).matches() && Long.parseLong(text(epoch)) < NO_EPOCH) {
                epochs.put(text(prefix), Long.parseLong(text(epoch)));
            }
        });
        return epochs;
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known) {
        List<String> prefixes = List.copyOf(known.keySet());
        List<byte[]> arguments = new ArrayList<>();
        for (String prefix : prefixes) {
            arguments.add(bytes(prefix));
            arguments.add(bytes(known.getOrDefault(prefix, 0L)));
        }
        List<?> reply = (List<?>) await(run(RedisScript.RAISE_EPOCH, epochsName(hash), arguments));
        Map<String, Long> raised = new HashMap<>();
        for (int i = 0; i < prefixes.size(); i++) {
            raised.put(prefixes.get(i), number(reply, i));
        }
        return raised;
    }

    @Override
    public Duration lease(String name, String owner, Duration duration) {
        return Duration.ofMillis((Long)
                await(run(RedisScript.LEASE, names.lease(name), List.of(bytes(owner), bytes(duration.toMillis())))));
    }

    /**
     * Prepares and invalidates: a Redis that is full takes the second only. The client learns of a probe that is not
     * answered: a connection over which none comes back may lead nowhere.
     */
    @Override
    public void probe(Partitions in, int partition) {
        byte[] name = probeName(in, partition);
        long sent = System.nanoTime();
        try {
            await(run(RedisScript.PROBE, name, List.of()));
            await(run(RedisScript.PREPARE, name, List.of(name, PROBE_LEASE, FALSE)));
            await(run(RedisScript.INVALIDATE, name, List.of(name, bytes(0))));
        } catch (StoreUnavailableException away) {
            if (away.getCause() instanceof TimeoutException) {
                commands.unanswered(name, sent);
            }
            throw away;
        }
    }

    @Override
    public @Nullable StoreUnavailableException checkWrites(Partitions in, int partition) {
        try {
            await(run(RedisScript.PROBE, probeName(in, partition), List.of()));
            return null;
        } catch (StoreUnavailableException failure) {
            if (RedisFailure.isFull(failure)) {
                return failure;
            }
            throw failure;
        }
    }

    private byte[] probeName(Partitions in, int partition) {
        return in instanceof ClusterPartitions cluster ? names.probe(cluster.probeTag(partition)) : names.probe();
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        commands.onReconnect(action);
    }

    private CompletionStage<Object> invalidate(CacheKey<?> key, String token, Duration window) {
        return run(RedisScript.INVALIDATE, names.entry(key), List.of(bytes(token), bytes(window.toMillis())));
    }

    @Override
    public void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        await(run(RedisScript.REMOVE_UNREADABLE, names.entry(key), List.of(unreadable.toBytes(), valueField(key))));
    }

    /** Sends all before it waits for the first; a client that waits itself does so for one dead server only once. */
    private void forEach(
            Collection<? extends CacheKey<?>> keys, Function<CacheKey<?>, CompletionStage<Object>> command) {
        List<CompletionStage<Object>> replies = new ArrayList<>(keys.size());
        for (CacheKey<?> key : keys) {
            CompletionStage<Object> reply = command.apply(key);
            replies.add(reply);
            if (hasServerFailure(reply)) {
                break;
            }
        }
        replies.forEach(this::await);
    }

    private static boolean hasServerFailure(CompletionStage<?> reply) {
        try {
            reply.toCompletableFuture().getNow(null);
            return false;
        } catch (CompletionException failed) {
            Throwable failure = failed.getCause() == null ? failed : failed.getCause();
            return RedisFailure.translate(failure).isServerFailure();
        }
    }

    private CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
        return commands.readAll(key)
                .exceptionallyCompose(failure -> RedisFailure.isWrongType(failure)
                        ? runOnce(RedisScript.REMOVE_WRONG_TYPE, key, List.of()).thenApply(removed -> Map.of())
                        : CompletableFuture.failedStage(failure));
    }

    private CompletionStage<Object> run(RedisScript script, byte[] key, List<byte[]> arguments) {
        return runOnce(script, key, arguments)
                .exceptionallyCompose(failure -> RedisFailure.isWrongType(failure)
                        ? runOnce(RedisScript.REMOVE_WRONG_TYPE, key, List.of())
                                .thenCompose(removed -> runOnce(script, key, arguments))
                        : CompletableFuture.failedStage(failure));
    }

    private CompletionStage<Object> runOnce(RedisScript script, byte[] key, List<byte[]> arguments) {
        return commands.runBySha(script, key, arguments)
                .exceptionallyCompose(failure -> RedisFailure.isUnknownScript(failure)
                        ? commands.runByText(script, key, arguments)
                        : CompletableFuture.failedStage(failure));
    }

    private Snapshot snapshot(Map<byte[], byte[]> fields, String fingerprint, long epoch) {
        byte[] value = null;
        int locks = 0;
        boolean invalidated = false;
        boolean loading = false;
        boolean updating = false;
        for (Map.Entry<byte[], byte[]> field : fields.entrySet()) {
            byte first = firstByte(field.getKey());
            locks += first == VALUE ? 0 : 1;
            switch (first) {
                case VALUE -> value = isOf(fingerprint, field.getKey()) ? field.getValue() : value;
                case 's' -> invalidated = true;
                case 'f' -> loading = isElection(field.getValue());
                default -> updating = true;
            }
        }
        if (value == null || value.length < SHORTEST_VALUE || epochOf(value) < epoch) {
            return new Snapshot(null, false, invalidated, loading, updating, null);
        }
        boolean fresh = locks == 0;
        return new Snapshot(
                Envelope.wrap(value, VALUE_HEADER),
                fresh,
                invalidated,
                loading,
                updating,
                fresh ? remaining(endOfLife(value)) : null);
    }

    private static byte[] valueField(CacheKey<?> key) {
        return bytes((char) VALUE + key.spec().fingerprint());
    }

    private static boolean isOf(String fingerprint, byte[] field) {
        if (field.length != fingerprint.length() + 1) {
            return false;
        }
        for (int i = 1; i < field.length; i++) {
            if (field[i] != fingerprint.charAt(i - 1)) {
                return false;
            }
        }
        return true;
    }

    private @Nullable Duration remaining(long endOfLife) {
        if (clock.isOld() && askingTime.compareAndSet(false, true)) {
            askTime();
        }
        return clock.isKnown() ? Duration.ofMillis(endOfLife - clock.millis()) : null;
    }

    private void askTime() {
        long asked = System.nanoTime();
        commands.time().whenComplete((now, failure) -> {
            if (failure == null) {
                clock.told(now, asked);
            }
            askingTime.set(false);
        });
    }

    private static Fetched fetched(List<?> reply, long epoch) {
        Outcome outcome = Outcome.valueOf(new String((byte[]) reply.get(1), StandardCharsets.US_ASCII));
        return switch (outcome) {
            case SUCCESS -> new Fetched.Success(fetchedValue(reply), isStale(reply));
            case SUCCESS_NEED_QUERY ->
                new Fetched.SuccessNeedQuery(fetchedValue(reply), isStale(reply), fetchedLease(reply, epoch));
            case NEED_QUERY -> new Fetched.NeedQuery(fetchedLease(reply, epoch));
            case NEED_WAIT -> new Fetched.NeedWait(Duration.ofMillis(number(reply, 4)));
            case NEED_QUERY_NO_STORE -> new Fetched.NeedQueryNoStore();
        };
    }

    private static Envelope fetchedValue(List<?> reply) {
        return Envelope.wrap((byte[]) reply.get(2), VALUE_HEADER);
    }

    private static LoadLease fetchedLease(List<?> reply, long epoch) {
        return new LoadLease((byte[]) reply.get(3), epoch);
    }

    /** The mark is the last part of the reply, and only there for a stale value. */
    private static boolean isStale(List<?> reply) {
        return reply.size() > 5;
    }

    private <T> T await(CompletionStage<T> reply) {
        CompletableFuture<T> future = reply.toCompletableFuture();
        try {
            return future.get(timeoutNanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            future.cancel(false);
            throw translate(late);
        } catch (ExecutionException failed) {
            throw translate(failed.getCause() == null ? failed : failed.getCause());
        } catch (InterruptedException stop) {
            future.cancel(false);
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("Interrupted while waiting for Redis", false, stop);
        }
    }

    private StoreUnavailableException translate(Throwable failure) {
        return RedisFailure.isTimeout(failure) && commands.isDelayed(Duration.ofNanos(timeoutNanos))
                ? RedisFailure.delayed(failure)
                : RedisFailure.translate(failure);
    }

    private static byte firstByte(byte[] name) {
        return name.length == 0 ? 0 : name[0];
    }

    private static boolean isElection(byte[] fill) {
        return fill.length == FILL_LENGTH && sixBytes(fill, ELECTION_OFFSET) > 0;
    }

    private static long endOfLife(byte[] value) {
        return sixBytes(value, 0);
    }

    private static long epochOf(byte[] value) {
        return Integer.toUnsignedLong(ByteBuffer.wrap(value).getInt(6));
    }

    private static long sixBytes(byte[] bytes, int offset) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes, offset, 6);
        return (long) Short.toUnsignedInt(buffer.getShort()) << 32 | Integer.toUnsignedLong(buffer.getInt());
    }

    private static long number(List<?> reply, int index) {
        return (Long) reply.get(index);
    }

    private static byte[] randomBytes() {
        return ByteBuffer.allocate(4)
                .putInt(ThreadLocalRandom.current().nextInt())
                .array();
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(long number) {
        return bytes(Long.toString(number));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
