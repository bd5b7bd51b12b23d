package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlFailuresTests {

    @ParameterizedTest
    @CsvSource({
        "08001, 0, true",
        "40001, 1213, true",
        "40002, 0, false",
        "53300, 0, true",
        "55P03, 0, true",
        "57P01, 0, true",
        "HYT00, 50200, true",
        "42S02, 42102, false",
        "42501, 0, false",
        "25006, 0, false",
        ", 0, false"
    })
    void tellsWhatPassesFromWhatStays(String state, int code, boolean passes) {
        assertThat(SqlFailures.isPassing(wrapped(new SQLException("refused", state, code))))
                .isEqualTo(passes);
    }

    @Test
    void aTimeoutPassesWhateverItsState() {
        assertThat(SqlFailures.isPassing(new SQLTimeoutException("slow", "42000")))
                .isTrue();
    }

    /** PostgreSQL, H2, MySQL and MariaDB with read_only or super_read_only, in a read-only transaction, and in read-only mode. */
    @ParameterizedTest
    @CsvSource({"25006, 0", "90097, 90097", "HY000, 1290", "25006, 1792", "HY000, 1836"})
    void aDatabaseThatTakesNoWritesHasARemedyOfItsOwn(String state, int code) {
        assertThat(SqlFailures.remedy(wrapped(new SQLException("read-only", state, code)), "create the table"))
                .contains("accepts no writes", "primary");
    }

    @Test
    void soHasADriverThatRefusesWritesOfAReadOnlyConnection() {
        SQLException refused = new SQLException(
                "Connection is read-only. Queries leading to data modification are not allowed", "S1009");

        assertThat(SqlFailures.remedy(wrapped(refused), "create the table")).contains("accepts no writes");
    }

    @Test
    void anotherFailureHasTheRemedyOfTheTable() {
        assertThat(SqlFailures.remedy(wrapped(new SQLException("no table", "42S02", 42_102)), "create the table"))
                .isEqualTo("create the table");
        assertThat(SqlFailures.remedy(new IllegalStateException("no cause"), "create the table"))
                .isEqualTo("create the table");
    }

    private static Throwable wrapped(SQLException failure) {
        return new IllegalStateException("outer", new RuntimeException("inner", failure));
    }
}
