package io.easykit.cache.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.ClassPathResource;

/** The session's time zone must not matter to MySQL and MariaDB. */
class OutboxClockTests {

    @ParameterizedTest
    @ValueSource(strings = {"mysql", "mariadb"})
    void keepsNoTimeWithTheZoneOfASession(String platform) throws IOException {
        String script = new ClassPathResource("io/easykit/cache/jdbc/schema-" + platform + ".sql")
                .getContentAsString(StandardCharsets.UTF_8);

        assertThat(script).contains("DATETIME(3)").doesNotContainIgnoringCase("timestamp");
    }

    @ParameterizedTest
    @ValueSource(strings = {"MySQL", "MariaDB"})
    void readsTheClockInUtc(String product) {
        OutboxClock clock = OutboxClock.of(product);

        assertThat(clock.after(Duration.ofMillis(1500))).isEqualTo("utc_timestamp(3) + interval '2' second");
        assertThat(clock.seconds(clock.now()))
                .isEqualTo("timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) / 1000000");
    }
}
