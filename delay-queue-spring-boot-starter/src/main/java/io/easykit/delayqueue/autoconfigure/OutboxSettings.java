package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.DurationTexts;
import io.easykit.boot.SchemaMode;
import io.easykit.boot.SettingChecks;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the outbox in the application's database.
 *
 * @param enabled Whether messages can be sent with the phase outbox, and this node stores those that wait. By default it
 *     is so if send-phase is outbox. Leave it true until the outbox is empty if you choose another phase.
 * @param lease Time after the last sign of life of a node until another one stores its messages, from 5s to 1h, and at
 *     least ten times the command-timeout. Must be equal on all nodes.
 * @param initializeSchema When the tables of the outbox are created. embedded: for embedded databases only.
 * @param schema Script that creates the tables. "@@platform@@" is replaced with the platform.
 * @param platform Platform of the script: h2, mariadb, mysql or postgresql. By default it is detected.
 */
record OutboxSettings(
        @Nullable Boolean enabled,
        @DefaultValue("30s") Duration lease,
        @DefaultValue("embedded") SchemaMode initializeSchema,
        @DefaultValue("classpath:io/easykit/delayqueue/jdbc/outbox-@@platform@@.sql") String schema,
        @Nullable String platform) {

    private static final Duration SHORTEST = Duration.ofSeconds(5);
    private static final Duration LONGEST = Duration.ofHours(1);

    /** A call of Redis takes five timeouts at most, and has to end in half of the lease. */
    private static final int COMMAND_TIMEOUTS = 10;

    void check(SettingChecks checks, Duration commandTimeout, boolean isUsed) {
        checks.duration("outbox.lease", lease, SHORTEST, LONGEST, "5s to 1h, for example 30s");
        checks.that(
                !isUsed || lease.dividedBy(COMMAND_TIMEOUTS).compareTo(commandTimeout) >= 0,
                "outbox.lease",
                lease,
                "Choose at least ten times the command-timeout of " + DurationTexts.text(commandTimeout) + ".");
    }
}
