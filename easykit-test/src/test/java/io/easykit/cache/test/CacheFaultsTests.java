package io.easykit.cache.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CacheFaultsTests {

    private static final Duration RECOVERY = Duration.ofSeconds(5);

    private final EasyCacheTester cache = EasyCacheTester.create();
    private final CacheSpec<String> ap = CacheSpec.of("name", String.class);
    private final CacheSpec<String> cp =
            ap.withOptions(CacheOptions.builder().consistency(Consistency.CP).build());
    private String database = "old";

    @AfterEach
    void close() {
        cache.close();
    }

    private String read(EasyCache node, CacheSpec<String> spec) {
        return node.fetch(spec.key(1), () -> database);
    }

    private void update(EasyCache node, CacheSpec<String> spec) {
        node.update(List.of(spec.key(1)), () -> database = "new");
    }

    private static Availability.State stateOf(EasyCache node) {
        return node.availability(CacheSpec.DEFAULT_CLUSTER).state();
    }

    @Test
    void opensTheCircuitBreakersOfAllNodesAtOnce() {
        EasyCache other = cache.otherNode();
        read(cache.cache(), cp);

        cache.faults().storeAway();

        assertThat(stateOf(cache.cache())).isEqualTo(Availability.State.UNAVAILABLE);
        assertThat(stateOf(other)).isEqualTo(Availability.State.UNAVAILABLE);
        assertThat(stateOf(cache.otherNode())).isEqualTo(Availability.State.UNAVAILABLE);
        assertThatThrownBy(() -> update(cache.cache(), cp)).isInstanceOf(CacheUnavailableException.class);
        assertThat(database).isEqualTo("old");
        assertThat(cache).hasEntry("name", 1).withValue("old");

        cache.advance(Duration.ofMinutes(1));
        cache.faults().heal();
        assertThat(stateOf(other)).isEqualTo(Availability.State.UNAVAILABLE);
        cache.advance(RECOVERY);
        assertThat(stateOf(cache.cache())).isEqualTo(Availability.State.AVAILABLE);
        assertThat(stateOf(other)).isEqualTo(Availability.State.AVAILABLE);
        assertThat(read(other, cp)).isEqualTo("old");
    }

    @Test
    void keepsLocalValuesInVirtualTime() {
        cache.faults().storeAway();
        read(cache.cache(), ap);

        cache.advance(Duration.ofMillis(4_999));
        read(cache.cache(), ap);
        assertThat(cache.numbers("name").local()).isEqualTo(1);

        cache.advance(Duration.ofMillis(1));
        read(cache.cache(), ap);
        assertThat(cache).hasLoads("name", 2);
    }

    @Test
    void opensTheCircuitBreakerAsInProductionIfCallsFail() {
        cache.faults().storeFails();

        assertThat(stateOf(cache.cache())).isEqualTo(Availability.State.AVAILABLE);
        assertThat(read(cache.cache(), ap)).isEqualTo("old");

        cache.advance(RECOVERY);
        assertThat(stateOf(cache.cache())).isEqualTo(Availability.State.UNAVAILABLE);
        cache.faults().heal();
        cache.advance(RECOVERY);
        assertThat(stateOf(cache.cache())).isEqualTo(Availability.State.AVAILABLE);
    }

    @Test
    void deliversUpdatesOfAnOutageAfterIt() {
        EasyCache other = cache.otherNode();
        read(other, ap);
        cache.faults().storeAway();
        update(cache.cache(), ap);

        cache.faults().heal();
        cache.advance(RECOVERY);

        assertThat(cache).hasNoEntry("name", 1);
        assertThat(read(other, ap)).isEqualTo("new");
    }

    @Test
    void storesAValueWhoseReplyIsLost() {
        cache.faults().loseReplyOfNextStore();

        assertThat(read(cache.cache(), cp)).isEqualTo("old");

        assertThat(cache).hasEntry("name", 1).withValue("old");
        assertThat(read(cache.cache(), cp)).isEqualTo("old");
        assertThat(cache).hasLoads("name", 1);
    }

    @Test
    void repeatsAnInvalidationThatIsLost() {
        EasyCache other = cache.otherNode();
        read(other, ap);
        cache.faults().loseNextInvalidation();

        update(cache.cache(), ap);
        assertThat(cache).isBeingUpdated("name", 1);
        assertThat(cache.cache().undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);

        cache.runDue();
        assertThat(cache).hasNoEntry("name", 1);
        assertThat(cache.cache().undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
    }

    @Test
    void repeatsAnInvalidationWhoseReplyIsLost() {
        read(cache.cache(), cp);
        cache.faults().loseReplyOfNextInvalidation();

        update(cache.cache(), cp);
        assertThat(cache).hasNoEntry("name", 1);
        assertThat(cache.cache().undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);

        cache.runDue();
        assertThat(cache.cache().undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
    }

    @Test
    void storesNothingForTheLeaseOfACrashedUpdate() {
        EasyCache other = cache.otherNode();
        read(cache.cache(), cp);
        cache.faults().crashAfterNextCommit();

        update(other, cp);

        assertThat(cache).isBeingUpdated("name", 1).hasNoEntry("name", 1);
        assertThat(read(cache.cache(), cp)).isEqualTo("new");
        assertThat(cache).hasNoEntry("name", 1);
        cache.advance(cp.options().updateLease());
        assertThat(read(cache.cache(), cp)).isEqualTo("new");
        assertThat(cache).hasEntry("name", 1).withValue("new");
    }

    @Test
    void returnsTheOldValueOfACrashedApUpdateUntilItsLeaseEnds() {
        EasyCache other = cache.otherNode();
        read(cache.cache(), ap);
        cache.faults().crashAfterNextCommit();

        update(other, ap);

        assertThat(cache).hasEntry("name", 1).isStale().expiresIn(ap.options().updateLease());
        assertThat(read(cache.cache(), ap)).isEqualTo("old");
        cache.advance(ap.options().updateLease());
        assertThat(read(cache.cache(), ap)).isEqualTo("new");
    }

    @Test
    void endsTheClearingOfACrashedNode() {
        EasyCache other = cache.otherNode();
        read(cache.cache(), cp);
        cache.faults().crashAfterNextCommit();

        other.update(List.of(cp.all()), () -> database = "new");
        assertThat(cache).hasEntry("name", 1);

        cache.advance(cp.options().updateLease().plusSeconds(2));
        assertThat(cache).hasNoEntry("name", 1);
        assertThat(read(cache.cache(), cp)).isEqualTo("new");
    }
}
