package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.FillTicket;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.ParameterizedTypeReference;

/** Each value is the number of milliseconds for which it is valid. The cache allows a minute. */
class ValueTtlTests {

    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final AtomicInteger loads = new AtomicInteger();
    private final CacheSpec<Integer> spec = spec(options().build());
    private final CacheKey<Integer> key = spec.key(1);

    private static CacheOptions.Builder options() {
        return CacheOptions.builder().ttl(LONGEST).ttlJitter(0);
    }

    private static CacheSpec<Integer> spec(CacheOptions options) {
        return CacheSpec.of("token", Integer.class).withOptions(options).withValueTtl(Duration::ofMillis);
    }

    private int load(int value) {
        loads.incrementAndGet();
        return value;
    }

    /** Whether readers get the value without a load. */
    private boolean isCached(EasyCacheEngine node, CacheKey<?> one) {
        bench.events.next();
        node.fetch(one, () -> null, any -> false);
        return !bench.events.next().contains("miss");
    }

    @Test
    void aValueLivesAsLongAsItSays() {
        assertThat(cache.fetch(key, () -> load(5_000))).isEqualTo(5_000);

        bench.clock.advance(Duration.ofMillis(4_400));
        assertThat(isCached(bench.node(), key)).isTrue();
        bench.clock.advance(Duration.ofMillis(599));
        assertThat(bench.store.parts(key)).containsExactly("value");
        bench.clock.advance(Duration.ofMillis(1));
        assertThat(bench.store.parts(key)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {60_000, 60_001, Integer.MAX_VALUE})
    void aLongerTtlIsCutToThatOfTheCache(int tooLong) {
        cache.fetch(key, () -> tooLong);

        assertThat(cache.peek(key).remaining()).isEqualTo(LONGEST);
        assertThat(bench.store.read(key, 0).value().ttl())
                .as("stored as any other")
                .isNull();
    }

    @Test
    void aValueThatDoesNotDecideHasTheTtlOfTheCache() {
        CacheKey<Integer> undecided = spec.withValueTtl(any -> null).key(1);
        cache.fetch(undecided, () -> 5_000);

        assertThat(cache.peek(undecided).remaining()).isEqualTo(LONGEST);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void aValueThatIsNotValidIsReturnedAndNotStored(int none) {
        assertThat(cache.fetch(key, () -> load(none))).isEqualTo(none);
        assertThat(cache.fetch(key, () -> load(none))).isEqualTo(none);

        assertThat(loads).hasValue(2);
        assertThat(bench.store.parts(key)).doesNotContain("value");
        assertThat(bench.events.next()).containsExactly("miss", "load NOT_STORED", "miss", "load NOT_STORED");
    }

    /** Redis counts in milliseconds, and a TTL of none would delete the entry that it was just stored in. */
    @Test
    void aValueThatIsValidForLessThanAMillisecondIsNotStored() {
        CacheKey<Integer> brief =
                spec.withValueTtl(any -> Duration.ofNanos(999_999)).key(1);
        cache.fetch(brief, () -> 1);

        assertThat(bench.store.count(Operation.STORE)).isZero();
    }

    @Test
    void aFunctionThatFailsKeepsTheValueFromBeingStoredAndIsLoggedOnce() {
        CacheSpec<Integer> failing = spec.withValueTtl(any -> {
            throw new IllegalStateException("no expiry");
        });
        try (LogCapture log = LogCapture.of(ValueTtls.class)) {
            for (int id = 0; id < 3; id++) {
                int value = id;
                assertThat(cache.fetch(failing.key(id), () -> value)).isEqualTo(id);
                assertThat(bench.store.parts(failing.key(id))).doesNotContain("value");
            }
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("token::0", "IllegalStateException: no expiry", "not cached", "ttl");
        }
    }

    @Test
    void nothingHasItsNullTtlAndIsNotAsked() {
        CacheOptions options = options().nullTtl(Duration.ofSeconds(2)).build();
        CacheSpec<Optional<Integer>> optionals = CacheSpec.<Optional<Integer>>of(
                        "optional", new ParameterizedTypeReference<Optional<Integer>>() {}.getType())
                .withOptions(options)
                .withValueTtl(some -> Duration.ofMillis(some.orElseThrow()));
        cache.fetch(spec(options).key(2), () -> null);
        cache.fetch(optionals.key(1), Optional::empty);
        cache.fetch(optionals.key(2), () -> Optional.of(7_000));

        assertThat(cache.peek(spec(options).key(2)).remaining()).isEqualTo(Duration.ofSeconds(2));
        assertThat(cache.peek(optionals.key(1)).remaining()).isEqualTo(Duration.ofSeconds(2));
        assertThat(cache.peek(optionals.key(2)).remaining()).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void jitterShortensItAsAnyTtl() {
        CacheSpec<Integer> jittered = spec(options().ttlJitter(0.5).build());
        for (int id = 0; id < 200; id++) {
            cache.fetch(jittered.key(id), () -> 10_000);
            assertThat(cache.peek(jittered.key(id)).remaining())
                    .isBetween(Duration.ofSeconds(5), Duration.ofSeconds(10));
        }
        assertThat(cache.peek(jittered.key(1))).isNotEqualTo(cache.peek(jittered.key(2)));
    }

    /** The cache refreshes two seconds ahead, which is a fifth of this life. */
    @Test
    void aValueIsRefreshedInTheLastTenthOfItsOwnLife() {
        cache.fetch(key, () -> 10_000);
        EasyCacheEngine other = bench.node();

        bench.clock.advance(Duration.ofMillis(8_999));
        other.fetch(key, () -> load(10_000));
        assertThat(bench.background.size()).isZero();

        bench.clock.advance(Duration.ofMillis(1));
        other.fetch(key, () -> load(4_000));
        bench.background.runAll();
        assertThat(loads).hasValue(1);
        assertThat(cache.peek(key).remaining()).as("the new value has its own").isEqualTo(Duration.ofSeconds(4));
    }

    /** The plain read cannot decide, so each reader runs the script. */
    @Test
    void theStoreRefreshesItInTheSameTenth() {
        CacheKey<Integer> kept = spec(options()
                        .staleOnError(StaleOnErrorOptions.keptFor(LONGEST))
                        .build())
                .key(1);
        cache.fetch(kept, () -> 10_000);
        bench.store.hideClock();

        bench.clock.advance(Duration.ofMillis(8_999));
        cache.fetch(kept, () -> load(10_000));
        bench.background.runAll();
        assertThat(loads).hasValue(0);

        bench.clock.advance(Duration.ofMillis(1));
        cache.fetch(kept, () -> load(10_000));
        bench.background.runAll();
        assertThat(loads).hasValue(1);
    }

    @Test
    void aRefreshWhoseValueIsNotValidLeavesTheOlderOne() {
        cache.fetch(key, () -> 10_000);
        bench.clock.advance(Duration.ofMillis(9_500));
        cache.fetch(key, () -> load(0));
        bench.background.runAll();

        assertThat(loads).hasValue(1);
        assertThat(cache.fetch(key, () -> load(1))).isEqualTo(10_000);
        bench.background.runAll();
        bench.clock.advance(Duration.ofMillis(500));
        assertThat(isCached(cache, key)).isFalse();
    }

    @Test
    void theNearLevelKeepsItUntilItsLastTenth() {
        EasyCacheEngine node = bench.builder(new JacksonValueCodec())
                .nearLevels(() -> new CaffeineLocalLevel(100))
                .buildStopped();
        CacheKey<Integer> near =
                spec(options().nearTtl(Duration.ofSeconds(30)).build()).key(1);
        node.fetch(near, () -> 10_000);
        bench.clock.advance(Duration.ofMillis(8_999));
        node.fetch(near, () -> load(1));
        assertThat(bench.events.next()).last().isEqualTo("hit NEAR");

        bench.clock.advance(Duration.ofMillis(1));
        node.fetch(near, () -> load(1));
        assertThat(bench.events.next()).containsExactly("hit FRESH");
        assertThat(bench.background.size()).as("refreshes").isOne();
    }

    @Test
    void anExpiredValueIsReturnedFromTheEndOfItsOwnLifeOn() {
        CacheKey<Integer> kept = spec(options()
                        .staleOnError(StaleOnErrorOptions.keptFor(Duration.ofSeconds(20)))
                        .build())
                .key(1);
        cache.fetch(kept, () -> 5_000);
        bench.clock.advance(Duration.ofSeconds(5));

        assertThat(cache.fetch(kept, this::fail)).isEqualTo(5_000);
        assertThat(bench.events.next()).contains("hit EXPIRED");
        bench.clock.advance(Duration.ofSeconds(19));
        assertThat(cache.fetch(kept, this::fail)).isEqualTo(5_000);
        bench.clock.advance(SECOND);
        assertThatThrownBy(() -> cache.fetch(kept, this::fail)).hasMessage("no database");
    }

    private int fail() {
        throw new IllegalStateException("no database");
    }

    @Test
    void theLocalLevelKeepsItNoLongerWhileRedisIsAway() {
        bench.cutOff(cache);
        cache.fetch(key, () -> load(5_000));
        cache.fetch(spec.key(2), () -> load(0));
        cache.fetch(key, () -> load(5_000));
        assertThat(loads).as("one is kept").hasValue(2);
        cache.fetch(spec.key(2), () -> load(0));
        assertThat(loads).as("one is not valid").hasValue(3);
    }

    @Test
    void eachElementOfABatchHasItsOwn() {
        Map<Integer, Integer> found = cache.fetchAll(spec, List.of(3_000, 0, 90_000, 4_000), ids -> {
            Map<Integer, Integer> values = new HashMap<>();
            ids.stream().filter(id -> id != 4_000).forEach(id -> values.put(id, id));
            return values;
        });

        assertThat(found).containsOnlyKeys(3_000, 0, 90_000);
        assertThat(cache.peek(spec.key(3_000)).remaining()).isEqualTo(Duration.ofSeconds(3));
        assertThat(cache.peek(spec.key(0))).isNull();
        assertThat(cache.peek(spec.key(90_000)).remaining()).isEqualTo(LONGEST);
        assertThat(cache.peek(spec.key(4_000)).value()).as("nothing").isNull();
        assertThat(cache.peek(spec.key(4_000)).remaining()).isEqualTo(LONGEST);
    }

    @Test
    void aFillHasItsOwn() {
        try (FillTicket<Integer> ticket = cache.startFill(key)) {
            assertThat(ticket.tryFill(5_000)).isTrue();
        }
        assertThat(cache.peek(key).remaining()).isEqualTo(Duration.ofSeconds(5));

        CacheKey<Integer> other = spec.key(2);
        try (FillTicket<Integer> ticket = cache.startFill(other)) {
            assertThat(ticket.tryFill(0)).isFalse();
        }
        try (FillTicket<Integer> next = cache.startFill(other)) {
            assertThat(next).as("the lease was released").isNotNull();
        }
    }

    @Test
    void asynchronousAndSerialLoadsHaveTheirOwn() throws Exception {
        CacheKey<Integer> later = spec.key(2);
        CompletableFuture<Integer> value = cache.async().fetch(later, () -> CompletableFuture.completedFuture(5_000));
        assertThat(value.get()).isEqualTo(5_000);
        CacheKey<Integer> ordered =
                spec(options().serial(SerialOptions.defaults()).build()).key(3);
        cache.fetch(ordered, () -> 6_000);

        assertThat(cache.peek(later).remaining()).isEqualTo(Duration.ofSeconds(5));
        assertThat(cache.peek(ordered).remaining()).isEqualTo(Duration.ofSeconds(6));
    }

    @Test
    void readersThatWaitForAnInvalidValueGetIt() throws Exception {
        Workbench.GatedLoader<Integer> loader = new Workbench.GatedLoader<>(() -> load(0));
        Workbench.Caller<Integer> owner = Workbench.call(() -> cache.fetch(key, loader));
        loader.awaitEntered();
        Workbench.Caller<Integer> reader = Workbench.call(() -> cache.fetch(key, () -> load(1)));
        reader.awaitWaiting();
        loader.letGo();

        assertThat(owner.result()).isZero();
        assertThat(reader.result()).isZero();
        assertThat(loads).hasValue(1);
    }

    @Test
    void anExplanationKnowsItsAge() {
        cache.fetch(key, () -> 20_000);
        bench.clock.advance(Duration.ofSeconds(15));

        EntryExplanation told = cache.admin().explain(key);

        assertThat(told.sentences()).first().asString().contains("stored 15 s ago", "valid for 5000 ms more");
        assertThat(told.fields()).extracting(EntryExplanation.Field::meaning).anySatisfy(meaning -> assertThat(meaning)
                .contains("TTL of its own 20 s"));
    }
}
