package io.easykit.cache.jdbc;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.Problem;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.util.StringUtils;

/** Creates the table of the outbox if it is missing. Scripts exist for H2, MySQL, MariaDB and PostgreSQL. */
public final class OutboxSchema extends DataSourceScriptDatabaseInitializer {

    private final String location;

    public static final String LOCATION = "classpath:io/easykit/cache/jdbc/schema-@@platform@@.sql";

    /**
     * @param mode when the script runs
     * @param location location of the script; {@code @@platform@@} is replaced with the platform
     * @param platform null to detect it
     */
    public OutboxSchema(
            DataSource dataSource, DatabaseInitializationMode mode, String location, @Nullable String platform) {
        super(dataSource, settings(dataSource, mode, location, platform));
        this.location = location;
    }

    /** Reports the setting if the script does not exist. */
    @Override
    public void afterPropertiesSet() throws Exception {
        try {
            super.afterPropertiesSet();
        } catch (IllegalStateException missing) {
            throw problem(location, missing);
        }
    }

    private static InvalidConfigurationException problem(String location, IllegalStateException cause) {
        return new InvalidConfigurationException(Problem.setting(
                "easy-cache.jdbc.schema",
                "'" + location + "', which cannot be run: " + cause.getMessage(),
                "Set an existing script, or set easy-cache.jdbc.platform to h2, mariadb, mysql or postgresql;"
                        + " or create the table manually and set easy-cache.jdbc.initialize-schema to never."));
    }

    private static DatabaseInitializationSettings settings(
            DataSource dataSource, DatabaseInitializationMode mode, String location, @Nullable String platform) {
        DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
        settings.setMode(mode);
        settings.setSchemaLocations(locations(dataSource, mode, location, platform));
        // Two nodes may create it at the same time. If it is still missing afterwards, the start fails.
        settings.setContinueOnError(true);
        return settings;
    }

    private static List<String> locations(
            DataSource dataSource, DatabaseInitializationMode mode, String location, @Nullable String platform) {
        if (mode == DatabaseInitializationMode.NEVER) {
            return List.of();
        }
        PlatformPlaceholderDatabaseDriverResolver resolver = new PlatformPlaceholderDatabaseDriverResolver();
        try {
            return StringUtils.hasText(platform)
                    ? resolver.resolveAll(platform, location)
                    : resolver.resolveAll(dataSource, location);
        } catch (IllegalStateException unknown) {
            throw problem(location, unknown);
        }
    }
}
