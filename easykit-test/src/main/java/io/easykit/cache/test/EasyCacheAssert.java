package io.easykit.cache.test;

import io.easykit.cache.CacheKey;
import io.easykit.cache.admin.CacheNumbers;
import org.assertj.core.api.AbstractAssert;

/**
 * Assertions about stored entries, and about the reads and loads of the present test method. Failures show the entry.
 *
 * <pre>{@code
 * assertThat(cache).hasEntry("user", 42).withValue(new User("Ann")).expiresIn(Duration.ofMinutes(10));
 * }</pre>
 */
public final class EasyCacheAssert extends AbstractAssert<EasyCacheAssert, EasyCacheTester> {

    EasyCacheAssert(EasyCacheTester cache) {
        super(cache, EasyCacheAssert.class);
    }

    /**
     * A value is stored that a reader may get: a fresh one, a stale one inside its window, or an expired one that is kept for
     * failing loads.
     *
     * @param parts of the key, as in {@code CacheSpec.key}
     */
    public EntryAssert hasEntry(String prefix, Object... parts) {
        return hasEntry(EasyCacheTester.key(prefix, parts));
    }

    /** The same for a key, such as one of another Redis cluster. */
    public EntryAssert hasEntry(CacheKey<?> key) {
        FoundEntry found = actual.found(key);
        return new EntryAssert(this, found, "an entry " + key.name(), found.values());
    }

    /** No value is stored that a reader may get. */
    public EasyCacheAssert hasNoEntry(String prefix, Object... parts) {
        return hasNoEntry(EasyCacheTester.key(prefix, parts));
    }

    /** The same for a key, such as one of another Redis cluster. */
    public EasyCacheAssert hasNoEntry(CacheKey<?> key) {
        FoundEntry found = actual.found(key);
        if (!found.values().isEmpty()) {
            throw unlike(found, "Expected no entry " + key.name());
        }
        return this;
    }

    /** An update of the entry is prepared and has not ended: nothing is stored until then, or until its lease ends. */
    public EasyCacheAssert isBeingUpdated(String prefix, Object... parts) {
        FoundEntry found = actual.found(EasyCacheTester.key(prefix, parts));
        if (!found.isBeingUpdated()) {
            throw unlike(found, "Expected a prepared update of " + found.key().name());
        }
        return this;
    }

    /** Reads of the prefix on this node have got a cached value exactly so many times, stale and near ones included. */
    public EasyCacheAssert hasHits(String prefix, int count) {
        CacheNumbers numbers = actual.numbers(prefix);
        return has(prefix, "hits", count, hits(numbers));
    }

    /** Reads of the prefix on this node have loaded, or waited for a load, exactly so many times. */
    public EasyCacheAssert hasMisses(String prefix, int count) {
        return has(prefix, "misses", count, actual.numbers(prefix).misses());
    }

    /** Loaders of the prefix have run exactly so many times on this node, refreshes and failed ones included. */
    public EasyCacheAssert hasLoads(String prefix, int count) {
        return has(prefix, "loads", count, loads(actual.numbers(prefix)));
    }

    private static long hits(CacheNumbers numbers) {
        return numbers.hits() + numbers.near() + numbers.stale() + numbers.local() + numbers.expired();
    }

    private static long loads(CacheNumbers numbers) {
        return numbers.loads().values().stream().mapToLong(count -> count).sum();
    }

    private EasyCacheAssert has(String prefix, String what, long expected, long counted) {
        if (expected != counted) {
            throw failure("Expected %d %s of '%s'\nbut %s", expected, what, prefix, shown(prefix));
        }
        return this;
    }

    private String shown(String prefix) {
        CacheNumbers numbers = actual.numbers(prefix);
        return "its reads had " + hits(numbers) + " hits (" + numbers.near() + " near, " + numbers.stale() + " stale, "
                + numbers.local() + " local, " + numbers.expired() + " expired), " + numbers.misses() + " misses and "
                + loads(numbers) + " loads " + numbers.loads();
    }

    /** An assertion error that shows the entry. */
    AssertionError unlike(FoundEntry found, String expectation) {
        // Begins with the description of as(…).
        return failure(
                "%s\nbut %s\nand %s",
                expectation, found, shown(found.key().spec().prefix()));
    }
}
