package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.memory.InMemoryCacheStore;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.StoredEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls the store in Redis and the store in memory with the same random readers, loaders, updates and clearings, and compares
 * after each call the reply and the whole state. The clock is set back now and then. One seed is one run, always the same.
 */
final class MemoryChecker implements AutoCloseable {

    private static final long START = 1_700_000_000_000L;

    private final VirtualRedis redis;

    /** @param edit weakens the scripts, or leaves them as they are */
    MemoryChecker(BiFunction<CacheScript, String, String> edit) {
        this.redis = new VirtualRedis(edit);
    }

    /** Runs one seed for so many steps. */
    void run(long seed, int steps) {
        Run run = new Run(seed);
        try {
            for (int step = 0; step < steps; step++) {
                run.act();
            }
            assertThat(redis.keysWithoutEnd()).isZero();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("Seed " + seed + " after " + run.log(), e);
        }
    }

    @Override
    public void close() {
        redis.close();
    }

    /** The lease of one fetch in both stores. */
    private record Leases(CacheKey<?> key, LoadLease real, LoadLease memory) {}

    /** Names fencing tokens by the order of their first use, as each store makes its own. */
    private static final class Tokens {

        private final Map<String, Integer> numbers = new HashMap<>();

        int of(String token) {
            return numbers.computeIfAbsent(token, any -> numbers.size());
        }
    }

    private final class Run {

        private final Random random;
        private final List<String> history = new ArrayList<>();
        private final RedisEntryStore real;
        private final InMemoryCacheStore memory = new InMemoryCacheStore(() -> Run.this.millis);
        private final Tokens realTokens = new Tokens();
        private final Tokens memoryTokens = new Tokens();
        private final List<Leases> leases = new ArrayList<>();
        private final List<CacheKey<?>> keys = new ArrayList<>();
        private final List<String> tokens = new ArrayList<>(List.of("", "u0"));
        private long millis = START;
        private long epoch;
        private int sequence;

        Run(long seed) {
            random = new Random(seed);
            real = redis.emptied(millis);
            for (String id : List.of("a", "b")) {
                for (Class<?> type : List.of(String.class, Integer.class, Long.class)) {
                    for (CacheOptions options : options()) {
                        keys.add(CacheSpec.of("p", type).withOptions(options).key(id));
                    }
                }
            }
        }

        private static List<CacheOptions> options() {
            CacheOptions ap = CacheOptions.builder()
                    .ttl(Duration.ofMillis(400))
                    .nullTtl(Duration.ofMillis(10))
                    .ttlJitter(0)
                    .refreshAhead(Duration.ofMillis(40))
                    .staleWindow(Duration.ofMillis(150))
                    .loadLease(Duration.ofMillis(100))
                    .updateLease(Duration.ofMillis(200))
                    .build();
            CacheOptions cp = ap.toBuilder().consistency(Consistency.CP).build();
            CacheOptions kept = ap.toBuilder()
                    .staleOnError(StaleOnErrorOptions.keptFor(Duration.ofMillis(1300)))
                    .build();
            return List.of(ap, cp, kept);
        }

        List<String> log() {
            return history.subList(Math.max(0, history.size() - 15), history.size());
        }

        void act() {
            if (random.nextInt(3) == 0) {
                boolean isLong = random.nextInt(40) == 0;
                pass(isLong ? 119_000 + random.nextInt(3_000) : random.nextInt(120));
            }
            CacheKey<?> key = any(keys);
            if (random.nextInt(40) == 0) {
                setClockBackAfterAnInvalidation(key);
            }
            switch (random.nextInt(20)) {
                case 0, 1, 2, 3 -> fetch(key);
                case 4, 5, 6, 7 -> settle();
                case 8, 9 -> prepare(key);
                case 10, 11, 12 -> invalidate(key);
                case 13 -> removeUnreadable(key);
                case 14 -> epochs();
                case 15 -> workLease();
                default -> look(key);
            }
        }

        private void pass(long time) {
            millis += time;
            redis.setMillis(millis);
        }

        /** The stale window may then be longer than any one. */
        private void setClockBackAfterAnInvalidation(CacheKey<?> key) {
            workLease(); // one that has ended is gone in Redis, and would be back in memory
            fetch(key);
            settle();
            invalidate(key);
            pass(-random.nextInt(400));
        }

        private <T> T any(List<T> list) {
            return list.get(random.nextInt(list.size()));
        }

        /** Calls both stores, and compares the replies and the state. */
        private <T> T both(String name, Function<EntryStore, T> call) {
            history.add("t=" + (millis - START) + " " + name);
            T expected = call.apply(memory);
            T actual = call.apply(real);
            assertThat(actual).as(name).isEqualTo(expected);
            compareStates(name);
            return actual;
        }

        private void compareStates(String name) {
            for (CacheKey<?> key : List.of(keys.get(0), keys.get(keys.size() - 1))) {
                StoredEntry stored = memory.inspect(key);
                assertThat(state(real.inspect(key), realTokens))
                        .as("state after " + name)
                        .isEqualTo(state(stored, memoryTokens));
            }
            assertThat(real.epochs(0)).as("epochs after " + name).isEqualTo(memory.epochs(0));
        }

        private static Map<String, Object> state(StoredEntry entry, Tokens tokens) {
            Map<String, Object> state = new TreeMap<>();
            state.put("now", entry.now());
            state.put("exists", entry.exists());
            state.put("life", String.valueOf(entry.timeToLive()));
            state.put(
                    "values",
                    entry.values().stream()
                            .sorted(Comparator.comparing(StoredEntry.Value::fingerprint))
                            .toList());
            StoredEntry.LeasedToken leased = entry.leasedToken();
            state.put("load", leased == null ? "none" : tokens.of(leased.token()) + " until " + leased.leaseEnds());
            state.put("stale", String.valueOf(entry.staleUntil()));
            state.put("updating", String.valueOf(entry.updatesUntil()));
            state.put(
                    "updates",
                    entry.updates().stream()
                            .sorted(Comparator.comparing(StoredEntry.Update::token))
                            .toList());
            state.put("kept", String.valueOf(entry.keptUntil()));
            return state;
        }

        private void fetch(CacheKey<?> key) {
            long known = random.nextInt(6) == 0 ? Math.max(0, epoch - 1) : epoch;
            boolean allowsStale = random.nextInt(3) > 0;
            String name = "fetch " + key + " " + allowsStale;
            history.add("t=" + (millis - START) + " " + name);
            Fetched expected = memory.fetch(key, known, allowsStale);
            Fetched actual = real.fetch(key, known, allowsStale);
            assertThat(shown(actual)).as(name).isEqualTo(shown(expected));
            if (actual instanceof Fetched.Leased mine && expected instanceof Fetched.Leased its) {
                leases.add(new Leases(key, mine.lease(), its.lease()));
            }
            compareStates(name);
        }

        private static List<Object> shown(Fetched fetched) {
            List<Object> shown = new ArrayList<>(List.of(fetched.outcome()));
            if (fetched instanceof Fetched.Served served) {
                shown.addAll(List.of(text(served.value()), served.stale()));
            }
            if (fetched instanceof Fetched.NeedWait wait) {
                shown.add(wait.leaseLeft());
            }
            return shown;
        }

        private static String text(@Nullable Envelope value) {
            return value == null ? "none" : new String(value.toBytes(), ISO_8859_1);
        }

        /** Stores or releases, once or twice, also long after the lease has ended. */
        private void settle() {
            if (leases.isEmpty()) {
                return;
            }
            boolean isLatest = random.nextInt(3) > 0;
            Leases held = isLatest ? leases.get(leases.size() - 1) : any(leases);
            CacheKey<?> key = held.key;
            if (random.nextInt(4) == 0) {
                both("release " + key, store -> {
                    store.releaseLoad(key, lease(held, store));
                    return true;
                });
                return;
            }
            Duration ttl = Duration.ofMillis(1 + random.nextInt(400));
            Envelope.Kind kind = sequence % 2 == 0 ? Envelope.Kind.NULL : Envelope.Kind.VALUE;
            Envelope plain = Envelope.of(kind, ("v" + sequence++).getBytes(ISO_8859_1));
            Envelope value = random.nextBoolean() ? plain.withTtl(ttl) : plain;
            both("store " + key + " " + ttl, store -> store.store(key, lease(held, store), value, ttl));
        }

        private LoadLease lease(Leases held, EntryStore store) {
            return store == real ? held.real : held.memory;
        }

        private void prepare(CacheKey<?> key) {
            String token = "u" + sequence++;
            tokens.add(token);
            List<CacheKey<?>> updated = List.of(key, any(keys));
            both("prepare " + updated + token, store -> {
                store.prepare(updated, token, key.spec().options().updateLease());
                return true;
            });
        }

        private void invalidate(CacheKey<?> key) {
            boolean isLatest = random.nextBoolean();
            String token = isLatest ? tokens.get(tokens.size() - 1) : any(tokens);
            List<CacheKey<?>> updated = random.nextBoolean() ? List.of(key) : List.of(key, any(keys));
            boolean atOnce = random.nextInt(4) == 0;
            both("invalidate " + updated + token + atOnce, store -> {
                if (atOnce) {
                    store.invalidateNow(updated, token);
                } else {
                    store.invalidate(updated, token);
                }
                return true;
            });
        }

        private void removeUnreadable(CacheKey<?> key) {
            Snapshot seen = memory.read(key, 0);
            Envelope value = seen.value() != null && random.nextBoolean()
                    ? seen.value()
                    : Envelope.of(Envelope.Kind.VALUE, new byte[] {1});
            both("remove " + key, store -> {
                store.removeUnreadable(key, value);
                return true;
            });
        }

        private void epochs() {
            String prefix = random.nextInt(4) == 0 ? "q" : "p";
            String token = random.nextBoolean() ? "c" : "d";
            Map<String, Long> known = Map.of(prefix, random.nextInt(3) == 0 ? epoch + 2 : 0L);
            switch (random.nextInt(4)) {
                case 0 -> {
                    Map<String, Long> raised = both("raise " + known, store -> store.raiseEpochs(0, known, token));
                    epoch = Math.max(epoch, raised.getOrDefault("p", 0L));
                }
                case 1 ->
                    both("prepare clear " + prefix + token, store -> {
                        store.prepareClear(0, List.of(prefix), token, Duration.ofMillis(random(200)));
                        return true;
                    });
                default -> both("end clears " + known, store -> store.endExpiredClears(0, known));
            }
        }

        /** The same for both stores, as it depends on the step alone. */
        private long random(int bound) {
            return history.size() * 37L % bound;
        }

        private void workLease() {
            String owner = random.nextBoolean() ? "a" : "b";
            Duration length = Duration.ofMillis(1 + random.nextInt(200));
            boolean partial = random.nextBoolean();
            both(
                    "work lease " + owner + (partial ? " in part" : ""),
                    store -> store.takeWorkLease("work", owner, length, partial));
        }

        private void look(CacheKey<?> key) {
            boolean allowsStale = random.nextBoolean();
            both("look at " + key, store -> {
                Peeked peeked = store.peek(key, epoch, allowsStale);
                Peeked expired = store.peekExpired(key, epoch);
                return List.of(shown(peeked), shown(expired), shown(key, store.read(key, epoch)));
            });
        }

        private static Object shown(@Nullable Peeked peeked) {
            return peeked == null
                    ? "none"
                    : List.of(text(peeked.value()), peeked.remaining(), peeked.stale(), peeked.expired());
        }

        /** Without the parts that a plain read of Redis takes from its estimate of the clock. */
        private Object shown(CacheKey<?> key, Snapshot seen) {
            boolean isKept = memory.inspect(key).keptUntil() != null;
            return List.of(
                    text(seen.value()), isKept || seen.fresh(), seen.invalidated(), seen.loading(), seen.updating());
        }
    }
}
