package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.Journal.Undelivered;
import io.easykit.cache.store.InMemoryEntryStore;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JournalTests {

    private final Journal journal = new Journal(3, new InMemoryEntryStore(() -> 0));

    @Test
    void keepsTheLatestOfEachKey() {
        add("a", 1, "first");
        add("a", 2, "second");
        add("a", 1, "third");
        assertThat(journal.all()).extracting(Undelivered::token).containsExactly("third", "second");
        assertThat(journal.all().get(0).key()).isEqualTo(key("a", 1));
    }

    @Test
    void keepsTheTokenOfAnUpdateThatAnInvalidationWithoutOneFollows() {
        add("a", 1, "prepared");
        add("a", 1, "");
        assertThat(journal.all()).extracting(Undelivered::token).containsExactly("prepared");
    }

    @Test
    void forgetsWhatWasDelivered() {
        add("a", 1, "");
        journal.delivered(journal.all());
        assertThat(journal.isEmpty()).isTrue();
        assertThat(journal.size()).isZero();
    }

    @Test
    void keepsWhatCameAgainWhileItWasDelivered() {
        add("a", 1, "same");
        List<Undelivered> underway = journal.all();
        add("a", 1, "same");
        journal.delivered(underway);
        assertThat(journal.all()).hasSize(1);
        assertThat(journal.isEmpty()).isFalse();
    }

    @Test
    void remembersPrefixesWhenItOverflows() {
        add("a", 1, "");
        add("a", 2, "");
        add("b", 1, "");
        assertThat(overflowed()).isEmpty();
        add("c", 1, "");
        assertThat(journal.all()).isEmpty();
        assertThat(journal.size()).isEqualTo(3);
        assertThat(journal.isEmpty()).isFalse();
        add("a", 3, "");
        assertThat(journal.all()).isEmpty();
        add("d", 1, "");
        assertThat(journal.all()).hasSize(1);
        assertThat(overflowed()).containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    void remembersAnewWhatComesAfterThePrefixesWereTaken() {
        journal.overflow(0, "a");
        overflowed();
        assertThat(journal.isEmpty()).isTrue();
        add("a", 1, "");
        assertThat(journal.all()).hasSize(1);
    }

    private Set<String> overflowed() {
        return journal.takeOverflowed(hash -> true).getOrDefault(0, Set.of());
    }

    private void add(String prefix, int id, String token) {
        journal.add(List.of(key(prefix, id)), token);
    }

    private static CacheKey<String> key(String prefix, int id) {
        return CacheSpec.of(prefix, String.class).key(id);
    }
}
