package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.JdbcSchema;
import io.easykit.boot.SchemaMode;
import io.easykit.boot.SettingChecks;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of listeners whose method runs once for each message.
 *
 * @param retention Time for which the record of a handled message is kept, from 1m to 3650d. A message that is delivered again
 *     later runs again.
 * @param transactionManager Name of the transaction manager bean in whose transactions these methods run. By default the only
 *     or primary one.
 * @param initializeSchema When the table of the records is created: in an embedded database only, always or never.
 * @param schema Location of the script that creates the table, with @@platform@@ in place of the platform.
 * @param platform Platform of the script: h2, mysql, mariadb or postgresql. By default it is detected.
 */
record IdempotencySettings(
        @DefaultValue("7d") Duration retention,
        @Nullable String transactionManager,
        @DefaultValue("embedded") SchemaMode initializeSchema,
        @DefaultValue("classpath:io/easykit/delayqueue/jdbc/idempotency-@@platform@@.sql") String schema,
        @Nullable String platform) {

    private static final Duration SHORTEST = Duration.ofMinutes(1);
    private static final Duration LONGEST = Duration.ofDays(3650);

    void check(SettingChecks checks) {
        checks.duration("idempotency.retention", retention, SHORTEST, LONGEST, "1m to 3650d, for example 7d");
    }

    JdbcSchema.Settings jdbcSchema() {
        return new JdbcSchema.Settings("delay-queue.idempotency", initializeSchema, schema, platform);
    }
}
