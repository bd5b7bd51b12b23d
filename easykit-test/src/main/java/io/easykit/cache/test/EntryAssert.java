package io.easykit.cache.test;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.test.FoundEntry.FoundValue;
import io.easykit.cache.test.FoundEntry.State;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Assertions about one entry. Each one selects values, as two versions of a type have one each, and fails if none is left. */
public final class EntryAssert {

    private final EasyCacheAssert cache;
    private final FoundEntry found;
    private final String expected;
    private final List<FoundValue> left;

    EntryAssert(EasyCacheAssert cache, FoundEntry found, String expected, List<FoundValue> left) {
        this.cache = cache;
        this.found = found;
        this.expected = expected;
        this.left = left;
        if (left.isEmpty()) {
            throw cache.unlike(found, "Expected " + expected);
        }
    }

    private EntryAssert select(String condition, Predicate<FoundValue> holds) {
        return new EntryAssert(
                cache, found, expected + condition, left.stream().filter(holds).toList());
    }

    /**
     * The value, decoded as the class of this one, equals it, or is written as this one is.
     *
     * @param value null for an entry that holds null
     */
    public EntryAssert withValue(@Nullable Object value) {
        return select(" with value " + FoundEntry.cut(String.valueOf(value)), stored -> stored.is(value));
    }

    /**
     * Readers may get it for exactly so long: until the end of its TTL or, if it is stale, of its stale window or, if it has
     * expired, of the time for which it is kept.
     */
    public EntryAssert expiresIn(Duration time) {
        return select(", expires in " + CacheOptions.text(time), stored -> stored.left()
                .equals(time));
    }

    /** It was neither invalidated, nor has it expired. */
    public EntryAssert isFresh() {
        return is(State.FRESH);
    }

    /** It was invalidated, and readers of an AP cache get it until the end of the stale window. */
    public EntryAssert isStale() {
        return is(State.STALE);
    }

    /** Its TTL is over, and readers whose loads fail get it. */
    public EntryAssert isExpired() {
        return is(State.EXPIRED);
    }

    private EntryAssert is(State state) {
        return select(", " + state.name().toLowerCase(Locale.ROOT), stored -> stored.state() == state);
    }

    /** Continues with the cache. */
    public EasyCacheAssert and() {
        return cache;
    }
}
