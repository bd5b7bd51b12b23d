package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.Outcome;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.admin.EntryExplanation.State;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The sentences of an explanation about this node and about time; those about states are in {@code ExplainIntegrationTests}. */
class ExplainTests {

    private static final String LOCAL = "Readers on this node get the value of their local level.";
    private static final String LOADS =
            "Readers on this node load for themselves, as far as the settings of degraded mode allow it.";

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();

    @Test
    void saysThatWeakReadersGetTheLocalValueWhileRedisIsAway() {
        CacheKey<String> key = Workbench.ap().key(1);
        bench.cutOff(cache);
        cache.fetch(key, () -> "value");

        assertThat(sentences(key)).contains(LOCAL).doesNotContain(LOADS);
        assertThat(cache.<String, RuntimeException>fetch(key, () -> "other")).isEqualTo("value");
    }

    @Test
    void saysThatWeakReadersLoadWhatTheLocalLevelDoesNotHold() {
        CacheKey<String> key = Workbench.ap().key(1);
        bench.cutOff(cache);
        cache.fetch(Workbench.ap().key(2), () -> "other");

        assertThat(sentences(key)).contains(LOADS).doesNotContain(LOCAL);
        assertThat(cache.<String, RuntimeException>fetch(key, () -> "loaded")).isEqualTo("loaded");
    }

    @Test
    void saysThatStrongReadersLoadWhileRedisIsAway() {
        CacheKey<String> key = Workbench.cp().key(1);
        bench.store.away();
        cache.fetch(key, () -> "value");

        assertThat(sentences(key)).contains(LOADS).doesNotContain(LOCAL);
        assertThat(cache.<String, RuntimeException>fetch(key, () -> "loaded")).isEqualTo("loaded");
    }

    @Test
    void saysThatAnInvalidationWaitsAlsoWhileRedisAnswers() {
        CacheKey<String> key = Workbench.ap().key(1);
        cache.fetch(key, () -> "old");
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        cache.invalidate(key);

        EntryExplanation told = cache.admin().explain(key);

        assertThat(told.state()).isEqualTo(State.UNDELIVERED);
        assertThat(told.nextRead()).isEqualTo(Outcome.SUCCESS);
        assertThat(told.sentences())
                .startsWith(
                        "An invalidation of this entry waits on this node until Redis takes it. Until then readers on this node"
                                + " load for themselves.",
                        "For readers on other nodes the following holds.");
        assertThat(told.sentences().get(2)).startsWith("Readers get the value.");
        assertThat(cache.<String, RuntimeException>fetch(key, () -> "new")).isEqualTo("new");
        assertThat(bench.node().<String, RuntimeException>fetch(key, () -> "never"))
                .isEqualTo("old");
    }

    @Test
    void saysThatAnInvalidationWaitsBesideWhatWeakReadersGetWhileRedisIsAway() {
        CacheKey<String> key = Workbench.ap().key(1);
        bench.cutOff(cache);
        cache.invalidate(key);
        cache.fetch(key, () -> "value");

        assertThat(sentences(key))
                .contains(LOCAL, "An invalidation of this entry waits on this node until Redis takes it.")
                .noneMatch(sentence -> sentence.contains("load for themselves"));
        assertThat(cache.<String, RuntimeException>fetch(key, () -> "other")).isEqualTo("value");
    }

    @Test
    void saysThatAReaderGetsTheExpiredValueIfItsLoadFails() {
        CacheOptions options = Workbench.ap().options().toBuilder()
                .ttl(Duration.ofMinutes(1))
                .staleOnError(StaleOnErrorOptions.keptFor(Duration.ofMinutes(2)))
                .build();
        CacheKey<String> key = Workbench.ap().withOptions(options).key(1);
        String expected = "If its load fails, it gets the expired value, for 90 s more at most.";
        cache.fetch(key, () -> "value");
        assertThat(cache.admin().explain(key).sentences()).noneMatch(sentence -> sentence.contains("load fails"));
        bench.clock.advance(Duration.ofSeconds(90));

        assertThat(cache.admin().explain(key).state()).isEqualTo(State.EXPIRED);
        assertThat(cache.admin().explain(key).sentences()).contains(expected);
        assertThat(cache.admin().explain(key).fields())
                .extracting(EntryExplanation.Field::name, EntryExplanation.Field::meaning)
                .contains(tuple("x", "expired values are kept for a reader whose load fails, ends in 90 s"));
        bench.store.fetch(key, 0);
        assertThat(cache.admin().explain(key).sentences()).as("while one loads").contains(expected);
        bench.node().invalidate(key);
        assertThat(cache.admin().explain(key).sentences()).noneMatch(sentence -> sentence.contains("load fails"));
    }

    @Test
    void saysNotThatALoadFailedIfItsValueIsNotToBeCached() {
        CacheKey<String> key = Workbench.ap().key(1);
        cache.fetch(key, () -> "value", any -> false);

        EntryExplanation told = cache.admin().explain(key);

        assertThat(told.state()).isEqualTo(State.LOAD_RELEASED);
        assertThat(told.sentences())
                .containsExactly(
                        "The latest loader has released its lease and stored nothing: its load failed, its value is not to be"
                                + " cached, or it did not load. An earlier load that still runs can be stored.",
                        "The next reader loads the value.");
        assertThat(told.fields()).anyMatch(field -> field.meaning().endsWith("lease released"));
    }

    @Test
    void takesTheRefreshAheadOfNothing() {
        CacheKey<String> key = Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .ttl(Duration.ofMinutes(10))
                        .nullTtl(Duration.ofSeconds(10))
                        .refreshAhead(Duration.ofSeconds(40))
                        .build())
                .key(1);
        cache.fetch(key, () -> null);

        assertThat(cache.admin().explain(key).state()).isEqualTo(State.FRESH);
    }

    @ParameterizedTest
    @CsvSource({
        "PT9M59S, 599 s",
        "PT10M, 10 min",
        "PT1H59M59S, 119 min",
        "PT2H, 2 h 0 min",
        "PT47H59M, 47 h 59 min",
        "PT48H, 2 d 0 h"
    })
    void saysDurationsInUnitsThatOneReadsAtAGlance(Duration duration, String text) {
        assertThat(EntryExplainer.text(duration)).isEqualTo(text);
    }

    private List<String> sentences(CacheKey<?> key) {
        EntryExplanation told = cache.admin().explain(key);
        assertThat(told.state()).isEqualTo(State.UNAVAILABLE);
        return told.sentences();
    }
}
