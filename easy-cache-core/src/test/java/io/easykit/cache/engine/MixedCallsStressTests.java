package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.CachedValue;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.FillTicket;
import io.easykit.cache.Loader;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two nodes make all kinds of calls at random, of caches with all kinds of settings: nested, several keys at once, near level,
 * expired values, tickets, futures, clearing. The database numbers its updates, so a value shows which update it has seen.
 *
 * <p>A node never returns a value older than an update of its own that has returned, whatever the store loses. CP never returns
 * one older than an update of any node, unless the store loses data.
 */
@Tag("heavy")
class MixedCallsStressTests {

    private static final Duration RUN = Duration.ofSeconds(30);
    private static final int IDS = 6;
    private static final int THREADS = 3;
    private static final Duration SHORT = Duration.ofMillis(100);

    private static final CacheSpec<Integer> PLAIN = spec("plain", options());
    private static final CacheSpec<Integer> STRONG = spec("strong", options().consistency(Consistency.CP));
    private static final CacheSpec<Integer> NEAR = spec("near", options().nearTtl(SHORT));
    private static final CacheSpec<Integer> KEPT =
            spec("kept", options().nearTtl(SHORT).staleOnError(StaleOnErrorOptions.keptFor(Duration.ofSeconds(5))));
    private static final List<CacheSpec<Integer>> INNER = List.of(PLAIN, STRONG, NEAR, KEPT);

    /** Values that are computed from those of the other caches. */
    private static final CacheSpec<Integer> OUTER = spec("outer", options());

    private final FaultyCacheStore store = new FaultyCacheStore(System::currentTimeMillis);
    private final ExecutorService background = Executors.newFixedThreadPool(4);
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger updates = new AtomicInteger();

    /** CP caches are not cleared here, since that takes 2 s. So their data are others. */
    private final AtomicIntegerArray weakData = new AtomicIntegerArray(IDS);

    private final AtomicIntegerArray strongData = new AtomicIntegerArray(IDS);
    private final AtomicIntegerArray strongReturned = new AtomicIntegerArray(IDS);
    private volatile boolean losesData;
    private final CountDownLatch end = new CountDownLatch(1);

    private static final class DeadDatabase extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    private static CacheOptions.Builder options() {
        return CacheOptions.builder().ttl(Duration.ofMillis(300)).staleWindow(SHORT);
    }

    private static CacheSpec<Integer> spec(String prefix, CacheOptions.Builder options) {
        return CacheSpec.of(prefix, Integer.class).withOptions(options.build());
    }

    @AfterEach
    void stop() {
        background.shutdownNow();
    }

    /** A replica that is up to 40 ms behind is promoted again and again. No circuit breaker opens. */
    @Test
    void noNodeMissesItsOwnUpdatesWhileRedisLosesData() throws Exception {
        losesData = true;
        run(random -> {
            Runnable promote = store.replica();
            pause(random.nextInt(40));
            // A new connection is recorded before a reply arrives over it.
            synchronized (store) {
                promote.run();
                store.reconnect();
            }
            pause(20 + random.nextInt(400));
        });
    }

    @Test
    void noNodeMissesItsOwnUpdatesAndCpIsStrongWhileCallsFail() throws Exception {
        Operation[] operations = Operation.values();
        run(random -> {
            Fault fault = random.nextBoolean() ? Fault.LOST_REPLY : Fault.LOST_REQUEST;
            store.failNext(operations[random.nextInt(operations.length)], fault);
            pause(20 + random.nextInt(130));
        });
    }

    /** What goes wrong meanwhile. */
    private interface Disturbance {

        void disturb(SplittableRandom random) throws InterruptedException;
    }

    private void run(Disturbance disturbance) throws InterruptedException {
        SplittableRandom random = new SplittableRandom();
        List<EasyCacheEngine> nodes = List.of(node(), node());
        List<Thread> threads = new ArrayList<>();
        for (EasyCacheEngine node : nodes) {
            Node one = new Node(node);
            for (int i = 0; i < THREADS; i++) {
                SplittableRandom own = random.split();
                threads.add(new Thread(() -> one.callUntilStopped(own), "caller"));
            }
        }
        threads.forEach(Thread::start);
        for (long until = System.nanoTime() + RUN.toNanos(); System.nanoTime() < until; ) {
            disturbance.disturb(random);
        }
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        nodes.forEach(EasyCacheEngine::stop);
        assertThat(violations).isEmpty();
        assertThat(updates).hasPositiveValue();
        assertThat(reads).hasPositiveValue();
    }

    /** The pace of the calls. */
    private void pause(int millis) throws InterruptedException {
        boolean unused = end.await(millis, TimeUnit.MILLISECONDS);
    }

    private EasyCacheEngine node() {
        return EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .background(background)
                .localLevels(() -> new CaffeineLocalLevel(100))
                .nearLevels(() -> new CaffeineLocalLevel(100))
                .circuitBreaker(
                        new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 100_000, Duration.ofMillis(100), 1000))
                .build();
    }

    /** The calls of one node, and the latest of its updates that have returned. */
    private final class Node {

        private final EasyCacheEngine cache;
        private final AtomicIntegerArray weakReturned = new AtomicIntegerArray(IDS);
        private final AtomicIntegerArray ownStrongReturned = new AtomicIntegerArray(IDS);

        Node(EasyCacheEngine cache) {
            this.cache = cache;
        }

        void callUntilStopped(SplittableRandom random) {
            while (end.getCount() > 0) {
                try {
                    call(random);
                } catch (DeadDatabase expected) {
                    // There is no expired value.
                } catch (Exception failure) {
                    Throwable cause = failure instanceof ExecutionException ? failure.getCause() : failure;
                    if (!(cause instanceof DeadDatabase) && !(cause instanceof CacheUnavailableException)) {
                        violations.add("failed: " + cause);
                    }
                }
            }
        }

        private void call(SplittableRandom random) throws Exception {
            int id = random.nextInt(IDS);
            int kind = random.nextInt(100);
            if (kind < 12) {
                update(id);
            } else if (kind < 14) {
                clear(id);
            } else {
                read(INNER.get(random.nextInt(INNER.size())), id, kind, random);
            }
        }

        private void update(int id) {
            List<CacheKey<?>> keys = new ArrayList<>();
            for (CacheSpec<Integer> spec : INNER) {
                keys.add(spec.key(id));
                keys.add(outer(spec, id));
            }
            AtomicInteger weak = new AtomicInteger();
            AtomicInteger strong = new AtomicInteger();
            cache.update(keys, () -> {
                weak.set(weakData.incrementAndGet(id));
                strong.set(strongData.incrementAndGet(id));
                return null;
            });
            weakReturned.accumulateAndGet(id, weak.get(), Math::max);
            ownStrongReturned.accumulateAndGet(id, strong.get(), Math::max);
            strongReturned.accumulateAndGet(id, strong.get(), Math::max);
            updates.incrementAndGet();
        }

        private void clear(int id) {
            AtomicInteger weak = new AtomicInteger();
            cache.update(List.of(PLAIN.all(), NEAR.all(), KEPT.all(), OUTER.all()), () -> {
                weak.set(weakData.incrementAndGet(id));
                return null;
            });
            weakReturned.accumulateAndGet(id, weak.get(), Math::max);
        }

        private void read(CacheSpec<Integer> spec, int id, int kind, SplittableRandom random) throws Exception {
            int own = (spec.equals(STRONG) ? ownStrongReturned : weakReturned).get(id);
            int all = strongReturned.get(id);
            CacheKey<Integer> key = spec.key(id);
            Loader<Integer, Exception> loader = () -> load(spec, id, random);
            if (kind < 20) {
                try (FillTicket<Integer> ticket = cache.startFill(key)) {
                    if (ticket != null) {
                        ticket.tryFill(data(spec).get(id));
                    }
                }
            }
            String call =
                    kind < 55 ? "fetch" : kind < 70 ? "batch" : kind < 77 ? "peek" : kind < 88 ? "async" : "nested";
            int got = value(
                    switch (call) {
                        case "fetch" -> cache.fetch(key, loader);
                        case "batch" -> inBatch(spec, id, random);
                        case "peek" -> peeked(spec, key, id);
                        case "async" ->
                            cache.async()
                                    .fetch(
                                            key,
                                            () -> CompletableFuture.completedFuture(
                                                    data(spec).get(id)))
                                    .get(1, TimeUnit.MINUTES);
                        default ->
                            cache.fetch(
                                    outer(spec, id),
                                    () -> random.nextBoolean() ? cache.fetch(key, loader) : inBatch(spec, id, random));
                    });
            reads.incrementAndGet();
            if (got < own) {
                violations.add(call + " of " + key + " missed an own update: " + got + " after " + own);
            } else if (spec.equals(STRONG) && !call.equals("nested") && !losesData && got < all) {
                violations.add(call + " of " + key + " is stale: " + got + " after " + all);
            }
        }

        private int inBatch(CacheSpec<Integer> spec, int id, SplittableRandom random) throws Exception {
            List<Integer> ids = List.of(id, (id + 1) % IDS, (id + 2) % IDS);
            return value(
                    cache.<Integer, Integer, Exception>fetchAll(spec, ids, missing -> loadAll(spec, missing, random))
                            .get(id));
        }

        private int peeked(CacheSpec<Integer> spec, CacheKey<Integer> key, int id) {
            CachedValue<Integer> cached = cache.peek(key);
            return cached == null ? data(spec).get(id) : value(cached.value());
        }
    }

    private static int value(@Nullable Integer value) {
        return requireNonNull(value);
    }

    private static CacheKey<Integer> outer(CacheSpec<Integer> inner, int id) {
        return OUTER.key(inner.prefix(), id);
    }

    private AtomicIntegerArray data(CacheSpec<Integer> spec) {
        return spec.equals(STRONG) ? strongData : weakData;
    }

    /** Reads at once, and returns later. */
    private int load(CacheSpec<Integer> spec, int id, SplittableRandom random) throws InterruptedException {
        int value = data(spec).get(id);
        pauseOrFail(spec, random);
        return value;
    }

    private Map<Integer, Integer> loadAll(CacheSpec<Integer> spec, Collection<Integer> ids, SplittableRandom random)
            throws InterruptedException {
        Map<Integer, Integer> values = new HashMap<>(
                ids.stream().collect(Collectors.toMap(id -> id, id -> data(spec).get(id))));
        pauseOrFail(spec, random);
        return values;
    }

    private void pauseOrFail(CacheSpec<Integer> spec, SplittableRandom random) throws InterruptedException {
        if (random.nextInt(4) == 0) {
            pause(random.nextInt(10));
        }
        if (spec.equals(KEPT) && random.nextInt(3) == 0) {
            throw new DeadDatabase();
        }
    }
}
