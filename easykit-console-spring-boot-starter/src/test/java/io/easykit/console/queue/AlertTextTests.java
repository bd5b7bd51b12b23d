package io.easykit.console.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.AlertLimits.Kind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AlertTextTests {

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            delimiter = '|',
            value = {
                "LATENESS    | 74000   | 500     | the oldest due message waits for 74 s (limit 0.5 s)",
                "LATENESS    | 7300000 | 7100000 | the oldest due message waits for 2 h (limit 118 min)",
                "LATENESS    | 1050    | 1000    | the oldest due message waits for 1.1 s (limit 1 s)",
                "LATENESS    | none    | 60000   | messages run late (limit 60 s)",
                "DUE         | 12004   | 100     | 12,004 messages are due (limit 100)",
                "DEAD        | 40      | none    | 40 dead letters",
                "WAITING     | 2       | 1       | 2 messages wait (limit 1)",
                "NO_CONSUMER | none    | none    | no node listens",
                "FAILING     | none    | 25      | too many runs fail (limit 25 %)"
            })
    void namesTheValueAndTheLimit(Kind kind, Long value, Long limit, String text) {
        assertThat(AlertText.of(kind, value, limit)).isEqualTo(text);
    }
}
