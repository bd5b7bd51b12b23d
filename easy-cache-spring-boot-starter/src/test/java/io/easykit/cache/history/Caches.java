package io.easykit.cache.history;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** The caches of a run, with times short enough for the bounds to be passed many times. */
final class Caches {

    static final Duration LOCAL_TTL = Duration.ofSeconds(1);

    private static final int KEYS = 8;
    private static final Duration WINDOW = Duration.ofMillis(500);
    private static final Duration NEAR = Duration.ofMillis(300);

    /** Longer than any pause of a process, because a lease must outlive the commit. */
    private static final Duration LEASE = Duration.ofSeconds(8);

    /** Clocks and rounding. */
    private static final Duration SLACK = Duration.ofMillis(100);

    /** Until the outbox is delivered. */
    private static final Duration OUTBOX = Duration.ofMillis(2_500);

    private static final CacheOptions COMMON = CacheOptions.builder()
            .ttl(Duration.ofMinutes(30))
            .loadLease(Duration.ofSeconds(1))
            .loadWaitTimeout(Duration.ofSeconds(2))
            .updateLease(LEASE)
            .build();

    private static final CacheOptions AP =
            COMMON.toBuilder().staleWindow(WINDOW).build();

    private static final List<CacheSpec<Integer>> ALL = List.of(
            CacheSpec.of("cp", Integer.class)
                    .withOptions(COMMON.toBuilder().consistency(Consistency.CP).build()),
            CacheSpec.of("ap", Integer.class).withOptions(AP),
            CacheSpec.of("near", Integer.class)
                    .withOptions(AP.toBuilder().nearTtl(NEAR).build()));

    private static final Duration QUIET = WINDOW.plus(SLACK);

    static final Bounds BOUNDS =
            new Bounds(QUIET, QUIET.plus(NEAR).plus(LOCAL_TTL).plus(OUTBOX), LEASE);

    private Caches() {}

    static boolean isCp(String key) {
        return key.startsWith("cp");
    }

    static List<CacheKey<Integer>> keys() {
        return ALL.stream()
                .flatMap(spec -> IntStream.range(0, KEYS).mapToObj(spec::key))
                .toList();
    }

    /** Returns a key. Some are chosen more often than others. */
    static CacheKey<Integer> any(RandomGenerator random) {
        int number = Math.min(random.nextInt(KEYS), random.nextInt(KEYS));
        return ALL.get(random.nextInt(ALL.size())).key(number);
    }
}
