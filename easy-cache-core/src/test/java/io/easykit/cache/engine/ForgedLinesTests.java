package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.store.Outbox;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Text from outside cannot begin a line of its own in a log, or send sequences to a terminal. */
class ForgedLinesTests {

    private static final String FORGED = "q\n2026-11-28 ERROR forged\u001b[2J";

    private final CacheSpec<String> spec = CacheSpec.of("search", String.class);

    private static void assertIsOneVisibleLine(String text) {
        assertThat(text).contains("forged").doesNotContain("\n", "\u001b");
    }

    @Test
    void aKeyAndAnExceptionInAWarning() {
        try (LogCapture log = LogCapture.of(FailingRefreshes.class)) {
            new FailingRefreshes(Ticker.SYSTEM).failed(spec.key(FORGED), new IllegalStateException("in " + FORGED));

            assertThat(log.warnings()).singleElement().satisfies(ForgedLinesTests::assertIsOneVisibleLine);
        }
    }

    @Test
    void aRowOfTheOutbox() {
        try (LogCapture log = LogCapture.of(OutboxKeys.class)) {
            List<CacheKey<?>> keys =
                    new OutboxKeys("default").keysOf(List.of(new Outbox.Message("m", "default", List.of(FORGED))));

            assertThat(keys).isEmpty();
            assertThat(log.warnings()).singleElement().satisfies(ForgedLinesTests::assertIsOneVisibleLine);
        }
    }

    @Test
    void theNameOfAClearingWhosePrefixIsFromARow() {
        assertIsOneVisibleLine(CacheKey.named("default", FORGED + "::]").toString());
    }

    @Test
    void anElementOfABatch() {
        assertThatThrownBy(() -> ElementLoader.requireAsked(spec, Map.of(FORGED, "value"), Set.of("asked")))
                .satisfies(refused -> assertIsOneVisibleLine(String.valueOf(refused.getMessage())));
    }

    @Test
    void aNameThatAnOperatorGives() {
        Workbench bench = new Workbench();

        assertThatThrownBy(() -> bench.node().admin().keyNamed(null, FORGED))
                .satisfies(refused -> assertIsOneVisibleLine(String.valueOf(refused.getMessage())));
    }

    @Test
    void aLongTextIsCut() {
        assertThat(ErrorText.of(new IllegalStateException("x".repeat(100_000)))).hasSizeLessThan(510);
    }
}
