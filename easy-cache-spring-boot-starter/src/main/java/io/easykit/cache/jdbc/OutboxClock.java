package io.easykit.cache.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Times in statements of the outbox, by the clock of the database. MySQL and MariaDB keep them in UTC: a local time of the session
 * may not exist, or exist twice, when its clock is changed.
 */
enum OutboxClock {
    STANDARD("current_timestamp(3)", "extract(epoch from %s)"),
    UTC("utc_timestamp(3)", "timestampdiff(microsecond, '1970-01-01 00:00:00', %s) / 1000000");

    private final String now;
    private final String seconds;

    OutboxClock(String now, String seconds) {
        this.now = now;
        this.seconds = seconds;
    }

    static OutboxClock of(Connection connection) throws SQLException {
        return of(connection.getMetaData().getDatabaseProductName());
    }

    static OutboxClock of(String product) {
        return product.contains("MySQL") || product.contains("MariaDB") ? UTC : STANDARD;
    }

    String now() {
        return now;
    }

    /** @param delay rounded up to seconds; one at least */
    String after(Duration delay) {
        return now + " + interval '" + Math.max(1, delay.plusMillis(999).toSeconds()) + "' second";
    }

    /** Seconds since the epoch, as a number with decimals; null for a time that is null. */
    String seconds(String time) {
        return seconds.formatted(time);
    }
}
