package io.easykit.cache.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.Outcome;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope.Kind;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every store of entries promises. */
public abstract class EntryStoreContract {

    private static final Duration SHORT = Duration.ofMillis(60);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final CacheOptions ap = CacheOptions.builder()
            .loadLease(LONG)
            .staleWindow(LONG)
            .updateLease(LONG)
            .ttlJitter(0)
            .build();
    private final CacheOptions cp = ap.toBuilder().consistency(Consistency.CP).build();

    /** One prefix a test. */
    private final String prefix = "contract:" + UUID.randomUUID();

    protected abstract EntryStore store();

    /** Returns when the store's clock has moved so far. */
    protected abstract void pass(Duration time);

    /** Whether the store holds anything under the key. */
    protected abstract boolean holds(CacheKey<?> key);

    @Test
    void givesALeaseToOneOwnerUntilItExpires() {
        assertThat(store().takeWorkLease(prefix, "a", SHORT, false)).isZero();
        assertThat(store().takeWorkLease(prefix + "2", "b", LONG, false)).isZero();
        pass(SHORT);
        assertThat(store().takeWorkLease(prefix, "b", LONG, false)).isZero();
        assertThat(store().takeWorkLease(prefix, "a", LONG, false)).isPositive().isLessThanOrEqualTo(LONG);
        assertThat(store().takeWorkLease(prefix, "b", LONG, false)).isZero();
    }

    @Test
    void givesALeaseOfAnOwnerThatDoesAPartToOneThatDoesAll() {
        assertThat(store().takeWorkLease(prefix, "a", LONG, true)).isZero();
        assertThat(store().takeWorkLease(prefix, "b", LONG, true)).isPositive();
        assertThat(store().takeWorkLease(prefix, "b", LONG, false)).isZero();
        assertThat(store().takeWorkLease(prefix, "a", LONG, false)).isPositive();
        assertThat(store().takeWorkLease(prefix, "b", LONG, true)).isZero();
        assertThat(store().takeWorkLease(prefix, "b", LONG, false)).isZero();
        assertThat(store().takeWorkLease(prefix, "a", LONG, false)).isPositive();
    }

    @Test
    void grantsTheLoadLeaseToTheFirstReaderOfAnUnknownKey() {
        CacheKey<String> key = key(cp);
        assertThat(store().read(key, 0)).isEqualTo(Snapshot.NOTHING);
        Fetched fetched = store().fetch(key, 0);
        assertThat(fetched).isInstanceOf(Fetched.NeedQuery.class);
        assertThat(fetched.outcome()).isEqualTo(Outcome.NEED_QUERY);
        assertThat(store().read(key, 0).loading()).isTrue();
    }

    @Test
    void letsTheSecondReaderWaitForAsLongAsTheLoadLeaseLasts() {
        CacheKey<String> key = key(cp);
        store().fetch(key, 0);
        Fetched second = store().fetch(key, 0);
        assertThat(second.outcome()).isEqualTo(Outcome.NEED_WAIT);
        assertThat(((Fetched.NeedWait) second).leaseLeft()).isPositive().isLessThanOrEqualTo(LONG);
    }

    @Test
    void servesWhatWasStored() {
        CacheKey<String> key = key(cp);
        assertThat(store().store(key, lease(key), value("a"), LONG)).isTrue();
        Snapshot seen = store().read(key, 0);
        assertThat(seen.fresh()).isTrue();
        assertThat(seen.invalidated() || seen.loading() || seen.updating()).isFalse();
        assertThat(text(seen.value())).isEqualTo("a");
        Fetched fetched = store().fetch(key, 0);
        assertThat(fetched.outcome()).isEqualTo(Outcome.SUCCESS);
        assertThat(stale(fetched)).isFalse();
        assertThat(text(served(fetched).value())).isEqualTo("a");
    }

    @Test
    void forgetsAValueAtTheEndOfItsLife() {
        CacheKey<String> key = key(cp);
        store().store(key, lease(key), value("a"), SHORT);
        pass(SHORT);
        assertThat(holds(key)).isFalse();
        assertThat(store().read(key, 0)).isEqualTo(Snapshot.NOTHING);
    }

    @Test
    void rejectsAStoreThatAnInvalidationOvertook() {
        CacheKey<String> key = key(ap);
        LoadLease lease = lease(key);
        store().invalidate(List.of(key), "");
        assertThat(store().store(key, lease, value("old"), LONG)).isFalse();
        assertThat(holds(key)).isFalse();
    }

    @Test
    void rejectsAStoreOfABygoneRightBesideANewOne() {
        CacheKey<String> key = key(cp);
        LoadLease bygone = lease(key);
        store().invalidate(List.of(key), "");
        LoadLease present = lease(key);
        assertThat(store().store(key, bygone, value("old"), LONG)).isFalse();
        assertThat(store().store(key, present, value("new"), LONG)).isTrue();
        assertThat(text(store().read(key, 0).value())).isEqualTo("new");
    }

    @Test
    void letsALoaderStoreThatIsSlowerThanItsLoadLease() {
        CacheKey<String> key = key(cp.toBuilder().loadLease(SHORT).build());
        LoadLease slow = lease(key);
        pass(SHORT);
        LoadLease successor = lease(key);
        assertThat(store().store(key, slow, value("a"), LONG)).isTrue();
        assertThat(store().store(key, successor, value("b"), LONG)).isFalse();
    }

    @Test
    void grantsTheLoadLeaseToTheNextReaderAtOnceAfterARelease() {
        CacheKey<String> key = key(cp);
        LoadLease failed = lease(key);
        store().releaseLoad(key, failed);
        assertThat(store().read(key, 0).loading()).isFalse();
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @Test
    void releasesNoLoadLeaseOfAnotherReader() {
        CacheKey<String> key = key(cp.toBuilder().loadLease(SHORT).build());
        LoadLease slow = lease(key);
        pass(SHORT);
        CacheKey<String> patient = sibling(key, cp);
        lease(patient);
        store().releaseLoad(key, slow);
        assertThat(store().fetch(patient, 0).outcome()).isEqualTo(Outcome.NEED_WAIT);
    }

    @Test
    void servesAnInvalidatedValueInsideTheWindowAndGrantsOneLoadLease() {
        CacheKey<String> key = stored(key(ap), "old");
        store().invalidate(List.of(key), "");
        Snapshot seen = store().read(key, 0);
        assertThat(seen.fresh()).isFalse();
        assertThat(seen.invalidated()).isTrue();
        assertThat(text(seen.value())).isEqualTo("old");
        Fetched first = store().fetch(key, 0);
        assertThat(first.outcome()).isEqualTo(Outcome.SUCCESS_NEED_QUERY);
        assertThat(stale(first)).isTrue();
        assertThat(text(served(first).value())).isEqualTo("old");
        Fetched second = store().fetch(key, 0);
        assertThat(second.outcome()).isEqualTo(Outcome.SUCCESS);
        assertThat(stale(second)).isTrue();
        assertThat(store().store(key, leaseOf(first), value("new"), LONG)).isTrue();
        assertThat(store().read(key, 0).fresh()).isTrue();
    }

    @Test
    void refusesAnInvalidatedValueAfterTheWindow() {
        CacheKey<String> key = stored(key(ap.toBuilder().staleWindow(SHORT).build()), "old");
        store().invalidate(List.of(key), "");
        pass(SHORT);
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @Test
    void neverProlongsTheWindow() {
        CacheKey<String> key = stored(key(ap.toBuilder().staleWindow(SHORT).build()), "old");
        store().invalidate(List.of(key), "");
        store().prepare(List.of(key), "u", SHORT);
        pass(SHORT);
        store().invalidate(List.of(key), "u");
        assertThat(store().fetch(key, 0)).isNotInstanceOf(Fetched.Served.class);
    }

    @Test
    void dropsAStrongValueWithItsInvalidation() {
        CacheKey<String> key = stored(key(cp), "old");
        store().invalidate(List.of(key), "");
        assertThat(holds(key)).isFalse();
    }

    @Test
    void givesAStrongReaderNothingThatAWeakerUpdateMarked() {
        CacheKey<String> weak = stored(key(ap), "old");
        store().invalidate(List.of(weak), "");
        CacheKey<String> strong = sibling(weak, cp);
        assertThat(store().fetch(strong, 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @Test
    void letsNobodyStoreWhileAnUpdateCommits() {
        CacheKey<String> key = key(cp);
        LoadLease before = lease(key);
        store().prepare(List.of(key), "u", LONG);
        assertThat(store().store(key, before, value("old"), LONG)).isFalse();
        assertThat(store().read(key, 0).updating()).isTrue();
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.NEED_QUERY_NO_STORE);
        store().invalidate(List.of(key), "u");
        assertThat(holds(key)).isFalse();
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @Test
    void dropsAStrongValueBeforeTheCommitAndKeepsAWeakOneForAWhile() {
        CacheKey<String> strong = stored(key(cp), "old");
        store().prepare(List.of(strong), "u", LONG);
        assertThat(store().read(strong, 0).value()).isNull();
        CacheKey<String> weak = stored(sibling(strong, "other", ap), "old");
        store().prepare(List.of(weak), "u", LONG);
        Fetched fetched = store().fetch(weak, 0);
        assertThat(fetched.outcome()).isEqualTo(Outcome.SUCCESS);
        assertThat(stale(fetched)).isTrue();
    }

    @Test
    void waitsForTheLastOfSeveralUpdates() {
        CacheKey<String> key = key(cp);
        store().prepare(List.of(key), "a", LONG);
        store().prepare(List.of(key), "b", LONG);
        store().invalidate(List.of(key), "a");
        store().invalidate(List.of(key), "a");
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.NEED_QUERY_NO_STORE);
        store().invalidate(List.of(key), "b");
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @Test
    void endsACrashedUpdateWithItsLease() {
        CacheKey<String> key = stored(key(ap), "old");
        store().prepare(List.of(key), "crashed", SHORT);
        pass(SHORT);
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @Test
    void letsOneReaderRefreshNearTheEndOfALife() {
        CacheKey<String> key = key(cp.toBuilder().ttl(LONG).refreshAhead(LONG).build());
        Duration ahead = key.spec().options().effectiveRefreshAhead();
        store().store(key, lease(key), value("a"), ahead);
        Fetched first = store().fetch(key, 0);
        assertThat(first.outcome()).isEqualTo(Outcome.SUCCESS_NEED_QUERY);
        assertThat(stale(first)).isFalse();
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.SUCCESS);
        assertThat(store().read(key, 0).loading()).isTrue();
    }

    @Test
    void letsOneReaderRefreshInTheLastTenthOfATtlThatTheValueDecided() {
        CacheKey<String> key = key(cp.toBuilder().refreshAhead(LONG).build());
        assertThat(key.spec().options().effectiveRefreshAhead()).isEqualTo(LONG);
        Envelope own = value("a").withTtl(LONG);
        store().store(key, lease(key), own, LONG);
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.SUCCESS);
        Snapshot seen = store().read(key, 0);
        assertThat(seen.value().ttl()).isEqualTo(LONG);
        assertThat(text(seen.value())).isEqualTo("a");
        assertThat(store().inspect(key).values()).singleElement().satisfies(value -> assertThat(value.ttl())
                .isEqualTo(LONG));

        CacheKey<String> late = sibling(key, "late", key.spec().options());
        store().store(late, lease(late), own, LONG.dividedBy(11));
        assertThat(store().fetch(late, 0).outcome()).isEqualTo(Outcome.SUCCESS_NEED_QUERY);
    }

    @ParameterizedTest
    @EnumSource(names = {"NULL", "EMPTY_OPTIONAL"})
    void letsOneReaderRefreshNullNearTheEndOfItsShorterLife(Kind kind) {
        Duration ttl = LONG.multipliedBy(10);
        CacheKey<String> key =
                key(cp.toBuilder().ttl(ttl).nullTtl(LONG).refreshAhead(LONG).build());
        assertThat(key.spec().options().effectiveRefreshAhead()).isEqualTo(LONG);
        Envelope nothing = Envelope.of(kind, new byte[0]);
        store().store(key, lease(key), nothing, LONG);
        assertThat(store().fetch(key, 0).outcome()).isEqualTo(Outcome.SUCCESS);

        CacheKey<String> late = sibling(key, "late", key.spec().options());
        store().store(late, lease(late), nothing, LONG.dividedBy(11));
        assertThat(store().fetch(late, 0).outcome()).isEqualTo(Outcome.SUCCESS_NEED_QUERY);
    }

    @Test
    void tellsHowLongAValueIsStillValid() {
        CacheKey<String> key = stored(key(cp), "a");
        assertThat(store().read(key, 0).remaining()).isPositive().isLessThanOrEqualTo(LONG);
    }

    @Test
    void keepsNothingOfAKeyThatWasNeverCached() {
        CacheKey<String> key = key(ap);
        store().invalidate(List.of(key), "");
        store().invalidate(List.of(key), "token");
        assertThat(holds(key)).isFalse();
    }

    @Test
    void preparesAndInvalidatesSeveralKeysAtOnce() {
        CacheKey<String> one = stored(key(cp), "1");
        CacheKey<String> two = stored(sibling(one, "two", cp), "2");
        store().prepare(List.of(one, two), "u", LONG);
        assertThat(store().read(one, 0).updating() && store().read(two, 0).updating())
                .isTrue();
        store().invalidate(List.of(one, two), "u");
        assertThat(holds(one) || holds(two)).isFalse();
    }

    @Test
    void discardsAValueThatNobodyCanRead() {
        CacheKey<String> key = stored(key(ap), "odd");
        store().removeUnreadable(key, store().read(key, 0).value());
        assertThat(holds(key)).isFalse();
    }

    @Test
    void discardsNothingButTheValueThatWasSeen() {
        CacheKey<String> key = stored(key(ap), "good");
        store().removeUnreadable(key, value("odd"));
        assertThat(text(store().read(key, 0).value())).isEqualTo("good");
        CacheKey<String> loading = sibling(key, "loading", cp);
        LoadLease lease = lease(loading);
        store().removeUnreadable(loading, value("odd"));
        assertThat(store().store(loading, lease, value("good"), LONG)).isTrue();
    }

    @Test
    void takesAValueOfAnOlderEpochForNone() {
        CacheKey<String> key = stored(key(ap), "old");
        assertThat(store().read(key, 1).value()).isNull();
        assertThat(store().read(key, 1).fresh()).isFalse();
        Fetched fetched = store().fetch(key, 1);
        assertThat(fetched.outcome()).isEqualTo(Outcome.NEED_QUERY);
        assertThat(store().store(key, leaseOf(fetched), value("new"), LONG)).isTrue();
        assertThat(text(store().read(key, 1).value())).isEqualTo("new");
    }

    @Test
    void showsWhatAReaderMayHaveAndGivesNoLease() {
        CacheKey<String> key = key(ap);
        assertThat(store().peek(key, 0, true)).isNull();
        assertThat(holds(key)).isFalse();
        stored(key, "old");

        Peeked fresh = store().peek(key, 0, false);
        assertThat(text(fresh.value())).isEqualTo("old");
        assertThat(fresh.stale()).isFalse();
        assertThat(fresh.remaining()).isPositive().isLessThanOrEqualTo(LONG);
        assertThat(store().peek(key, 1, true)).as("of an older epoch").isNull();
        assertThat(store().peek(sibling(key, cp), 0, true)).isNotNull();

        store().invalidate(List.of(key), "");
        Peeked stale = store().peek(key, 0, true);
        assertThat(text(stale.value())).isEqualTo("old");
        assertThat(stale.stale()).isTrue();
        assertThat(stale.remaining()).isPositive().isLessThanOrEqualTo(LONG);
        assertThat(store().peek(key, 0, false)).isNull();
        assertThat(store().read(key, 0).loading()).isFalse();
    }

    @Test
    void showsNothingAfterTheStaleWindow() {
        CacheKey<String> key = stored(key(ap.toBuilder().staleWindow(SHORT).build()), "old");
        store().invalidate(List.of(key), "");
        pass(SHORT);
        assertThat(store().peek(key, 0, true)).isNull();
    }

    @Test
    void keepsAnExpiredValueForReadersWithAFailedLoad() {
        CacheKey<String> key = expired(kept(LONG));
        CacheKey<Integer> ofAnotherVersion =
                CacheSpec.of(prefix, Integer.class).withOptions(kept(LONG)).key("expired");

        Snapshot seen = store().read(key, 0);
        assertThat(seen.fresh()).isFalse();
        assertThat(seen.invalidated() || seen.loading() || seen.updating()).isFalse();
        assertThat(store().peek(key, 0, true)).as("without a failure").isNull();
        assertThat(store().peekExpired(sibling(key, "expired", ap), 0))
                .as("without the setting")
                .isNull();
        assertThat(store().peekExpired(key, 1)).as("of an older epoch").isNull();
        assertThat(store().peekExpired(ofAnotherVersion, 0))
                .as("of another version")
                .isNull();
        Peeked found = store().peekExpired(key, 0);
        assertThat(text(found.value())).isEqualTo("old");
        assertThat(found.expired()).isTrue();
        assertThat(found.stale()).isFalse();
        assertThat(found.remaining()).isPositive().isLessThanOrEqualTo(LONG);
        assertThat(store().inspect(key).keptUntil())
                .isAfter(store().inspect(key).now());

        Fetched fetched = store().fetch(key, 0);
        assertThat(fetched.outcome()).isEqualTo(Outcome.NEED_QUERY);
        assertThat(store().peekExpired(key, 0)).as("while one loads").isNotNull();
        store().releaseLoad(key, leaseOf(fetched));
        assertThat(store().read(key, 0).fresh()).isFalse();
        assertThat(store().peekExpired(key, 0)).as("after a failure").isNotNull();

        assertThat(store().store(key, lease(key), value("new"), LONG)).isTrue();
        assertThat(text(store().peekExpired(key, 0).value())).isEqualTo("new");
        assertThat(store().peekExpired(key, 0).expired()).isFalse();
    }

    /** As during a rolling change of the setting: each node has its own. */
    @Test
    void takesAKeptValueForValidUntilItsEndWhateverTheReadersOwnSettingIs() {
        CacheKey<String> key = key(kept(LONG));
        store().store(key, lease(key), value("old"), LONG);
        CacheKey<String> other = sibling(key, ap);
        // A plain read accepts such a value only if the server's clock is known; the reply of a fetch contains it.
        assertThat(text(served(store().fetch(other, 0)).value())).isEqualTo("old");
        assertThat(store().read(other, 0).fresh()).isTrue();
        assertThat(store().read(key, 0).remaining()).isPositive().isLessThanOrEqualTo(LONG);

        CacheKey<String> over = expired(kept(LONG));
        assertThat(store().read(sibling(over, "expired", ap), 0).fresh()).isFalse();
        assertThat(store().fetch(sibling(over, "expired", cp), 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @Test
    void forgetsAnExpiredValueAfterTheTimeForWhichItIsKept() {
        CacheKey<String> key = expired(kept(SHORT));
        pass(SHORT);
        assertThat(holds(key)).isFalse();
        assertThat(store().peekExpired(key, 0)).isNull();
    }

    @Test
    void dropsSeveralValuesAndEndsTheUpdateOfEach() {
        CacheKey<String> one =
                stored(CacheSpec.of(prefix, String.class).withOptions(ap).key("one"), "old");
        CacheKey<String> other =
                stored(CacheSpec.of(prefix, String.class).withOptions(ap).key("other"), "old");
        store().prepare(List.of(one), "first", LONG);
        store().prepare(List.of(other), "second", LONG);
        assertThat(store().invalidateNow(Map.of(one, "first", other, "another")))
                .isEmpty();
        assertThat(holds(one)).isFalse();
        assertThat(store().read(other, 0).value()).isNull();
        assertThat(store().read(other, 0).updating()).isTrue();
        store().invalidateNow(Map.of(other, "second"));
        assertThat(store().read(other, 0).updating()).isFalse();
    }

    @Test
    void keepsNoExpiredValueThatWasInvalidated() {
        CacheKey<String> invalidated = expired(kept(LONG));
        store().invalidate(List.of(invalidated), "");
        assertThat(store().peekExpired(invalidated, 0)).isNull();

        CacheKey<String> dropped = expired(kept(LONG));
        store().invalidateNow(List.of(dropped), "");
        assertThat(holds(dropped)).isFalse();

        CacheKey<String> updated = expired(kept(LONG));
        store().prepare(List.of(updated), "u", SHORT);
        assertThat(store().peekExpired(updated, 0))
                .as("while an update commits")
                .isNull();
        pass(SHORT);
        assertThat(store().peekExpired(updated, 0)).as("of a crashed update").isNull();
        assertThat(store().fetch(updated, 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
        assertThat(store().peekExpired(updated, 0)).isNull();
    }

    @Test
    void givesNoInvalidatedValueToReadersWithAFailedLoad() {
        CacheKey<String> key = stored(key(kept(LONG)), "old");
        store().invalidate(List.of(key), "");
        assertThat(store().peek(key, 0, true)).isNotNull();
        assertThat(store().peekExpired(key, 0)).isNull();
        store().removeUnreadable(key, value("old"));
        assertThat(holds(key)).isFalse();
    }

    private CacheOptions kept(Duration time) {
        return ap.toBuilder().staleOnError(StaleOnErrorOptions.keptFor(time)).build();
    }

    private CacheKey<String> expired(CacheOptions options) {
        CacheKey<String> key =
                CacheSpec.of(prefix, String.class).withOptions(options).key("expired");
        store().invalidateNow(List.of(key), "");
        assertThat(store().store(key, lease(key), value("old"), SHORT)).isTrue();
        pass(SHORT);
        return key;
    }

    @Test
    void endsAClearingWithItsEpoch() {
        store().prepareClear(0, List.of("ended"), "token", Duration.ofMinutes(1));
        assertThat(store().epochs(0).clearing()).contains("ended");
        assertThat(store().endExpiredClears(0, Map.of("ended", 0L))).isFalse();
        assertThat(store().epochs(0).clearing()).contains("ended");

        long epoch = store().raiseEpochs(0, Map.of("ended", 0L), "token").getOrDefault("ended", 0L);

        assertThat(store().epochs(0).clearing()).doesNotContain("ended");
        assertThat(store().epochs(0).raised()).containsEntry("ended", epoch);
    }

    @Test
    void endsAClearingThatItsNodeDoesNotEnd() {
        Duration lease = Duration.ofMillis(20);
        store().prepareClear(0, List.of("left", "behind"), "token", lease);
        pass(lease);

        store().endExpiredClears(0, Map.of("left", 0L, "behind", 0L));

        assertThat(store().epochs(0).clearing()).doesNotContain("left", "behind");
        assertThat(store().epochs(0).raised()).containsKeys("left", "behind");
    }

    @Test
    void keepsTheValuesOfTwoVersionsSideBySide() {
        CacheKey<String> one = key(cp);
        CacheKey<Integer> two = ofAnotherVersion(cp);
        store().store(one, lease(one), value("a"), LONG);
        assertThat(store().read(two, 0)).isEqualTo(Snapshot.NOTHING);
        assertThat(store().store(two, lease(two), value("b"), LONG)).isTrue();
        assertThat(text(store().read(one, 0).value())).isEqualTo("a");
        assertThat(text(store().read(two, 0).value())).isEqualTo("b");
        assertThat(store().read(one, 0).fresh() && store().read(two, 0).fresh()).isTrue();
        assertThat(text(served(store().fetch(one, 0)).value())).isEqualTo("a");
    }

    @Test
    void invalidatesTheValuesOfAllVersions() {
        invalidatesTheValuesOfAllVersions(cp);
    }

    @Test
    void invalidatesTheValuesOfAllVersionsWithinAWindow() {
        invalidatesTheValuesOfAllVersions(ap);
    }

    private void invalidatesTheValuesOfAllVersions(CacheOptions options) {
        CacheKey<String> one = key(options);
        CacheKey<Integer> two = ofAnotherVersion(options);
        store().store(one, lease(one), value("a"), LONG);
        store().store(two, lease(two), value("b"), LONG);
        store().invalidate(List.of(one), "");
        assertThat(store().read(two, 0).fresh()).isFalse();
        assertThat(store().read(one, 0).fresh()).isFalse();
        store().store(one, lease(one), value("c"), LONG);
        assertThat(store().read(two, 0)).isEqualTo(Snapshot.NOTHING);
    }

    @Test
    void neverReturnsAValueBeyondItsLifeBecauseOfAnotherVersion() {
        CacheKey<String> one = key(cp);
        CacheKey<Integer> two = ofAnotherVersion(cp);
        store().store(one, lease(one), value("a"), SHORT);
        store().store(two, lease(two), value("b"), LONG);
        assertThat(store().read(one, 0).value()).isNull();
        store().store(one, lease(one), value("a"), SHORT);
        pass(SHORT);
        assertThat(store().read(one, 0)).isEqualTo(Snapshot.NOTHING);
        assertThat(holds(two)).isFalse();
    }

    @Test
    void discardsTheValueOfOneVersionOnly() {
        CacheKey<String> one = key(cp);
        CacheKey<Integer> two = ofAnotherVersion(cp);
        store().store(one, lease(one), value("same"), LONG);
        store().store(two, lease(two), value("same"), LONG);
        store().removeUnreadable(one, value("same"));
        assertThat(store().read(one, 0)).isEqualTo(Snapshot.NOTHING);
        assertThat(store().read(two, 0).fresh()).isTrue();
    }

    private CacheKey<Integer> ofAnotherVersion(CacheOptions options) {
        return CacheSpec.of(prefix, Integer.class).withOptions(options).key("id");
    }

    private CacheKey<String> key(CacheOptions options) {
        return CacheSpec.of(prefix, String.class).withOptions(options).key("id");
    }

    private static CacheKey<String> sibling(CacheKey<String> key, CacheOptions options) {
        return sibling(key, "id", options);
    }

    private static CacheKey<String> sibling(CacheKey<String> key, String part, CacheOptions options) {
        return key.spec().withOptions(options).key(part);
    }

    private LoadLease lease(CacheKey<?> key) {
        return leaseOf(store().fetch(key, 0));
    }

    private static LoadLease leaseOf(Fetched fetched) {
        assertThat(fetched).isInstanceOf(Fetched.Leased.class);
        return ((Fetched.Leased) fetched).lease();
    }

    private static Fetched.Served served(Fetched fetched) {
        assertThat(fetched).isInstanceOf(Fetched.Served.class);
        return (Fetched.Served) fetched;
    }

    private static boolean stale(Fetched fetched) {
        return served(fetched).stale();
    }

    private CacheKey<String> stored(CacheKey<String> key, String text) {
        assertThat(store().store(key, lease(key), value(text), LONG)).isTrue();
        return key;
    }

    private static Envelope value(String text) {
        return Envelope.of(Kind.VALUE, text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(Envelope value) {
        return new String(value.payload(), StandardCharsets.UTF_8);
    }
}
