package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.PendingInvalidations.Pending;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.store.Partitions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PendingInvalidationsTests {

    private final ManualClock clock = new ManualClock();
    private final OwnUpdates updates = new OwnUpdates(clock);
    private final PendingInvalidations pending =
            new PendingInvalidations(3, new FaultyCacheStore(clock::millis), () -> Partitions.ONE, updates);

    @Test
    void keepsOneOfEachKeyWithTheTokensOfAllItsUpdates() {
        add("a", 1, "first");
        add("a", 2, "second");
        add("a", 1, "third");
        assertThat(pending.all())
                .extracting(Pending::tokens)
                .containsExactly(Set.of("first", "third"), Set.of("second"));
        assertThat(pending.all().get(0).key()).isEqualTo(key("a", 1));
    }

    @Test
    void countsThePrefixesWhoseEpochsAreBeingRaised() {
        pending.overflow(0, "a");
        pending.overflow(0, "b");
        assertThat(pending.takeOverflowed(hash -> true)).hasSize(1);
        pending.overflow(0, "b");
        assertThat(pending.size()).isEqualTo(2);
        assertThat(pending.overflowed()).containsExactlyInAnyOrder("a", "b");

        pending.raised(0, Set.of("a", "b"));
        assertThat(pending.overflowed()).containsExactly("b");
    }

    @Test
    void keepsTheTokenOfAnUpdateThatAnInvalidationWithoutOneFollows() {
        add("a", 1, "prepared");
        add("a", 1, "");
        assertThat(pending.all()).extracting(Pending::tokens).containsExactly(Set.of("prepared"));
    }

    @Test
    void keepsTheFirstTokensOfAKeyThatIsUpdatedOften() {
        for (int i = 0; i <= Pending.MOST_TOKENS; i++) {
            add("a", 1, "token " + i);
        }
        assertThat(pending.all().get(0).tokens())
                .hasSize(Pending.MOST_TOKENS)
                .contains("token 0")
                .doesNotContain("token " + Pending.MOST_TOKENS);
    }

    @Test
    void keepsTheOthersOfAllUpdatesOfAKeyUpToALimit() {
        List<CacheKey<?>> others = IntStream.range(0, Pending.MOST_OTHERS - 2)
                .<CacheKey<?>>mapToObj(id -> key("other", id))
                .toList();
        pending.add(List.of(key("a", 1)), "", others);
        pending.add(List.of(key("a", 1)), "", List.of(key("a", 2), key("a", 3)));
        pending.add(List.of(key("a", 1)), "", List.of());
        assertThat(pending.all().get(0).together()).hasSize(Pending.MOST_OTHERS);

        pending.add(List.of(key("a", 1)), "", List.of(key("a", 4)));
        assertThat(pending.all().get(0).together()).containsExactly(key("a", 4));
    }

    @Test
    void forgetsWhatWasDelivered() {
        add("a", 1, "");
        pending.delivered(pending.all());
        assertThat(pending.isEmpty()).isTrue();
        assertThat(pending.size()).isZero();
    }

    @Test
    void keepsWhatCameAgainWhileItWasDelivered() {
        add("a", 1, "same");
        List<Pending> underway = pending.all();
        add("a", 1, "same");
        pending.delivered(underway);
        assertThat(pending.all()).hasSize(1);
        assertThat(pending.isEmpty()).isFalse();
    }

    @Test
    void remembersPrefixesWhenItOverflows() {
        add("a", 1, "");
        add("a", 2, "");
        add("b", 1, "");
        assertThat(overflowed()).isEmpty();
        add("c", 1, "");
        assertThat(pending.all()).isEmpty();
        assertThat(pending.size()).isEqualTo(3);
        assertThat(pending.isEmpty()).isFalse();
        add("a", 3, "");
        assertThat(pending.all()).isEmpty();
        add("d", 1, "");
        assertThat(pending.all()).hasSize(1);
        assertThat(overflowed()).containsExactlyInAnyOrder("a", "b", "c");
    }

    /** The epoch is raised after the deliveries. Until then other nodes compute the second value from the older first one. */
    @Test
    void keepsAllKeysOfAnUpdateUnlessAllArePartsOfPrefixesThatWait() {
        pending.overflow(0, "a");
        pending.add(List.of(key("a", 1), key("b", 1)), "token");
        assertThat(pending.all()).extracting(Pending::key).containsExactlyInAnyOrder(key("a", 1), key("b", 1));

        pending.delivered(pending.all());
        pending.overflow(0, "b");
        pending.add(List.of(key("a", 2), key("b", 2)), "token");
        assertThat(pending.all()).isEmpty();
        assertThat(overflowed()).containsExactlyInAnyOrder("a", "b");
    }

    /** Also while it is being raised, since they are taken afterwards. */
    @Test
    void raisesPrefixesAfterOneThatIsStillToBeInvalidated() {
        CacheSpec<?> other = key("other", 1).spec();
        assertThat(leave("a", other)).isFalse();
        pending.overflow(0, "a");
        assertThat(leave("b", other)).isFalse();
        assertThat(pending.takeSiblings(0)).isEmpty();

        assertThat(leave("a", other)).isTrue();
        assertThat(pending.takeSiblings(0)).containsExactly(other);
        assertThat(pending.takeOverflowed(hash -> true)).hasSize(1);
        assertThat(leave("a", other)).isTrue();
        assertThat(pending.takeSiblings(0)).containsExactly(other);
        pending.raised(0, Set.of("a"));
        assertThat(leave("a", other)).isFalse();
        assertThat(pending.takeSiblings(0)).isEmpty();
    }

    private boolean leave(String prefix, CacheSpec<?> other) {
        return pending.leaveToPrefix(key(prefix, 1).spec().all(), List.of(other, other));
    }

    @Test
    void leavesAPendingEntryToItsPrefix() {
        CacheKey<?> one = key("a", 1);
        CacheSpec<?> other = key("other", 1).spec();
        assertThat(pending.leaveToPrefix(one, List.of(other))).isFalse();
        assertThat(pending.takeOverflowed(hash -> true)).isEmpty();

        pending.add(List.of(one), "");
        assertThat(pending.leaveToPrefix(key("a", 2), List.of(other))).isFalse();
        assertThat(pending.leaveToPrefix(one, List.of(other))).isTrue();

        assertThat(pending.takeOverflowed(hash -> true)).containsExactly(Map.entry(0, Set.of("a")));
        assertThat(pending.takeSiblings(0)).containsExactly(other);
    }

    @Test
    void remembersAnewWhatComesAfterThePrefixesWereTaken() {
        pending.overflow(0, "a");
        overflowed();
        assertThat(pending.isEmpty()).isTrue();
        add("a", 1, "");
        assertThat(pending.all()).hasSize(1);
    }

    /** Until then the store has accepted older values. */
    @Test
    void countsADeliveryAsAnUpdate() {
        add("a", 1, "");
        clock.advance(Duration.ofMillis(1));
        pending.delivered(pending.all());
        long delivered = clock.nanoTime();
        pending.overflow(0, "b");
        clock.advance(Duration.ofMillis(1));
        pending.raised(0, overflowed());
        long raised = clock.nanoTime();
        clock.advance(Duration.ofMillis(1));

        assertThat(notOlderThan("a", 1)).isEqualTo(delivered);
        assertThat(notOlderThan("b", 1)).isEqualTo(raised);
        assertThat(notOlderThan("c", 1)).isNull();
    }

    private @Nullable Long notOlderThan(String prefix, int id) {
        ReadRequest<String> read = new ReadRequest<>(key(prefix, id), () -> "", any -> true, clock.nanoTime());
        return updates.strict(read).notOlderThan();
    }

    private Set<String> overflowed() {
        return pending.takeOverflowed(hash -> true).getOrDefault(0, Set.of());
    }

    private void add(String prefix, int id, String token) {
        pending.add(List.of(key(prefix, id)), token);
    }

    private static CacheKey<String> key(String prefix, int id) {
        return CacheSpec.of(prefix, String.class).key(id);
    }
}
